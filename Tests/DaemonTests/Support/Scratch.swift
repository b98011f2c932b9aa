import Glibc
import CascadeSystem

/// A directory for one test.
final class Scratch {
  let directory: Directory
  var path: String { directory.path }

  init(_ name: String = "") throws {
    let random = try Process.randomBytes(8).map { String($0, radix: 16) }.joined()
    directory = try Directory.openOrMake("/tmp/cascade-test-\(random)\(name)")
  }

  deinit {
    try? directory.removeContents()
    unsafe rmdir(path)
  }

  func path(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ name: FileName, _ text: String) throws {
    try directory.file(name, .createNew).writeAll(Array(text.utf8))
  }
}

extension Directory {
  /// The whole content of a file as text.
  func text(_ name: FileName) throws -> String {
    let bytes = try file(name).readWhole(limit: 64 << 20) ?? []
    return String(decoding: bytes, as: UTF8.self)
  }
}
