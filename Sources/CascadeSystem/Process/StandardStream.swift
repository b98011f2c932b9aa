internal import Glibc

/// The streams that a program is started with. They are not ours to close.
package enum StandardStream: CInt, Sendable {
  case input, output, error

  /// Where one was closed, whatever is opened next would get its number, and be taken for it: a
  /// socket for standard input, a database for the log. Call this before anything is opened.
  package static func openMissing() {
    // The lowest free number is given first.
    while true {
      let descriptor = unsafe open("/dev/null", O_RDWR)
      if descriptor > STDERR_FILENO { close(descriptor) }
      if !(0...STDERR_FILENO ~= descriptor) { return }
    }
  }

  /// Where it cannot be written, there is nobody to be told.
  package func write(_ text: String) { try? writeAll(text) }

  package func writeAll(_ text: String) throws {
    try with { try $0.writeAll(Array(text.utf8)) }
  }

  /// How many bytes were taken without waiting.
  package func writeNow(_ bytes: [UInt8]) -> Int { with { $0.writeNow(bytes) } }

  package var isTerminal: Bool { isatty(rawValue) == 1 }

  /// A descriptor of the caller's own.
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
