internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
package import CascadeSQLite
internal import SQLiteBinding

extension Connection {
  /// Opens a store for writing, and waits up to `busyMilliseconds` for a lock. `creates` a missing
  /// database, and `attaches` Cascade's tables if they are missing. With `keepsJournalMode`, the
  /// application chooses it.
  package static func openForWriting(
    _ path: String, busyMilliseconds: Int32, creates: Bool, attaches: Bool, keepsJournalMode: Bool
  ) throws -> Connection {
    let db = try Connection(path: path, access: creates ? .create : .readWrite)
    if db.isReadOnly { throw refusal(to: path) }
    db.setBusyTimeout(milliseconds: busyMilliseconds)
    db.fixStatementPlans()
    do {
      // A change file is unlinked once its commit is safe, so the commit must survive a power cut.
      try db.execute(
        "PRAGMA journal_mode\(keepsJournalMode ? "" : " = WAL"); PRAGMA synchronous = FULL")
    } catch {
      throw error.isNoDatabase ? StoreError("\(path) is not a SQLite database") : error
    }
    try db.setCache(.ordinary)
    try db.limitLog(.ordinary)
    if !checkpointsAreSafe {
      try db.disableCheckpoints()
      db.countFramesInLog()
    }
    if attaches {
      try db.begin()
      defer { db.rollback() }
      try db.makeTables()
      try db.commit()
    }
    try db.makeTemporaryTables(cache: Connection.temporaryCache)
    return db
  }

  /// SQLite opens a file only for reading where it cannot open it for writing, for whatever reason.
  private static func refusal(to path: String) -> any Error {
    FileStatus.isWritable(path)
      ? SQLiteError.cannotOpen("\(path) could not be opened for writing")
      : StoreError("\(path) cannot be written by this user")
  }

  /// In KiB. A large sweep keeps what it has found in temporary tables.
  package static var temporaryCache: Int { 8_192 }

  /// Their rollback journal is in memory. If freed pages had to be zeroed (`secure_delete`), it
  /// would contain each of them.
  package func makeTemporaryTables(cache kilobytes: Int = 2_000) throws(SQLiteError) {
    try execute(
      """
      PRAGMA temp.cache_size = -\(kilobytes);
      PRAGMA temp.journal_mode = MEMORY; PRAGMA temp.secure_delete = OFF
      """)
    for table in TemporaryTable.all {
      for statement in table.creation { try execute(statement) }
    }
    try define("cascade_value", as: CompositeKeyPart.value)
    try define("looks_like_none") { .integer($0.looksLikeNone ? 1 : 0) }
  }

  /// Sorting may use as much memory again; deleting does not sort.
  package enum Cache: Int { case ordinary = 49_152, deleting = 98_304 }

  package func setCache(_ size: Cache) throws(SQLiteError) {
    try execute("PRAGMA cache_size = -\(size.rawValue)")
  }

  package static func openForReading(_ path: String, busyMilliseconds: Int32) throws -> Connection {
    let db = try Connection(path: path, access: .readOnly)
    db.setBusyTimeout(milliseconds: busyMilliseconds)
    try db.execute("PRAGMA cache_size = -4096")
    try db.makeTemporaryTables()
    return db
  }

  /// From SQLite 3.7.0 to 3.51.2, a checkpoint that coincides with a commit that restarts the
  /// write-ahead log can corrupt the database (https://sqlite.org/wal.html#walresetbug). With these
  /// versions, Cascade runs only checkpoints that cannot do that (`CheckpointBarrier`).
  package static var checkpointsAreSafe: Bool { libraryVersion >= 3_051_003 }

  borrowing func disableCheckpoints() throws {
    try execute("PRAGMA wal_autocheckpoint = 0")
    keepLogOnClose()
  }

  /// While much is written, the file of the write-ahead log keeps its length, because it is then
  /// faster to fill again.
  package enum LogLimit: Int { case none = -1, ordinary = 4_194_304 }

  package func limitLog(_ limit: LogLimit) throws(SQLiteError) {
    try execute("PRAGMA journal_size_limit = \(limit.rawValue)")
  }

  /// Creates the tables that are missing. Must run within a transaction. Cascade's schema has a
  /// version of its own, because `user_version` belongs to the application.
  package borrowing func makeTables() throws {
    let version = try schemaVersion()
    if version > Schema.version {
      throw StoreError("the store was written by a newer Cascade (schema \(version))")
    }
    if version > 0 && version < Schema.version {
      throw StoreError(
        "the store was attached by an older Cascade (schema \(version)): run `cascadectl detach` with "
          + "that version, and attach the store again with this one; detaching deletes managed objects, "
          + "the trash, notices and leases, so save what you need of them first")
    }
    try rejectPartialSchema()
    if version == Schema.version { try addMissingParts() }
    let before = try integer("PRAGMA main.schema_version")
    for statement in Schema.create { try execute("\(statement)") }
    if version == 0 {
      try setMeta(.version, Schema.version)
    } else if try integer("PRAGMA main.schema_version") != before {
      // It is not known what the dropped journal said, or what its numbers mean.
      try setMeta(.watchGap, 1)
      try run("DELETE FROM cascade_journal WHERE what NOT IN (SELECT what FROM cascade_watch)")
    }
  }

  /// Brings the tables up to date that an earlier program of the same version made.
  private borrowing func addMissingParts() throws {
    let known = try columnsOfTablesWithAdditions()
    for (table, column, type) in Schema.addedColumns {
      guard let columns = known["\(table)"], !columns.contains("\(column)") else { continue }
      try execute("ALTER TABLE \(table) ADD COLUMN \(column) \(type)")
    }
    for (statement, table) in Schema.additions {
      // An index of a dropped table is made again with the table.
      if let table, try !hasTable(table) { continue }
      try execute(statement)
    }
  }

  private borrowing func columnsOfTablesWithAdditions() throws -> [String: Set<String>] {
    let tables = Set(Schema.addedColumns.map { "'\($0.table)'" }).joined(separator: ", ")
    let columns = try all(
      generated: """
        SELECT m.name, i.name FROM main.sqlite_schema AS m CROSS JOIN pragma_table_info(m.name) AS i
        WHERE m.type = 'table' AND m.name IN (\(tables))
        """, []
    ) { (table: $0.text(0), column: $0.text(1)) }
    return Dictionary(grouping: columns, by: \.table).mapValues { Set($0.map(\.column)) }
  }

  private borrowing func hasTable(_ name: String) throws -> Bool {
    try integer("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(name)) != nil
  }

  /// For a connection that only reads: creates temporary tables in place of Cascade's own, unless
  /// the database has them in this version.
  package borrowing func standInForTables() throws {
    let isCurrent = try schemaVersion() == Schema.version
    let table = "CREATE TABLE IF NOT EXISTS "
    for statement in Schema.create.map({ "\($0)" }) where statement.hasPrefix(table) {
      let name = statement.dropFirst(table.count).prefix { $0 != "(" }
      if try isCurrent
        && integer("SELECT 1 FROM main.sqlite_schema WHERE name = ?", .text("\(name)")) != nil
      {
        continue
      }
      try execute("CREATE TEMP TABLE \(statement.dropFirst(table.count))")
    }
  }

  /// Rejects a store in which some of the basic tables are missing: what other tables name by
  /// number cannot be reconstructed.
  private borrowing func rejectPartialSchema() throws {
    let needed = ["meta", "collection", "name", "node", "edge"].map { "cascade_\($0)" }
    let found = try all("SELECT name FROM sqlite_schema WHERE type = 'table'") { $0.text(0) }
    let missing = needed.filter { !found.contains($0) }
    if missing.isEmpty || missing == needed { return }
    throw StoreError(
      "the store has lost \(missing.joined(separator: ", ")): restore a backup of the store, or "
        + "drop the rest of Cascade's tables")
  }

  private borrowing func schemaVersion() throws -> Int64 {
    let table = try integer("SELECT 1 FROM sqlite_schema WHERE name = 'cascade_meta'")
    if table == nil { return 0 }
    return try meta(.version) ?? 0
  }
}
