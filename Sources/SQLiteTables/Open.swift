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
      if attaches { try db.refuseOtherLayouts(of: path) }
      // A change file is unlinked once its commit is safe, so the commit must survive a power cut.
      try db.execute(
        "PRAGMA journal_mode\(keepsJournalMode ? "" : " = WAL"); PRAGMA synchronous = FULL")
    } catch let error as SQLiteError where error.isNoDatabase {
      throw StoreError("\(path) is not a SQLite database")
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

  /// For a connection that only reads: creates temporary tables in place of Cascade's own, unless
  /// the database has them in this version.
  package borrowing func standInForTables() throws {
    let isCurrent = try layoutVersion() == Schema.history.current
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
}
