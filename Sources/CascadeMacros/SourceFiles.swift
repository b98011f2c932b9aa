#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import Synchronization

/// The files that the compiler reads.
enum SourceFiles {
  /// Most calls of a file come one after the other.
  private static let last = Mutex<(name: String, text: String)?>(nil)

  /// Nil if it cannot be read, for example in a sandbox.
  static func text(of name: String) -> String? {
    last.withLock { last in
      if let last, last.name == name { return last.text }
      guard let contents = FileManager.default.contents(atPath: name) else { return nil }
      let text = String(decoding: contents, as: UTF8.self)
      last = (name, text)
      return text
    }
  }
}
