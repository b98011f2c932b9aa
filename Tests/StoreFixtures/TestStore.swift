package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
package import SQLiteStore
package import SQLiteTables
package import StoreDefinition
internal import SQLiteJournal
internal import CascadeEngine

#if canImport(Glibc)
  import Glibc
#endif

/// A store in memory-backed files, gone with the test.
package final class TestStore: StoreUnderTest {
  package let path: String
  package var place: String { path }
  private var model: StoreModel
  package private(set) var writer: Writer
  package private(set) var reader: Reader
  package var count: Int64 = 0

  /// The application's tables are there first.
  package init(
    model: StoreModel = .lenient, schema: String = "", in directory: String = TestStore.directory
  ) throws {
    path = "\(directory)/cascade-test-\(getpid())-\(UInt64.random(in: 0 ... .max)).db"
    if !schema.isEmpty { try Connection(path: path, access: .create).execute(schema) }
    self.model = model
    writer = try Writer(path: path, model: model)
    reader = try Reader(path: path, model: model)
  }

  deinit { for suffix in ["", "-wal", "-shm", "-backup"] { unsafe unlink(path + suffix) } }

  /// Syncing costs nothing there, so that a test may commit as often as it likes.
  package static let directory = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/var/tmp"

  /// As the next daemon does.
  package func reopen() throws {
    let last = writer
    writer = try Writer(path: path, model: model)
    writer.lock.fewNodes = last.lock.fewNodes
    writer.lock.pace.rowsToAStep = last.lock.pace.rowsToAStep
  }

  package func reopen(with model: StoreModel) throws {
    self.model = model
    try reopen()
    reader = try Reader(path: path, model: model)
  }

  package func backUp() throws -> Bool {
    unsafe unlink("\(path)-backup")
    try bySQL("VACUUM INTO '\(path)-backup'")
    return true
  }

  package func restoreBackup() throws {
    writer.close()
    for suffix in ["-wal", "-shm"] { unsafe unlink(path + suffix) }
    if unsafe rename("\(path)-backup", path) != 0 { throw StoreError.detached }
    try reopen(with: model)
  }

  /// As the daemon does when nobody needs it for a while.
  package func rest() throws {
    try writer.releaseMemoryUntilWakeUp()
    try writer.wakeUp()
  }

  /// What another program might do to the file.
  package func bySQL(_ sql: String) throws {
    let connection = try Connection(path: path, access: .readWrite)
    connection.setBusyTimeout(milliseconds: 5_000)
    try connection.execute(sql)
  }

  package func followSchema() throws { _ = try writer.followSchema() }

  package func allowDaemon(on table: String) {}

  package func hex(_ column: String) -> String { "lower(hex(\(column)))" }

  package func isDenial(_ error: any Error) -> Bool { "\(error)".contains(" must stay: ") }

  /// The first column of what another program would read.
  package func texts(_ sql: String) throws -> [String] {
    try Connection(path: path, access: .readOnly).all(generated: sql) { $0.text(0) }
  }
}

extension TestStore {
  package convenience init(_ first: String, _ others: String...) throws {
    try self.init(model: StoreModel(relationships: [first] + others))
  }

  package func sweepsInSteps(of rows: Int64) {
    writer.lock.fewNodes = 0
    writer.lock.pace.rowsToAStep = rows
  }

  package func withSteps<T>(of rows: Int64, _ body: () throws -> T) throws -> T {
    let few = writer.lock.fewNodes
    sweepsInSteps(of: rows)
    defer { (writer.lock.fewNodes, writer.lock.pace.rowsToAStep) = (few, nil) }
    return try body()
  }

  package func setManyNodes(_ count: Int) { writer.lock.manyNodes = count }

  package var unfinishedBatch: Int64? { get throws { try meta("sweep.batch") } }

  package func lastNotice() throws -> Int64 {
    try Connection(path: path, access: .readOnly)
      .integer("SELECT coalesce(max(id), 0) FROM cascade_notice") ?? 0
  }

  /// What a later batch found to be gone is a mere name there, and a row in an earlier one.
  package func isRowInTrash(_ node: Node) throws -> Bool {
    let parts = (node.key.json.array ?? [node.key.json]).map { $0.string ?? $0.text }
    let isKey = parts.enumerated().map { "CAST(t.c\($0) AS TEXT) = \(literal($1))" }
    return try Connection(path: path, access: .readOnly).integer(
      generated: """
        SELECT 1 FROM cascade_trash AS t JOIN cascade_trash_layout AS l USING(batch, layout)
        JOIN cascade_collection AS c ON c.id = l.collection
        WHERE l.kind = 'row' AND c.name = ? AND \(isKey.joined(separator: " AND "))
        """, [.text(node.collection)]) != nil
  }

  package func lease(_ key: String, in collection: String, until end: some CustomStringConvertible)
    throws
  {
    try bySQL(
      """
      INSERT INTO cascade_lease(collection, key, owner, expires)
      VALUES('\(collection)', \(key), 'test', \(end))
      """)
  }

  package func endLeases() throws { try bySQL("UPDATE cascade_lease SET expires = 1") }
}

/// SQLite, for the tests that every engine passes.
package struct SQLiteUnderTest: EngineUnderTest {
  package init() {}

  package func makeStore(model: StoreModel, schema: String) throws -> any StoreUnderTest {
    try TestStore(model: model, schema: schema)
  }

  package var tables: any TableSQL { TablesInSQLite() }
  package var typeOfBytes: String { "blob" }
  /// The rowid is given anyway.
  package var generatedKey: String { "" }
  package var enforcingForeignKeys: String { "PRAGMA foreign_keys = ON; " }

  package func counting(updatesOf columns: [String], of table: String) -> String {
    let triggers = columns.map { column in
      """
      CREATE TRIGGER counts_\(column) AFTER UPDATE OF \(column) ON \(table)
      BEGIN INSERT INTO counted VALUES('\(column)'); END;
      """
    }
    return "CREATE TABLE counted(name text); \(triggers.joined(separator: "\n"))"
  }
}
