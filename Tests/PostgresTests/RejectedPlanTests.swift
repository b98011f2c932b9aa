import CascadeModel
import CascadeStore
import PostgresStore
import PostgresSupport
import Testing

/// What stays when a plan is rejected.
@Suite("Rejected plans on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RejectedPlanTests {
  private let songs = HeldCauseTests()

  @Test("What refers to what a rejected plan deleted is given up, until it is changed")
  func rejects() throws {
    let store = try songs.store()
    let plan = try songs.hold(store, "DELETE FROM artist WHERE id = 1", 40)
    let answer = try store.writer.reject(plan: plan, at: 2)
    #expect(answer == RejectedPlan(plan: plan, restored: 0, givenUp: 20))
    #expect(try store.writer.reject(plan: plan, at: 3) == answer)
    #expect(try store.writer.reject(plan: plan + 1, at: 3) == nil)
    #expect(try songs.waiting(store).isEmpty && songs.count(store, "cascade.journal") == 0)
    for kinds in [[SweepKind.all], [.dangling], [.cascade]] {
      #expect(try store.sweep(kinds).outcome == .nothing)
    }
    try store.reopen()
    try store.writer.requestRescan()
    #expect(try store.sweep([.all]).outcome == .nothing)
    #expect(try songs.count(store, "song") == 80)
    #expect(
      try store.reader.checkReferences(limit: 100).list.map(\.kind)
        == Array(repeating: "givenUp", count: 20))
    // Another artist, and back to nothing: no longer given up.
    try store.bySQL("UPDATE song SET artist = 2 WHERE id = 1")
    try store.sweep([.all])
    #expect(try store.reader.checkReferences(limit: 100).total == 19)
    try store.bySQL("UPDATE song SET artist = 99 WHERE id = 1")
    #expect(try store.sweep([.dangling]).byCollection == ["songs": 1, "covers": 1])
    try store.bySQL("INSERT INTO artist VALUES(1)")
    try store.sweep([.all])
    #expect(try store.reader.checkReferences(limit: 100).total == 0)
    #expect(try songs.count(store, "cascade.given_up") == 0)
  }

  @Test("Join rows that are nodes, and lists, are given up, too")
  func rejectsPlaces() throws {
    let store = try PostgresFixture(
      """
      { collections: { tags: { table: 'tag', key: 'id' }, songs: { table: 'song', key: 'id' },
          links: { table: 'link', key: ['song', 'tag'] } },
        relationships: [
          { name: 'tag', from: 'songs', to: 'tags', toMany: true,
            join: { table: 'link', source: 'song', destination: 'tag' } },
          { name: 'listed', from: 'songs', to: 'tags', property: 'tags', toMany: true,
            rules: ['nullifySourceIfDestinationDeleted'] }],
        limits: { hold: { deletes: 3, share: 0.1 } } }
      """,
      schema: """
        CREATE TABLE tag(id int PRIMARY KEY); CREATE TABLE song(id int PRIMARY KEY, tags int[]);
        CREATE TABLE link(song int, tag int, PRIMARY KEY(song, tag)); CREATE INDEX ON link(tag);
        CREATE INDEX ON song USING gin (tags);
        INSERT INTO tag VALUES(1), (2); INSERT INTO song SELECT n, '{1,2}' FROM generate_series(1, 5) n;
        INSERT INTO link SELECT n, 1 + n % 2 FROM generate_series(1, 10) n;
        DELETE FROM link WHERE song > 5; INSERT INTO link SELECT n, 1 FROM generate_series(1, 5) n
          ON CONFLICT DO NOTHING;
        """)
    try store.sweep([.all])
    try store.bySQL("DELETE FROM tag WHERE id = 1")
    let held = try store.sweep()
    #expect(held.outcome == .held && held.byCollection == ["links": 5])
    #expect(try store.writer.reject(plan: #require(held.plan), at: 2)?.givenUp == 10)
    for kinds in [[SweepKind.dangling], [.all]] {
      #expect(try store.sweep(kinds).outcome == .nothing)
    }
    #expect(try songs.count(store, "link WHERE tag = 1") == 5)
    #expect(try songs.count(store, "song WHERE tags = '{1,2}'") == 5)
    try store.bySQL("INSERT INTO tag VALUES(1)")
    try store.sweep([.all])
    #expect(try songs.count(store, "cascade.given_up") == 0)
  }

  @Test("The plan of a file is forgotten with its file")
  func rejectsFile() throws {
    let store = try songs.store()
    let held = HeldPlan(
      id: "f", deletedCount: 20, byCollection: ["songs": 20], lostCount: 0, checksum: 1)
    let plan = try store.writer.persistPlan(held, file: "f.json")
    let answer = RejectedPlan(plan: plan, file: "f.json")
    for _ in 1...2 { #expect(try store.writer.reject(plan: plan, at: 2) == answer) }
    #expect(try store.reader.plansOfFiles().isEmpty)
    #expect(try store.writer.approve(plan: plan) == nil)
  }

  @Test("A rejected value is given up, too")
  func rejectsValue() throws {
    let store = try songs.store()
    try store.bySQL("UPDATE song SET artist = 0 WHERE artist = 1")
    let held = try store.sweep([.dangling])
    #expect(held.outcome == .held && held.heldValue != nil)
    #expect(try store.writer.reject(plan: #require(held.plan), at: 2)?.givenUp == 20)
    #expect(try store.sweep([.dangling]).outcome == .nothing)
    #expect(try store.writer.heldSweeps.isEmpty && songs.count(store, "song") == 80)
  }

  @Test("What was found at the first look, and rejected, is given up")
  func rejectsFirst() throws {
    let store = try songs.store()
    try store.writer.detach()
    try store.bySQL("DELETE FROM artist WHERE id = 1; DELETE FROM song WHERE artist > 1")
    _ = try store.writer.attach(createIndexes: false)
    #expect(try store.sweep([.dangling]).outcome == .held)
    // References to artist 1 are a value that waits, and join rows without their song are held, too.
    let givenUp = try store.writer.heldSweeps.map { held in
      try store.writer.reject(plan: #require(held.plan), at: 2)?.givenUp
    }
    #expect(givenUp == [60, 20])
    let after = try store.sweep([.dangling])
    #expect(after.outcome == .nothing, "\(after)")
    #expect(try songs.count(store, "song") == 20)
  }
}
