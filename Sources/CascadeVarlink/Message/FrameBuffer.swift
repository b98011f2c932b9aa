/// Cuts what arrives into messages: each ends with a NUL, wherever the reads were split.
package struct FrameBuffer {
  private var bytes: [UInt8] = []
  private var start = 0
  private var searched = 0

  /// Of the message that is not complete yet.
  package var pendingCount: Int { bytes.count - start }

  package init() {}

  package mutating func append(_ new: [UInt8]) { bytes += new }

  /// The next complete message, without its NUL.
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

  /// Once per read, not per message; an idle connection then holds no memory.
  private mutating func dropTaken() {
    if start == 0 { return }
    bytes = Array(bytes[start...])
    searched -= start
    start = 0
  }
}
