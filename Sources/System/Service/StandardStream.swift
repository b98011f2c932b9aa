internal import Glibc

/// The streams that a program is started with. They are not ours to close.
package enum StandardStream: CInt, Sendable {
  case input, output, error

  /// False where the reader is gone: whoever wrote may stop.
  @discardableResult
  package func write(_ text: String) -> Bool {
    with { (try? $0.writeAll(Array(text.utf8))) != nil }
  }

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
