internal import CascadeModel
package import CascadeSystem
internal import CSystemd
internal import Glibc

/// Writes messages to the journal, or to stderr if that is not the journal. All messages go this
/// way.
package enum Log {
  package enum Priority: Int, Sendable, Comparable {
    case emergency, alert, critical, error, warning, notice, info, debug

    package static func < (left: Priority, right: Priority) -> Bool {
      left.rawValue < right.rawValue
    }
  }

  /// The fields are written only to the journal, so the message must be understandable without
  /// them.
  package static func write(
    _ priority: Priority = .info, _ message: String, fields: [(LogField, String)] = [],
    messageID: LogMessageID? = nil, file: String = #fileID, line: Int = #line,
    function: String = #function
  ) {
    // Some of the text comes from files and clients.
    let message = message.escapingControls()
    switch sink {
    case .plain: LogLines.write(message)
    case .prefixed: LogLines.write(message, priority)
    case .journal:
      var entry = JournalEntry()
      entry.add("MESSAGE", message)
      entry.add("PRIORITY", String(priority.rawValue))
      if let messageID { entry.add("MESSAGE_ID", messageID.text) }
      entry.add("CODE_FILE", file)
      entry.add("CODE_LINE", String(line))
      entry.add("CODE_FUNC", function)
      for (field, value) in fields where !value.isEmpty {
        entry.add(field.name, value.escapingControls())
      }
      // Errors are ignored, because a missing journal must not stop the work.
      entry.send()
    }
  }

  private static let sink = LogSink.choose(
    stderr: LogSink.standardError(), journalStream: Process.environment("JOURNAL_STREAM"))
}

/// Where messages are written.
package enum LogSink: Hashable {
  /// A terminal, a pipe or a file, which people read.
  case plain
  /// A socket that is not known to be a stream of the journal, such as that of systemd-cat or of a
  /// container. Each line begins with its priority.
  case prefixed
  case journal

  /// JOURNAL_STREAM alone is not sufficient, because a program inherits it even if its stderr
  /// differs.
  package static func choose(stderr: FileStatus?, journalStream: String?) -> LogSink {
    guard let stderr, stderr.kind == .socket else { return .plain }
    return journalStream == "\(stderr.device):\(stderr.inode)" ? .journal : .prefixed
  }

  static func standardError() -> FileStatus? {
    let stderr = FileDescriptor(owning: STDERR_FILENO)
    let status = try? stderr.status()
    _ = stderr.release()
    return status
  }
}

/// NAME=value pairs in one buffer, as sd_journal_sendv expects them.
private struct JournalEntry {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  mutating func add(_ name: String, _ value: String) {
    bytes += name.utf8
    bytes.append(UInt8(ascii: "="))
    bytes += value.utf8
    ends.append(bytes.count)
  }

  mutating func send() {
    let ends = ends
    unsafe bytes.withUnsafeMutableBytes { bytes in
      var vectors = unsafe [iovec]()
      var start = 0
      for end in ends {
        unsafe vectors.append(iovec(iov_base: bytes.baseAddress! + start, iov_len: end - start))
        start = end
      }
      _ = unsafe sd_journal_sendv(vectors, CInt(vectors.count))
    }
  }
}
