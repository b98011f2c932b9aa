import CascadeModel
import CascadePostgres
import CascadeSystem
import Glibc
import PostgresSupport
import Testing

/// A primary that is killed, and its standby that is promoted.
@Worker
@Suite("Failover on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresFailoverTests {
  private static let files = 200

  private func store(_ cluster: Cluster) throws -> PostgresDaemon {
    let schema = MusicServer.schema(artists: Self.files, albums: 2, songs: 1)
    let store = try PostgresDaemon(
      model: MusicServer.model, on: Database(schema: schema, on: cluster))
    try store.start()
    // Nothing waits for a standby that is not there yet.
    try store.waitUntil("the standby is connected") {
      try store.texts("SELECT state FROM pg_stat_replication") == ["streaming"]
    }
    return store
  }

  private func enqueue(_ store: PostgresDaemon, _ numbers: ClosedRange<Int>) throws {
    for number in numbers {
      try store.enqueue(
        FileName("\(10_000 + number).json"), #"{"changes": [{"delete": ["artists", \#(number)]}]}"#)
    }
  }

  private func expectEachOnce(_ store: PostgresDaemon) throws {
    try store.waitUntil("it is served") { try store.state == "ok" }
    try store.waitUntil("the queue is empty") { try store.queued == 0 }
    #expect(
      try store.texts("SELECT id FROM cascade.ledger WHERE part >= 0 ORDER BY id")
        == (1...Self.files).map { "\(10_000 + $0).json" })
    #expect(try store.texts("SELECT count(*) FROM artist") == ["0"])
    #expect(try store.texts("SELECT count(*) FROM song") == ["0"])
  }

  @Test("With a synchronous standby, a kill of the primary loses no file and repeats none")
  func synchronous() throws {
    let cluster = try Cluster(withStandby: true)
    let store = try store(cluster)
    try store.database.session(as: "postgres").run(
      "ALTER SYSTEM SET synchronous_standby_names = '*'")
    _ = try store.texts("SELECT pg_reload_conf()")
    try store.waitUntil("the standby is synchronous") {
      try store.texts("SELECT sync_state FROM pg_stat_replication") == ["sync"]
    }
    try enqueue(store, 1...Self.files)
    try store.waitUntil("half of the files are applied") { try store.queued <= Self.files / 2 }
    try cluster.failOver()
    try expectEachOnce(store)
  }

  @Test("With another standby, a file stays in the queue until the standby has what the file did")
  func asynchronous() throws {
    let cluster = try Cluster(withStandby: true)
    let store = try store(cluster)
    try store.bySQL("CREATE TABLE acknowledged(id int)")
    try enqueue(store, 1...Self.files / 2)
    try store.waitUntil("the first half is applied") { try store.queued == 0 }
    let receiver = try receiver(cluster, store.database.name)
    #expect(kill(receiver, SIGSTOP) == 0)
    // A commit alone does not wait, and is lost.
    try store.bySQL("INSERT INTO acknowledged VALUES(1)")
    try enqueue(store, Self.files / 2 + 1...Self.files)
    try store.waitUntil("files are committed") {
      try Int(store.texts("SELECT count(*) FROM cascade.ledger")[0])! > Self.files / 2
    }
    #expect(try store.queued == Self.files / 2)
    // What the primary has sent, but the standby not read, is lost with the process that would.
    try cluster.kill()
    #expect(kill(receiver, SIGKILL) == 0)
    try cluster.failOver()
    try expectEachOnce(store)
    #expect(try store.texts("SELECT count(*) FROM acknowledged") == ["0"])
  }

  /// The process of the standby that receives what the primary writes.
  private func receiver(_ cluster: Cluster, _ database: String) throws -> pid_t {
    let standby = try Session(
      "postgresql:///\(database)?host=\(cluster.directory)&port=5433&user=postgres"
        + "&target_session_attrs=any")
    return try pid_t(#require(standby.run("SELECT pid FROM pg_stat_wal_receiver").integer))
  }
}
