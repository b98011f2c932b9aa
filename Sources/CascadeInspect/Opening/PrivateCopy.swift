internal import CascadeSQLite
internal import CascadeSystem

/// A copy of a database and its write-ahead log, for one connection.
enum PrivateCopy {
  /// The copy has no name any more once this returns, so nothing of it is left after a crash.
  static func open(_ file: DatabaseFile) throws -> Connection {
    let path = try makeDirectory()
    let directory = try Directory.open(path)
    defer {
      try? directory.removeContents()
      Directory.removeEmpty(path)
    }
    for suffix in ["", "-wal"] {
      try copy("\(file.path)\(suffix)", to: directory.file(FileName("db\(suffix)"), .createNew))
    }
    if file.hasChanged {
      throw InspectError(
        .busy, "\(file.path) is written to by a program that locks it for itself: try again later")
    }
    let db = try Connection(path: "\(path)/db", access: .readOnly)
    // Opens the log and creates its index.
    _ = try db.integer("SELECT count(*) FROM sqlite_schema")
    return db
  }

  private static func makeDirectory() throws -> String {
    let name = try Process.randomBytes(8).map { String($0, radix: 16) }.joined()
    let path = "\(Process.environment("TMPDIR") ?? "/var/tmp")/cascade-inspect-\(name)"
    _ = try Directory.openOrMake(path, mode: 0o700)
    return path
  }

  private static func copy(_ path: String, to copy: consuming FileDescriptor) throws {
    let file = try FileDescriptor.open(path)
    while true {
      var bytes: [UInt8] = []
      guard let count = try file.read(into: &bytes, upTo: 1 << 20), count > 0 else { return }
      try copy.writeAll(bytes)
    }
  }
}
