internal import CascadeSystem
internal import Glibc
internal import Synchronization

/// Lines on whatever stderr is. Its reader may be away for a while, or for good, and must not stop
/// the work: what it does not take at once is dropped, and how much that was is said to it when it
/// reads again.
enum LogLines {
  private struct State {
    var dropped = 0
    /// The last line that was taken has no end.
    var isCut = false
  }

  private static let state = Mutex(State())
  private static let newline = UInt8(ascii: "\n")

  /// With a priority where somebody sorts them.
  static func write(_ message: String, _ priority: Log.Priority? = nil) {
    let lines = bytes(of: message, priority)
    state.withLock { state in
      let notice = notice(of: state, priority)
      let all = notice + lines
      let taken = StandardStream.error.writeNow(all)
      if taken >= notice.count { state.dropped = 0 }
      if taken < all.count { state.dropped += 1 }
      if taken > 0 { state.isCut = all[taken - 1] != newline }
    }
  }

  private static func notice(of state: State, _ priority: Log.Priority?) -> [UInt8] {
    if state.dropped == 0 { return [] }
    let text = "messages that could not be written, and are lost: \(state.dropped)"
    return (state.isCut ? [newline] : []) + bytes(of: text, priority.map { _ in .warning })
  }

  private static func bytes(of message: String, _ priority: Log.Priority?) -> [UInt8] {
    let prefix = priority.map { "<\($0.rawValue)>" } ?? ""
    var bytes: [UInt8] = []
    for line in message.split(separator: "\n", omittingEmptySubsequences: false) {
      bytes += prefix.utf8
      bytes += line.utf8
      bytes.append(newline)
    }
    return bytes
  }
}
