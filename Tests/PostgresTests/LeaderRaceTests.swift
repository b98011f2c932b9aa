import CascadeModel
import CascadePostgres
import CascadeStore
import CascadeSystem
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// What goes wrong when a leader, its connection or its server is lost, without the engine's care, and
/// with it does not.
@Suite("Losses on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct LeaderRaceTests {
  private static let lock = "SELECT pg_try_advisory_lock(hashtext('cascade'), 0)"
  private static let holder = """
    SELECT l.pid FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """

  /// Ends the connection that holds the leader's lock, and waits until it has.
  private func endHolder(_ database: Database) throws {
    let administrator = try database.session(as: "postgres")
    try administrator.run("SELECT pg_terminate_backend(h.pid, 5000) FROM (\(Self.holder)) h")
    for _ in 0..<5_000 where try !administrator.run(Self.holder).isEmpty {
      try administrator.run("SELECT pg_sleep(0.001)")
    }
  }

  /// Takes from the leader what makes it one: its lock, or in the portable dialect its term.
  private func endLeader(_ database: Database) throws {
    switch database.dialect {
    case .fast: try endHolder(database)
    case .portable: try database.endTerm()
    }
  }

  // MARK: - The leader's lock

  @Test("A leader whose lock is on another connection than its writes goes on beside the next one")
  func uncuredLock() throws {
    let database = try Database(schema: "CREATE TABLE t(id int)")
    let watch = try database.session()
    let writer = try database.session()
    #expect(try watch.run(Self.lock).bool)
    try endHolder(database)
    #expect(try database.session().run(Self.lock).bool)
    try writer.execute("INSERT INTO t VALUES(1)")
    #expect(try writer.run("SELECT count(*) FROM t").integer == 1)
  }

  @Test("A leader that leads no more writes nothing more")
  func curedLock() throws {
    let store = try Music.store()
    try endLeader(store.database)
    let next = try PostgresWriter(
      store.database.location, store.model, attaches: true, lockTimeout: .seconds(5))
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let error = #expect(throws: PostgresError.self) { try store.sweep() }
    #expect(error?.isConnectionLost == true)
    #expect(try store.texts("SELECT count(*) FROM album") == ["3"])
    #expect(try next.sweep([.cascade, .refcount], at: 1).deletedCount == 6)
  }

  @Test(
    "A schema that was dropped while a daemon leads is made again only when that daemon has gone",
    .enabled(if: TestedDialect.current == .fast))
  func droppedSchema() throws {
    let store = try Music.store()
    func open() throws {
      _ = try PostgresWriter(
        store.database.location, store.model, attaches: true, lockTimeout: .seconds(5))
    }
    _ = try store.texts("DROP SCHEMA cascade CASCADE")
    #expect(throws: StoreAway.self) { try open() }
    #expect(try store.texts("SELECT to_regnamespace('cascade')") == [])
    store.close()
    try open()
  }

  @Test("A schema that has something in it, and was not made by Cascade, is refused")
  func foreignSchema() throws {
    let database = try Database(schema: Music.schema)
    try database.session(as: "postgres").execute("CREATE SCHEMA cascade AUTHORIZATION cascaded")
    let model = try StoreModel(Music.model())
    func open() throws {
      _ = try PostgresWriter(database.location, model, attaches: true, lockTimeout: .seconds(5))
    }
    try database.session(as: "postgres").execute("CREATE TABLE cascade.theirs()")
    let error = #expect(throws: StoreError.self) { try open() }
    #expect(error?.description.contains("that Cascade has not made") == true)
    try database.session(as: "postgres").execute("DROP TABLE cascade.theirs")
    try open()
  }

  // MARK: - The ledger

  @Test("A file whose entry in the ledger is another transaction is applied again after a loss")
  func uncuredLedger() throws {
    let database = try Database(
      schema: "CREATE TABLE t(id int); CREATE TABLE ledger(id text PRIMARY KEY)")
    func apply(losesConnection: Bool) throws {
      let session = try database.session()
      if try !session.run("SELECT FROM ledger WHERE id = 'one'").isEmpty { return }
      try session.execute("INSERT INTO t VALUES(1)")
      if losesConnection { return }
      try session.execute("INSERT INTO ledger VALUES('one')")
    }
    try apply(losesConnection: true)
    try apply(losesConnection: false)
    #expect(try database.session().run("SELECT count(*) FROM t").integer == 2)
  }

  @Test("What a file does and its entry in the ledger are committed together, or not at all")
  func curedLedger() throws {
    let store = try Music.store()
    let file = Submission(id: "one", author: nil, fingerprint: 1, at: 1)
    func apply(losesConnection: Bool) throws -> Receipt {
      try store.writer.group {
        var changes = [Change.delete(Node("artists", .text("anna")))][...]
        let receipt = try store.writer.apply(file) { changes.popFirst() }
        if losesConnection { try endLeader(store.database) }
        return receipt
      }
    }
    #expect(throws: PostgresError.self) { try apply(losesConnection: true) }
    try store.reopen()
    #expect(try store.texts("SELECT count(*) FROM artist") == ["2"])
    #expect(try store.writer.ledgerEntry("one") == nil)
    #expect(try apply(losesConnection: false).deletedCount == 7)
    #expect(try store.writer.ledgerEntry("one")?.receipt.deletedCount == 7)
  }

  // MARK: - Deadlocks

  /// Has locked a row, and wants another one when another session waits for the first.
  ///
  /// The session that looks for a deadlock first, once there is one, is the one that fails. That
  /// is the one that connects later: it looks so late that the rival waits by then also on a busy
  /// machine, and the rival looks later still.
  private func rival(_ database: Database) throws -> BackgroundWork {
    try database.session(as: "postgres").execute(
      "ALTER DATABASE \(database.name) SET deadlock_timeout = '4s'")
    let rival = BackgroundWork {
      do {
        let session = try database.session(as: "postgres")
        try session.execute("SET deadlock_timeout = '1min'")
        try session.execute("BEGIN; UPDATE album SET photo_id = photo_id WHERE id = 'a2'")
        try database.waitForBlocked()
        try session.execute("UPDATE album SET photo_id = photo_id WHERE id = 'a1'; COMMIT")
      } catch {
        Issue.record(error)
      }
    }!
    try database.wait("the row is locked", "state = 'idle in transaction'")
    return rival
  }

  @Test("A statement that meets a deadlock fails")
  func uncuredDeadlock() throws {
    let database = try Database(schema: Music.schema)
    let rival = try rival(database)
    let session = try database.session(as: "cascaded")
    let error = #expect(throws: PostgresError.self) {
      try session.run("DELETE FROM album WHERE artist_id = 'anna'")
    }
    #expect(error?.sqlState == "40P01")
    _ = consume rival
  }

  @Test("A step that meets a deadlock is tried again, and the sweep ends where it would have")
  func curedDeadlock() throws {
    let store = try Music.store()
    let rival = try rival(store.database)
    try store.reopen()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().byCollection == ["albums": 2, "songs": 3, "photos": 1])
    _ = consume rival
  }

  // MARK: - Connections for questions

  @Test("A connection that was ended fails; the next question makes another one")
  func reader() throws {
    let store = try Music.store()
    let session = try store.database.session(as: "cascaded")
    try store.database.session(as: "postgres").run(
      """
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND usename = 'cascaded'
      """)
    let error = #expect(throws: PostgresError.self) { try session.run("SELECT 1") }
    #expect(error?.isConnectionLost == true)
    #expect(try store.reader.node(Node("artists", .text("anna"))).exists)
  }

  // MARK: - Timelines

  @Test("A server that begins a new timeline, as after a restore, is looked through once")
  func timeline() throws {
    let cluster = try Cluster()
    let database = try Database(schema: Music.schema, on: cluster)
    let model = try StoreModel(Music.model())
    func open() throws -> PostgresWriter {
      try PostgresWriter(database.location, model, attaches: true, lockTimeout: .seconds(5))
    }
    var writer: PostgresWriter? = try open()
    _ = try writer?.sweep([.all], at: 1)
    #expect(try writer?.rescanReason == nil)
    writer = nil
    try cluster.kill()
    try cluster.start()
    #expect(try open().rescanReason == nil)
    try cluster.promote()
    // Nothing but the timeline tells that what was written since may be lost.
    #expect(try database.session().run("SELECT count(*) FROM artist").integer == 2)
    #expect(try open().rescanReason == .watchGap)
    writer = try open()
    _ = try writer?.sweep([.all], at: 2)
    writer = nil
    #expect(try open().rescanReason == nil)
  }
}
