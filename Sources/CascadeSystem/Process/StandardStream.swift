internal import Glibc

/// The streams that a program is started with. They are never closed here.
package enum StandardStream: CInt, Sendable {
  case input, output, error

  /// Opens /dev/null in the place of streams that are closed. Otherwise a file that is opened later
  /// would get the number of a closed stream and be taken for it: a socket for standard input, or a
  /// database for the log. Call this before anything is opened.
  package static func openMissing() {
    // The kernel assigns the lowest free number.
    while true {
      let descriptor = unsafe open("/dev/null", O_RDWR)
      if descriptor > STDERR_FILENO { close(descriptor) }
      if !(0...STDERR_FILENO ~= descriptor) { return }
    }
  }

  /// Ignores errors, because they could not be reported anywhere.
  package func write(_ text: String) { try? writeAll(text) }

  package func writeAll(_ text: String) throws {
    try with { try $0.writeAll(Array(text.utf8)) }
  }

  /// Writes what can be written without waiting. Returns the number of bytes.
  package func writeNow(_ bytes: [UInt8]) -> Int { with { $0.writeNow(bytes) } }

  package var isTerminal: Bool { isatty(rawValue) == 1 }

  /// The columns of a terminal; nil if the stream is none, or does not tell.
  package var width: Int? {
    var size = winsize()
    guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// A descriptor of the same stream that the caller owns.
  package func duplicate() throws -> FileDescriptor { try with { try $0.duplicate() } }

  private func with<T: ~Copyable>(_ body: (borrowing FileDescriptor) throws -> T) rethrows -> T {
    let descriptor = FileDescriptor(owning: rawValue)
    do {
      let result = try body(descriptor)
      _ = descriptor.release()
      return result
    } catch {
      _ = descriptor.release()
      throw error
    }
  }
}
