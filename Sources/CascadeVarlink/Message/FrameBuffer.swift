/// Splits the received bytes into messages. Each message ends with a NUL and may arrive in any
/// number of parts.
package struct FrameBuffer {
  private var bytes: [UInt8] = []
  private var start = 0
  private var searched = 0

  /// The number of bytes received of a message that is not complete yet.
  package var pendingCount: Int { bytes.count - start }

  package init() {}

  package mutating func append(_ new: [UInt8]) { bytes += new }

  /// The next complete message without its NUL, or nil if there is none.
  package mutating func next() -> [UInt8]? {
    guard let end = bytes[searched...].firstIndex(of: 0) else {
      searched = bytes.count
      dropTaken()
      return nil
    }
    defer {
      start = end + 1
      searched = start
    }
    return Array(bytes[start..<end])
  }

  /// Removes the returned messages, once for each read instead of once for each message. An idle
  /// connection then holds no memory.
  private mutating func dropTaken() {
    if start == 0 { return }
    bytes = Array(bytes[start...])
    searched -= start
    start = 0
  }
}
