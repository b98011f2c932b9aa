import System

/// A directory for one test.
struct Scratch: ~Copyable {
  let directory: Directory
  var path: String { directory.path }

  init() throws {
    let name = try Process.randomBytes(8).map { String($0, radix: 16) }.joined()
    directory = try Directory.openOrMake("/tmp/cascade-test-\(name)")
  }

  deinit {
    try? Self.removeAll(directory)
    _ = try? Directory.open("/tmp").removeDirectory(FileName(String(path.dropFirst(5))))
  }

  func path(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ name: FileName, _ text: String) throws {
    try directory.file(name, .readWrite(create: true)).writeAll(Array(text.utf8))
  }

  /// What is in it may be in directories of its own.
  private static func removeAll(_ directory: borrowing Directory) throws {
    for name in try directory.names() {
      if try directory.status(of: name)?.kind == .directory {
        try removeAll(try directory.directory(name))
        try directory.removeDirectory(name)
      } else {
        try directory.remove(name)
      }
    }
  }
}
