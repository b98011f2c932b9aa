package import CascadeSystem

/// A directory for one test.
package struct Scratch: ~Copyable {
  package let directory: Directory
  package var path: String { directory.path }

  package init() throws {
    let name = try Process.randomBytes(8).map { String($0, radix: 16) }.joined()
    directory = try Directory.openOrMake("/tmp/cascade-test-\(name)")
  }

  deinit {
    try? directory.removeContents()
    _ = try? Directory.open("/tmp").removeDirectory(FileName(String(path.dropFirst(5))))
  }

  package func path(_ name: String) -> String { "\(path)/\(name)" }

  package func write(_ name: FileName, _ text: String) throws {
    try directory.file(name, .readWrite(create: true)).writeAll(Array(text.utf8))
  }
}
