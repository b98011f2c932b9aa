import CascadeModel
import CascadePostgres
import CascadeSystem
import Glibc
import PostgresSupport
import Testing

/// A primary all of whose processes are stopped: it takes connections and questions, and answers none.
@Worker
@Suite("A PostgreSQL server that hangs", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresHangTests {
  private func store(_ cluster: Cluster, artists: Int = 9) throws -> PostgresDaemon {
    let schema = MusicServer.schema(artists: artists, albums: 1, songs: 1)
    let store = try PostgresDaemon(
      model: MusicServer.model, on: Database(schema: schema, on: cluster))
    try store.start()
    return store
  }

  private func enqueue(_ store: PostgresDaemon, _ numbers: ClosedRange<Int>) throws {
    for number in numbers {
      try store.enqueue(
        FileName("\(10_000 + number).json"), #"{"changes": [{"delete": ["artists", \#(number)]}]}"#)
    }
  }

  /// Each change file that left the queue took effect on the server that is the primary now.
  private func expectNoneLost(_ store: PostgresDaemon, _ files: Int, on node: Cluster.Node) throws {
    try store.waitUntil("the queue is empty") { try store.queued == 0 }
    let applied = try store.texts("SELECT id FROM cascade.ledger WHERE part >= 0", on: node)
    #expect(applied.count == files)
    #expect(Set(applied) == Set((1...files).map { "\(10_000 + $0).json" }))
    #expect(try store.texts("SELECT id FROM artist WHERE id <= \(files)", on: node) == [])
  }

  @Test("Status tells of it within three seconds, and all is well when it goes on")
  func told() throws {
    let cluster = try Cluster()
    let store = try store(cluster)
    let start = ContinuousClock.now
    try cluster.freeze(.first)
    try store.waitUntil("status tells of it") {
      try store.state == "waiting" && store.reason.contains("does not answer")
    }
    // A second for a machine that is busy.
    #expect(ContinuousClock.now - start <= .seconds(4))
    try store.waitUntil("the connections are ended") {
      store.log.contains("the server does not answer, and keeps its connections open")
    }
    #expect(try store.state == "waiting")
    try cluster.thaw(.first)
    try store.waitUntil("it is served") { try store.state == "ok" }
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    try store.waitUntil("it is swept") {
      try store.texts("SELECT id FROM song WHERE id LIKE '1-%'").isEmpty
    }
  }

  @Test("Status is answered at once while it hangs")
  func answered() throws {
    let cluster = try Cluster()
    let store = try store(cluster)
    try cluster.freeze(.first)
    defer { try? cluster.thaw(.first) }
    var states: [String] = []
    try store.waitUntil("status tells of it") {
      let start = ContinuousClock.now
      states.append(try store.state ?? "no answer")
      #expect(ContinuousClock.now - start <= .seconds(1))
      return states.last == "waiting"
    }
  }

  @Test("A promotion is followed within five seconds, and the old primary is left when it goes on")
  func promoted() throws {
    let cluster = try Cluster(withStandby: true)
    let store = try store(cluster)
    try cluster.freeze(.first)
    try cluster.promote(.second)
    let start = ContinuousClock.now
    try store.database.session(on: .second).execute("DELETE FROM artist WHERE id = 9")
    try store.waitUntil("it is swept there") {
      try store.texts("SELECT id FROM song WHERE id LIKE '9-%'", on: .second).isEmpty
    }
    #expect(ContinuousClock.now - start <= .seconds(5))
    try enqueue(store, 1...3)
    try store.waitUntil("they are applied") { try store.queued == 0 }
    try cluster.thaw(.first)
    try enqueue(store, 4...6)
    try expectNoneLost(store, 6, on: .second)
    #expect(try store.texts("SELECT count(*) FROM artist", on: .first) == ["9"])
  }

  @Test("A primary that hung only briefly is left, too, if its standby was promoted meanwhile")
  func resumed() throws {
    let cluster = try Cluster(withStandby: true)
    let store = try store(cluster)
    try cluster.freeze(.first)
    try enqueue(store, 1...3)
    try cluster.promote(.second)
    try cluster.thaw(.first)
    try enqueue(store, 4...6)
    try expectNoneLost(store, 6, on: .second)
    let lost = try store.texts("SELECT count(*) FROM song", on: .second)
    #expect(lost == ["3"])
  }

  @Test("Of two daemons neither writes on to a primary that was replaced")
  func two() throws {
    let cluster = try Cluster(withStandby: true)
    let one = try store(cluster)
    let two = try PostgresDaemon(model: MusicServer.model, on: one.database)
    try two.launch()
    try two.waitUntil("it waits") { try two.state == "waiting" }
    try cluster.freeze(.first)
    try enqueue(one, 1...3)
    try cluster.promote(.second)
    try cluster.thaw(.first)
    try enqueue(one, 4...6)
    one.send(SIGSTOP)
    defer { one.send(SIGCONT) }
    try two.enqueue("10007.json", #"{"changes": [{"delete": ["artists", 7]}]}"#)
    try two.waitUntil("its file is applied") { try two.queued == 0 }
    one.send(SIGCONT)
    two.stop()
    try expectNoneLost(one, 7, on: .second)
  }
}
