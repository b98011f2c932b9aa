import StoreDefinition
import StoreFixtures
import CascadeSQLite
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite("SQLite")
struct SQLiteTests {
  private func connection() throws -> Connection {
    let connection = try Connection(path: ":memory:", access: .create)
    try connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT UNIQUE) STRICT")
    return connection
  }

  private struct Failure: Error {}

  private func error(_ body: () throws -> Void) -> SQLiteError? {
    do { try body() } catch { return error as? SQLiteError }
    return nil
  }

  @Test("A statement that failed can be run again")
  func resetAfterError() throws {
    let db = try connection()
    func insert(_ text: String) throws {
      try db.run("INSERT INTO t(b) VALUES(?)", .text(text))
    }
    try insert("x")
    #expect(throws: SQLiteError.self) { try insert("x") }
    try insert("y")
    #expect(try db.integer("SELECT count(*) FROM t") == 2)
  }

  @Test("What ANALYZE found in a table that was nearly empty decides no plan of ours")
  func statistics() throws {
    let store = try TestStore(model: .lenient)
    try store.bySQL(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, b INT); CREATE INDEX ab ON a(b);
      CREATE TABLE b(id INTEGER PRIMARY KEY); INSERT INTO a VALUES(1, NULL), (2, NULL); ANALYZE
      """)
    let found = "SELECT tbl || coalesce(idx, '') || stat FROM sqlite_stat1"
    let before = try store.texts(found)
    let db = try Connection(path: store.path, access: .readWrite)
    func plan() throws -> [String] {
      try db.all(
        "EXPLAIN QUERY PLAN SELECT * FROM b WHERE EXISTS (SELECT 1 FROM a WHERE a.b = b.id)"
      ) { $0.text(3) }
    }
    #expect(try plan().contains { $0.hasPrefix("SCAN a") })
    try db.execute("BEGIN IMMEDIATE")
    try db.forgetStatistics()
    try db.execute("COMMIT")
    #expect(try plan().contains { $0.hasPrefix("SEARCH a USING COVERING INDEX ab") })
    #expect(try store.texts(found) == before && !before.isEmpty)
  }

  @Test("A statement that was left in the middle is reset")
  func resetAfterThrow() throws {
    let db = try connection()
    try db.execute("INSERT INTO t VALUES(1, 'x'), (2, 'y')")
    for _ in 0..<2 {
      #expect(throws: Failure.self) {
        try db.each("SELECT a FROM t") { _ in throw Failure() }
      }
    }
    #expect(try db.first("SELECT a FROM t ORDER BY a") { $0.integer(0) } == 1)
    // An open cursor would not let the table go.
    try db.execute("DROP TABLE t")
  }

  @Test("A statement may be run while it is being stepped")
  func nested() throws {
    let db = try connection()
    try db.execute("INSERT INTO t VALUES(1, 'x'), (2, 'y'), (3, 'z')")
    func count(_ depth: Int) throws -> Int {
      var rows = 0
      try db.each("SELECT a FROM t") { _ in
        rows += 1
        if depth > 0 { rows += try count(depth - 1) }
      }
      return rows
    }
    #expect(try count(2) == 3 + 9 + 27)
  }

  @Test("Values that were bound before are not seen again")
  func bindingsAreCleared() throws {
    let db = try connection()
    func isNull(_ value: Value?) throws -> Bool {
      let sql: StaticString = "SELECT ?1 IS NULL"
      return try (value.map { try db.integer(sql, $0) } ?? db.integer(sql)) == 1
    }
    #expect(try !isNull(.integer(1)))
    #expect(try isNull(nil))
  }

  @Test("Texts, blobs and numbers come back as they were", arguments: ["", "é\u{0}x", "🎈"])
  func roundTrip(text: String) throws {
    let db = try connection()
    #expect(try db.first("SELECT ?", .text(text)) { $0.text(0) } == text)
    #expect(try db.first("SELECT hex(?)", .blob([0, 255])) { $0.text(0) } == "00FF")
    #expect(try db.first("SELECT typeof(?)", .blob([])) { $0.text(0) } == "blob")
    #expect(try db.first("SELECT ?", .text(nil)) { $0.optionalText(0) } == .some(nil))
    #expect(try db.integer("SELECT ?", .integer(.min)) == .min)
  }

  @Test("An error carries its code, SQLite's words and the statement")
  func errors() throws {
    let db = try connection()
    try db.run("INSERT INTO t VALUES(1, 'x')")
    let found = error { try db.run("INSERT INTO t VALUES(2, 'x')") }
    #expect(found?.code == 19)
    #expect(found?.extendedCode == 2067)
    #expect(found?.isAboutTheValue == true)
    #expect(found?.isBusy == false)
    #expect(
      found?.description
        == "SQLite error 2067: UNIQUE constraint failed: t.b (INSERT INTO t VALUES(2, 'x'))")
    #expect(error { try db.execute("SELECT nonsense") }?.sql == "SELECT nonsense")
    #expect(error { _ = try db.integer("SELECT x FROM t") }?.sql == "SELECT x FROM t")
    let missing = error { _ = try Connection(path: "/nowhere/x.db", access: .create) }
    #expect(missing?.doing == "open /nowhere/x.db")
  }

  @Test("A savepoint takes back what its body did when it throws, and only that")
  func savepoint() throws {
    let db = try connection()
    try db.begin()
    try db.run("INSERT INTO t VALUES(1, 'x')")
    #expect(throws: Failure.self) {
      try db.savepoint {
        try db.run("INSERT INTO t VALUES(2, 'y')")
        throw Failure()
      }
    }
    try db.savepoint {
      try db.run("INSERT INTO t VALUES(3, 'z')")
      try? db.savepoint {
        try db.run("DELETE FROM t")
        throw Failure()
      }
    }
    try db.commit()
    #expect(try db.all("SELECT a FROM t") { $0.integer(0) } == [1, 3])
  }

  @Test("A rollback without a transaction is harmless")
  func rollback() throws {
    let db = try connection()
    db.rollback()
    try db.begin()
    try db.run("INSERT INTO t VALUES(1, 'x')")
    db.rollback()
    let isInTransaction = db.isInTransaction
    #expect(!isInTransaction)
    #expect(try db.integer("SELECT count(*) FROM t") == 0)
  }

  @Test("An error that rolls back everything by itself leaves nothing to roll back")
  func rolledBackByItself() throws {
    let db = try connection()
    try db.begin()
    try db.run("INSERT INTO t VALUES(1, 'x')")
    #expect(throws: SQLiteError.self) {
      try db.savepoint { try db.run("INSERT OR ROLLBACK INTO t VALUES(2, 'x')") }
    }
    let isInTransaction = db.isInTransaction
    #expect(!isInTransaction)
    db.rollback()
  }

  @Test("Somebody else's lock is told from other errors")
  func busy() throws {
    let store = try TestStore()
    let other = try Connection(path: store.path, access: .readWrite)
    try other.begin()
    let db = try Connection(path: store.path, access: .readWrite)
    #expect(error { try db.begin() }?.isBusy == true)
    let isInTransaction = db.isInTransaction
    #expect(!isInTransaction)
    try other.commit()
    try db.begin()
    db.rollback()
    #expect(error { try db.execute("nonsense") }?.isBusy == false)
  }

  @Test("A checkpoint gives way to who writes, and leaves all of the log where it is")
  func checkpoint() throws {
    let store = try TestStore()
    try store.run("A B C")
    let db = try Connection(path: store.path, access: .readWrite)
    let keeper = try Connection(path: store.path, access: .readWrite)
    let other = try Connection(path: store.path, access: .readWrite)
    #expect(try db.integer("SELECT count(*) FROM cascade_node") == 3)
    let before = size(store)
    try other.begin()
    #expect(try db.checkpoint(keptBy: keeper, at: store.path) == nil)
    other.rollback()
    #expect(size(store) == before)
    #expect(try db.checkpoint(keptBy: keeper, at: store.path)?.brought.isWhole == true)
    #expect(size(store) > before)
    try keeper.begin()
    keeper.rollback()
  }

  @Test("No commit begins a log anew in which somebody reads, though all of it is in the database")
  func keepsLog() throws {
    let store = try TestStore()
    try store.run("A")
    let db = try Connection(path: store.path, access: .readWrite)
    db.countFramesInLog()
    func commit() throws -> Int {
      try db.run("INSERT INTO cascade_meta VALUES('test' || random(), 1)")
      return db.framesInLog
    }
    let frames = try commit()
    let reader = try Connection(path: store.path, access: .readOnly)
    try reader.execute("BEGIN; PRAGMA data_version")
    #expect(try db.passiveCheckpoint()?.isWhole == true)
    #expect(try commit() > frames)
    reader.rollback()
    #expect(try db.passiveCheckpoint()?.isWhole == true)
    #expect(try commit() < frames)
  }

  /// Of the database without its log.
  private func size(_ store: TestStore) -> Int {
    var status = stat()
    return unsafe stat(store.path, &status) == 0 ? Int(status.st_size) : -1
  }

  @Test("A snapshot sees one state, whatever others commit")
  func snapshot() throws {
    let store = try TestStore()
    try store.run("A")
    let db = try Connection(path: store.path, access: .readOnly)
    func count() throws -> Int64? { try db.integer("SELECT count(*) FROM cascade_node") }
    try db.snapshot {
      #expect(try count() == 1)
      try store.run("B")
      #expect(try count() == 1)
    }
    #expect(try count() == 2)
  }
}
