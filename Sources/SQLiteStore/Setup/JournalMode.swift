internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeSystem
internal import SQLiteTables

/// The journal mode that a database is in before it is opened.
enum JournalMode {
  private static let magic = Array("SQLite format 3\0".utf8)

  /// Whether the header says that the database has no write-ahead log. False for a file that is yet
  /// to be written, and for one that is open here.
  static func isRollback(at path: String) -> Bool {
    let bytes: [UInt8]?? = try? OwnConnections.unlessOpen(path) { try header(of: path) }
    guard let header = bytes ?? nil, header.starts(with: magic) else { return false }
    return Array(header[18...19]) == [1, 1]
  }

  private static func header(of path: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    let file = try FileDescriptor.open(path)
    while bytes.count < 20, let count = try file.read(into: &bytes, upTo: 100), count > 0 {}
    return bytes.count < 20 ? [] : bytes
  }
}

extension Reader {
  package func tableCounts() throws -> (own: Int, others: Int) {
    let names = try db.all(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
    ) { $0.text(0) }
    let own = names.filter { Schema.tables.contains($0) }.count
    return (own, names.count - own)
  }

  /// An application can change the mode while the store is paused.
  func journalFindings() throws -> [SetupFinding] {
    let mode = try db.all("PRAGMA main.journal_mode") { $0.text(0) }.first ?? "wal"
    if model.exclusive || mode == "wal" { return [] }
    return [
      SetupFinding(
        kind: .journalMode, table: nil,
        message: "the journal mode is \"\(mode)\" now, and the daemon will make it WAL again. If "
          + "an application chooses it, or locks the database for itself, the model needs "
          + "exclusive: true")
    ]
  }
}
