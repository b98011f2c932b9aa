import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteBinding
import SQLiteTables
import Testing
import SQLiteDeletion
import SQLiteJournal
import SQLiteSweeps
import SQLiteEdges

/// What nobody watched is looked for in whole tables, once, and with care.
@Suite("What dangled before")
struct RescanTests {
  private static let model = """
    { collections: { albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" } },
      relationships: [ { name: "album", from: "songs", to: "albums", column: "album_id",
        rules: ["deleteSourceIfDestinationDeleted"] } ] }
    """

  private func store(_ rows: String = "INSERT INTO song VALUES(1, 9), (2, 9);") throws -> TestStore
  {
    try TestStore(
      model: StoreModel(RescanTests.model),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER); \(rows)
        """)
  }

  @Test("Before a table was ever looked through, whatever dangles in it is held")
  func unseen() throws {
    let store = try store()
    #expect(try store.writer.rescanReason == .firstWatch)
    #expect(try store.reader.planSweep([.dangling]).isOverLimit)
    let held = try store.writer.sweep([.dangling], at: 1)
    #expect(held.outcome == .held && held.deletedCount == 2)
    #expect(try store.writer.sweep([.all], at: 2).plan == held.plan)
    #expect(try store.writer.rescanReason == .firstWatch)
    _ = try store.writer.approve(plan: #require(held.plan))
    #expect(try store.writer.sweep([.dangling], at: 3).outcome == .done)
    #expect(try store.writer.rescanReason == nil)
    try store.bySQL("INSERT INTO song VALUES(3, 9)")
    #expect(try !store.reader.planSweep([.dangling]).isOverLimit)
    #expect(try store.writer.sweep([.dangling], at: 4).outcome == .done)
  }

  @Test("Held behind a part that deleted something, it goes when it is approved")
  func heldPart() throws {
    let store = try store(
      "INSERT INTO album VALUES(1); INSERT INTO song VALUES(1, 1), (2, 9), (3, 9);")
    try store.bySQL("DELETE FROM album")
    let held = try store.writer.sweep([.all], at: 1)
    #expect(held.outcome == .held && held.deletedCount == 1)
    _ = try store.writer.approve(plan: #require(held.plan))
    #expect(try store.writer.sweep([.dangling], at: 2).outcome == .done)
    #expect(try store.texts("SELECT id FROM song").isEmpty)
  }

  /// A model that names the wrong key, and a table that is filled again later.
  @Test(
    "References to what nobody saw go wait for approval, where they are many", arguments: [3, 40])
  func losses(count: Int) throws {
    let limits = "limits: { hold: { deletes: 20, share: 0.1 } }, relationships: ["
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { tags: { table: 'tag', key: 'id' }, posts: { table: 'post', key: 'id' } },
          \(limits)
            { name: 'main', from: 'posts', to: 'tags', column: 'tag',
              rules: ['nullifySourceIfDestinationDeleted'] },
            { name: 'tags', from: 'posts', to: 'tags', toMany: true,
              join: { table: 'both', source: 'post', destination: 'tag' } } ] }
        """),
      schema: """
        CREATE TABLE tag(id INTEGER PRIMARY KEY);
        CREATE TABLE post(id INTEGER PRIMARY KEY, tag INTEGER);
        CREATE TABLE both(post INTEGER, tag INTEGER);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO tag SELECT i FROM n;
        INSERT INTO post SELECT id, id FROM tag;
        INSERT INTO both SELECT id, id FROM tag;
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DROP TABLE tag; CREATE TABLE tag(id INTEGER PRIMARY KEY)")
    let held = try store.writer.sweep([.dangling], at: 1)
    #expect(held.outcome == (count == 40 ? .held : .done))
    if count != 40 { return }
    #expect((held.heldCount, held.heldEdges) == (0, 80))
    #expect(try store.texts("SELECT count(tag) FROM post") == ["40"])
    #expect(try store.writer.sweep([.all], at: 2).plan == held.plan)
    _ = try store.writer.approve(plan: #require(held.plan))
    store.sweepsInSteps(of: 7)
    #expect(try store.writer.sweep([.dangling], at: 3).outcome == .done)
    #expect(try store.texts("SELECT count(tag) FROM post") == ["0"])
    #expect(try store.texts("SELECT count(*) FROM both") == ["0"])
    #expect(try store.texts("SELECT count(*) FROM cascade_plan") == ["0"])
  }

  @Test(
    "Who goes on with what was approved lets go of that, and not of what else lost its end since",
    arguments: [false, true])
  func laterLosses(loses: Bool) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' },
            c: { table: 'c', key: 'id' } },
          limits: { hold: { deletes: 20, share: 0.1 } }, relationships: [
            { name: 'x', from: 'c', to: 'a', column: 'a', rules: ['nullifySourceIfDestinationDeleted'] },
            { name: 'x', from: 'c', to: 'b', column: 'b', rules: ['nullifySourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY);
        CREATE TABLE c(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
        INSERT INTO a SELECT i FROM n;
        INSERT INTO b SELECT id FROM a LIMIT 30; INSERT INTO c SELECT id, id, id % 30 + 1 FROM a;
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DROP TABLE a; CREATE TABLE a(id INTEGER PRIMARY KEY)")
    let held = try store.writer.sweep([.dangling], at: 1)
    _ = try store.writer.approve(plan: #require(held.plan))
    store.sweepsInSteps(of: 7)
    _ = try? store.writer.sweep([.dangling], at: 2, manners: .stopping(after: 4))
    if loses { try store.bySQL("DROP TABLE b; CREATE TABLE b(id INTEGER PRIMARY KEY)") }
    try store.reopen()
    let rest = try store.writer.sweep(try #require(try store.writer.unfinishedSweep), at: 3)
    #expect(rest.outcome == (loses ? .held : .done))
    #expect(try store.texts("SELECT count(b) FROM c") == ["60"])
    #expect(try loses || store.texts("SELECT count(a) FROM c") == ["0"])
  }

  @Test("What is held is held as what somebody asked for")
  func heldKinds() throws {
    let limits = "limits: { hold: { deletes: 1, share: 0 } }, relationships:"
    let store = try TestStore(
      model: StoreModel(RescanTests.model.replacing("relationships:", with: limits)),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY); INSERT INTO album VALUES(9);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER);
        INSERT INTO song VALUES(1, 9), (2, 9);
        """)
    _ = try store.writer.sweep([.all], at: 1)
    try store.bySQL("DELETE FROM album")
    let held = try store.writer.sweep([.cascade], at: 2)
    #expect((held.outcome, held.heldKinds) == (.held, [.cascade]))
  }

  @Test("Where nothing dangles, one look is enough")
  func nothing() throws {
    let store = try store("")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1).outcome == .nothing)
    #expect(try store.writer.rescanReason == .firstWatch)
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
    #expect(try store.writer.rescanReason == nil)
  }

  @Test("What is held does not hold what the journal has")
  func journal() throws {
    let store = try store("INSERT INTO album VALUES(1); INSERT INTO song VALUES(1, 1), (2, 9);")
    #expect(try !store.writer.hasJournal)
    try store.bySQL("DELETE FROM album")
    #expect(try store.writer.hasJournal)
    #expect(try store.reader.journal()?.count == 1)
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1).deletedCount == 1)
    #expect(try store.reader.journal() == nil)
    #expect(try store.writer.sweep([.dangling], at: 2).outcome == .held)
  }

  @Test("After a gap the usual limit holds")
  func gap() throws {
    let store = try store("")
    _ = try store.writer.sweep([.dangling], at: 1)
    try store.bySQL("INSERT INTO song VALUES(1, 9)")
    try store.writer.requestRescan()
    #expect(try store.writer.rescanReason == .watchGap)
    #expect(try store.writer.sweep([.dangling], at: 2).outcome == .done)
    #expect(try store.writer.rescanReason == nil)
  }

  @Test("Of a held sweep one plan waits: what it would do now")
  func onePlan() throws {
    let store = try store()
    let first = try #require(try store.writer.sweep([.dangling], at: 1).plan)
    try store.bySQL("INSERT INTO song VALUES(3, 9)")
    let second = try #require(try store.writer.sweep([.dangling], at: 2).plan)
    #expect(first != second)
    #expect(try store.writer.approve(plan: first) == nil)
    #expect(try store.writer.approve(plan: second) == .sweep([.dangling]))
  }

  @Test("A changed schema is seen without a transaction")
  func schema() throws {
    let store = try store("")
    try store.bySQL("DROP TABLE album")
    #expect(!store.writer.isPartlyBound)
    try store.writer.adaptToSchema()
    #expect(store.writer.isPartlyBound)
    try store.bySQL("CREATE TABLE album(id INTEGER PRIMARY KEY)")
    try store.writer.adaptToSchema()
    #expect(!store.writer.isPartlyBound)
    #expect(try store.writer.rescanReason == .firstWatch)
  }
}
