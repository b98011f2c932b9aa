import CascadeModel
import CascadePostgres
import CascadeSystem
import Glibc
import PostgresSupport
import Testing

/// Several daemons serve a database, and one of them leads.
@Worker
@Suite("Leaders on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresLeaderTests {
  private nonisolated static let isLong = Process.environment("CASCADE_LONG") != nil

  @Test("A leader that is killed is replaced at once", arguments: Self.dialects)
  func killed(_ dialect: Dialect) throws {
    let (leader, other) = try Self.pair(dialect)
    try Self.expectWaiting(other)
    try leader.bySQL("DELETE FROM artist WHERE id <= 90")
    try leader.waitUntil("it sweeps") { try Self.isSweeping(leader) }
    let start = ContinuousClock.now
    leader.kill()
    // A fast leader may have swept all that was deleted before it was killed.
    try other.bySQL("DELETE FROM artist")
    try other.waitUntil("the other one sweeps") { try Self.writers(other).count == 2 }
    #expect(ContinuousClock.now - start <= .seconds(3))
    try other.waitUntil("it is swept") { try other.texts("SELECT id FROM song").isEmpty }
  }

  @Test(
    "A leader that is stopped is replaced, and writes nothing when it goes on",
    arguments: Self.dialects)
  func stopped(_ dialect: Dialect) throws {
    let (leader, other) = try Self.pair(dialect)
    try Self.expectWaiting(other)
    try leader.bySQL("DELETE FROM artist WHERE id <= 50")
    try leader.waitUntil("it sweeps") { try Self.isSweeping(leader) }
    let start = ContinuousClock.now
    leader.send(SIGSTOP)
    let before = try Self.writers(leader)
    // A fast leader may have swept all that was deleted before it was stopped.
    try other.bySQL("DELETE FROM artist WHERE id <= 60")
    try other.waitUntil("the other one sweeps") { try Self.writers(other).count > before.count }
    // In the portable dialect, the server first ends the transaction in which the leader stopped.
    #expect(ContinuousClock.now - start <= .seconds(dialect == .fast ? 3 : 6))
    try other.bySQL("DELETE FROM artist; DELETE FROM witness")
    leader.send(SIGCONT)
    try Self.expectWaiting(leader)
    try other.waitUntil("it is swept") { try other.texts("SELECT id FROM song").isEmpty }
    #expect(try Self.writers(other).isDisjoint(with: before))
    #expect(try other.texts("SELECT count(*) FROM witness WHERE NOT leads") == ["0"])
    #expect(try other.state == "ok")
  }

  @Test(
    "A leader that has nothing to do is not replaced",
    arguments: Self.isLong ? Self.dialects : [TestedDialect.current])
  func idle(_ dialect: Dialect) throws {
    let (leader, other) = try Self.pair(dialect)
    #expect(try leader.leads)
    let end = Deadline(.seconds(5))
    try other.waitUntil("several times of silence have passed") { end.isOver }
    #expect(try leader.leads)
    #expect(try leader.state == "ok")
    try Self.expectWaiting(other)
  }

  @Test(
    "Two daemons never both write, whichever is killed or stopped",
    arguments: Self.isLong ? Self.dialects : [TestedDialect.current])
  func churn(_ dialect: Dialect) throws {
    let (files, rounds) = Self.isLong ? (1_000, 20) : (150, 3)
    var random = Seeded()
    print("two daemons: seed \(random.seed)")
    let (one, two) = try Self.pair(dialect, artists: 2 * files)
    for (store, first) in [(one, 1), (two, files + 1)] {
      for number in first..<(first + files) {
        try store.enqueue(
          FileName("\(10_000 + number).json"),
          #"{"changes": [{"delete": ["artists", \#(number)]}]}"#)
      }
    }
    for _ in 0..<rounds {
      let (leader, other) = try one.leads ? (one, two) : (two, one)
      let isKill = Bool.random(using: &random)
      leader.send(isKill ? SIGKILL : SIGSTOP)
      try other.waitUntil("the other one leads") { try other.leads }
      if isKill {
        leader.kill()
        try leader.launch()
      } else {
        leader.send(SIGCONT)
      }
    }
    // The one that waits leads when the other one has ended.
    let (leader, other) = try one.leads ? (one, two) : (two, one)
    try leader.waitUntil("its files are applied") { try leader.queued == 0 }
    leader.stop()
    try other.waitUntil("its files are applied") { try other.queued == 0 }
    #expect(try one.texts("SELECT count(*) FROM witness WHERE NOT leads") == ["0"])
    #expect(try Self.writers(one).count > 1)
    #expect(
      try one.texts("SELECT id FROM cascade.ledger WHERE part >= 0 ORDER BY id")
        == (1...(2 * files)).map { "\(10_000 + $0).json" })
    #expect(try one.texts("SELECT count(*) FROM cascade.ledger WHERE skipped > 0") == ["0"])
    #expect(try one.texts("SELECT count(*) FROM artist") == ["0"])
  }

  @Test("A daemon that loses its connection while it opens the database opens it again")
  func lostWhileOpening() throws {
    let store = try PostgresDaemon(
      model: MusicServer.model,
      schema: MusicServer.schema(artists: 2, albums: 1, songs: 1))
    store.kill()
    // It first reads the verdicts of change files, and after that the operator's pause.
    let verdicts = try store.database.session(as: "postgres")
    let settings = try store.database.session(as: "postgres")
    try verdicts.execute("BEGIN; LOCK TABLE cascade.verdict")
    try store.launch()
    try store.waitUntil("it waits for the verdicts") { try Self.waits(store, for: "verdict") }
    try settings.execute("BEGIN; LOCK TABLE cascade.meta")
    try verdicts.execute("COMMIT")
    try store.waitUntil("it waits for the pause") { try Self.waits(store, for: "meta") }
    try settings.execute(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'cascaded %'
      """)
    try settings.execute("COMMIT")
    try store.waitUntil("it serves") { try store.state == "ok" }
  }

  @Test("A lock of an application's keeps no daemon from serving")
  func chance() throws {
    let database = try Database(schema: MusicServer.schema(artists: 2, albums: 1, songs: 1))
    let application = try database.session()
    try application.run("SELECT pg_advisory_lock(hashtext('cascade'), 0), pg_advisory_lock(0)")
    try PostgresDaemon(model: MusicServer.model, on: database).start()
  }

  @Test(
    "Who holds the leader's lock without being a daemon is named, and waited for",
    .enabled(if: TestedDialect.current == .fast))
  func stranger() throws {
    let store = try PostgresDaemon(
      model: MusicServer.model, schema: MusicServer.schema(artists: 2, albums: 1, songs: 1))
    let keys = try store.texts(
      "SELECT classid || ', ' || objid FROM pg_locks WHERE locktype = 'advisory' AND granted")
    store.stop()
    let stranger = try store.database.session()
    let process = try stranger.run("SELECT pg_backend_pid()").text!
    try stranger.run("SELECT pg_advisory_lock(\(keys[0]))")
    try store.launch()
    try store.waitUntil("the stranger is named") {
      let status = try store.status
      let reason = status?["reason"]?.string ?? ""
      return status?["state"]?.string == "waiting"
        && reason.contains("process \(process) of the role \"application\"")
    }
    try stranger.execute("SELECT pg_advisory_unlock_all()")
    try store.waitUntil("it is served") { try store.state == "ok" }
  }

  // MARK: - What the tests share

  private static func waits(_ store: PostgresDaemon, for table: String) throws -> Bool {
    try store.texts(
      "SELECT pid FROM pg_locks WHERE relation = 'cascade.\(table)'::regclass AND NOT granted"
    ).count > 0
  }

  private nonisolated static let dialects: [Dialect] =
    TestedDialect.current == .fast ? [.fast, .portable] : [.portable]

  /// The first one leads.
  private static func pair(
    _ dialect: Dialect, artists: Int = 100
  ) throws -> (PostgresDaemon, PostgresDaemon) {
    let database = try TestedDialect.run(dialect) {
      try Database(schema: MusicServer.schema(artists: artists, albums: 10, songs: 5))
    }
    let leader = try PostgresDaemon(model: MusicServer.model, on: database)
    let other = try PostgresDaemon(model: MusicServer.model, on: database)
    try leader.start()
    try other.launch()
    try other.waitUntil("it waits") { try other.state == "waiting" }
    return (leader, other)
  }

  private static func expectWaiting(_ store: PostgresDaemon) throws {
    try store.waitUntil("it waits") { try store.state == "waiting" }
    #expect(try store.status?["reason"]?.string?.contains("another daemon serves") == true)
  }

  private static func isSweeping(_ store: PostgresDaemon) throws -> Bool {
    try !writers(store).isEmpty
  }

  /// The server's processes that deleted for a daemon.
  private static func writers(_ store: PostgresDaemon) throws -> Set<String> {
    Set(try store.texts("SELECT DISTINCT pid FROM witness"))
  }
}
