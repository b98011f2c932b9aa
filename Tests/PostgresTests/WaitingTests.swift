import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// What waits for several reasons, one after the other: a denial, a lock, a table that does not fit.
@Suite("Waiting rows on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct WaitingTests {
  /// A song goes with its album (rule 8), and a play denies that. Other songs have nothing to do with it.
  private static func store() throws -> PostgresFixture {
    let store = try PostgresFixture(
      """
      { collections: { albums: { table: 'album', key: 'id' }, songs: { table: 'song', key: 'id' },
          plays: { table: 'play', key: 'id' } },
        relationships: [
          { name: 'song', from: 'albums', to: 'songs', column: 'song_id',
            rules: ['deleteDestinationIfSourceDeleted'] },
          { name: 'played', from: 'plays', to: 'songs', column: 'song_id',
            rules: ['denyDestinationDeletion'] }] }
      """,
      schema: """
        CREATE TABLE song(id int PRIMARY KEY);
        CREATE TABLE album(id int PRIMARY KEY, song_id int); CREATE INDEX ON album(song_id);
        CREATE TABLE play(id int PRIMARY KEY, song_id int); CREATE INDEX ON play(song_id);
        INSERT INTO song VALUES(1), (2); INSERT INTO album VALUES(1, 1), (2, 2);
        INSERT INTO play VALUES(1, 1);
        """)
    try store.sweep([.all])
    try store.bySQL("DELETE FROM album WHERE id = 1")
    let result = try store.sweep()
    #expect(result.outcome == .blocked && result.deletedCount == 0)
    return store
  }

  private func songs(_ store: PostgresFixture) throws -> [String] {
    try store.texts("SELECT id FROM song ORDER BY 1")
  }

  private static let lock = "BEGIN; SELECT FROM song WHERE id = 1 FOR UPDATE"

  @Test("When its denial ends, a row may be locked, and goes when that ends", arguments: [nil, 1])
  func locked(steps: Int?) throws {
    let store = try Self.store()
    store.writer.rowsToAStep = steps
    let application = try store.database.session()
    try application.execute(Self.lock)
    try store.bySQL("DELETE FROM play")
    let blocked = try store.sweep().blocked
    #expect(blocked.first?.message.contains("another session") == true, "\(blocked)")
    #expect(try songs(store) == ["1", "2"])
    try application.execute("COMMIT")
    try store.waitForJournal()
    #expect(try store.sweep().byCollection == ["songs": 1])
    #expect(try store.sweep().outcome == .nothing)
  }

  @Test("A row that was denied and then locked stays if whoever locked it gives it an edge")
  func given() throws {
    let store = try Self.store()
    let application = try store.database.session()
    try application.execute("\(Self.lock); INSERT INTO album VALUES(3, 1)")
    try store.bySQL("DELETE FROM play")
    try store.sweep()
    try application.execute("COMMIT")
    try store.waitForJournal()
    #expect(try store.sweep().deletedCount == 0)
    #expect(try songs(store) == ["1", "2"])
    try store.bySQL("DELETE FROM album WHERE id = 3")
    #expect(try store.sweep().byCollection == ["songs": 1])
  }

  @Test(
    "What waits for a denial waits on while a table does not fit, and goes or stays as it would have",
    arguments: ["album", "play"], [nil, "INSERT INTO album VALUES(3, 1)"])
  func stopped(table: String, given: String?) throws {
    let store = try Self.store()
    try store.bySQL("ALTER TABLE \(table) ENABLE ROW LEVEL SECURITY")
    try store.writer.followSchema()
    try store.bySQL("DELETE FROM play; DELETE FROM album WHERE id = 2; \(given ?? "")")
    for _ in 0..<2 { try store.sweep() }
    #expect(try songs(store).first == "1")
    try store.reopen()
    try store.sweep()
    try store.bySQL("ALTER TABLE \(table) DISABLE ROW LEVEL SECURITY")
    try store.writer.followSchema()
    for _ in 0..<2 { try store.sweep([.all]) }
    #expect(try songs(store) == (given == nil ? [] : ["1"]))
  }

  @Test(
    "The next node of a key is not the one that waited, also where a stopped table hid the change")
  func another() throws {
    let store = try Self.store()
    try store.bySQL("ALTER TABLE album ENABLE ROW LEVEL SECURITY")
    try store.writer.followSchema()
    try store.bySQL("DELETE FROM play; DELETE FROM song WHERE id = 1; INSERT INTO song VALUES(1)")
    for _ in 0..<2 { try store.sweep() }
    try store.bySQL("ALTER TABLE album DISABLE ROW LEVEL SECURITY")
    try store.writer.followSchema()
    for _ in 0..<2 { try store.sweep([.all]) }
    #expect(try songs(store) == ["1", "2"])
  }

  @Test("No change file is rejected for what was held back before, and it names, too")
  func file() throws {
    let store = try Self.joined("deleteSourceIfDestinationDeleted", notices: "")
    try store.bySQL("INSERT INTO owned VALUES(1, 1, 1); DELETE FROM ta")
    try store.sweep()
    #expect(try store.texts("SELECT id FROM owned") == ["1"])
    let value = JSONText(valid: "{\"a\": 1}")
    try store.apply([.put(Node("owned", .integer(2)), type: nil, value: value, edges: nil)])
    #expect(try store.texts("SELECT id FROM owned") == ["1"])
    try store.bySQL("DELETE FROM tk")
    #expect(try store.sweep().byCollection["owned"] == 1)
  }

  // MARK: - Join rows that are nodes

  /// A row of `c`, which joins rows of `b` and `a`, may not go while the row of `k` is there that it names.
  /// So may a row of `owned`, which otherwise goes with its row of `a`.
  private static func joined(
    _ rule: String, notices: String = ", 'notifyIfSourceDeleted', 'notifyIfDestinationDeleted'"
  ) throws -> PostgresFixture {
    let store = try PostgresFixture(
      """
      { collections: { a: { table: 'ta', key: 'id' }, b: { table: 'tb', key: 'id' },
          c: { table: 'tc', key: 'id' }, k: { table: 'tk', key: 'id' },
          owned: { table: 'owned', key: 'id' } },
        relationships: [
          { name: 'x', from: 'b', to: 'a', join: { table: 'tc', source: 's', destination: 'd' },
            rules: ['\(rule)'\(notices)] },
          { name: 'k', from: 'c', to: 'k', column: 'k', rules: ['denySourceDeletion'] },
          { name: 'a', from: 'owned', to: 'a', column: 'a', rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'k', from: 'owned', to: 'k', column: 'k', rules: ['denySourceDeletion'] }] }
      """,
      schema: """
        CREATE TABLE ta(id int PRIMARY KEY); CREATE TABLE tb(id int PRIMARY KEY);
        CREATE TABLE tk(id int PRIMARY KEY); CREATE TABLE tc(id int PRIMARY KEY, s int, d int, k int);
        CREATE INDEX ON tc(s); CREATE INDEX ON tc(d); CREATE INDEX ON tc(k);
        CREATE TABLE owned(id int PRIMARY KEY, a int, k int);
        CREATE INDEX ON owned(a); CREATE INDEX ON owned(k);
        INSERT INTO ta VALUES(1); INSERT INTO tb VALUES(1); INSERT INTO tk VALUES(1);
        INSERT INTO tc VALUES(1, 1, 1, 1);
        """)
    try store.sweep([.all])
    return store
  }

  @Test(
    "A join row that has to stay without an end of it is no edge any more",
    arguments: [
      ("deleteSourceIfDestinationDeleted", "ta"), ("deleteSourceIfAllDestinationsDeleted", "ta"),
      ("deleteDestinationIfSourceDeleted", "tb"), ("deleteDestinationIfAllSourcesDeleted", "tb"),
    ], [[SweepKind.all], [.cascade, .refcount]])
  func joinRow(_ lost: (rule: String, table: String), kinds: [SweepKind]) throws {
    let store = try Self.joined(lost.rule)
    try store.bySQL("DELETE FROM \(lost.table)")
    let result = try store.sweep(kinds)
    #expect(result.byCollection == [lost.table == "ta" ? "b" : "a": 1])
    #expect(result.blocked.compactMap(\.node) == [Node("c", .integer(1))])
    try store.bySQL("DELETE FROM tk")
    #expect(try store.sweep(kinds).byCollection == ["c": 1])
    #expect(try store.sweep(kinds).outcome == .nothing)
  }

  @Test("What lost it is told once", arguments: ["ta", "tb"], [[SweepKind.all], [.cascade]])
  func notice(table: String, kinds: [SweepKind]) throws {
    let store = try Self.joined("notifyIfSourceDeleted")
    try store.bySQL("DELETE FROM \(table)")
    for _ in 0..<2 { try store.sweep(kinds) }
    let told = { try store.reader.notices(after: 0, limit: 9).map { "\($0.node) \($0.reason)" } }
    let expected = table == "ta" ? "b/1 destinationDeleted" : "a/1 sourceDeleted"
    #expect(try told() == [expected])
    try store.bySQL("DELETE FROM tk")
    #expect(try store.sweep(kinds).byCollection == ["c": 1])
    #expect(try told() == [expected])
  }
}
