internal import CascadeSystem
internal import Glibc
internal import Synchronization

/// Writes lines to stderr. The reader of stderr may stop reading for a while or forever, which must
/// not stop the work. So what cannot be written at once is dropped, and the number of lost messages
/// is reported when the reader reads again.
enum LogLines {
  private struct State {
    var dropped = 0
    /// The last line was written only in part.
    var isCut = false
  }

  private static let state = Mutex(State())
  private static let newline = UInt8(ascii: "\n")

  /// The priority is given if the reader sorts lines by it.
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
