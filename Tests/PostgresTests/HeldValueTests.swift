import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// The root of a tree may have the parent 0. A search that takes 0 for a missing row would delete the
/// tree.
@Suite(
  "Values that may mean none, on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct HeldValueTests {
  private static func model(_ rest: String) throws -> StoreModel {
    try StoreModel(
      """
      { collections: { bookmarks: { table: 'bookmark', key: 'id' },
          places: { table: 'place', key: 'id' }, tags: { table: 'tag', key: 'id' } },
        relationships: [
          { name: 'parent', from: 'bookmarks', to: 'bookmarks', column: 'parent', \(rest) },
          { name: 'place', from: 'bookmarks', to: 'places', column: 'fk',
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'tag', from: 'bookmarks', to: 'tags', toMany: true,
            join: { table: 'bookmark_tag', source: 'b', destination: 't' } } ] }
      """)
  }

  private static let schema = """
    CREATE TABLE place(id int PRIMARY KEY, url text); CREATE TABLE tag(id int PRIMARY KEY);
    CREATE TABLE bookmark(id int PRIMARY KEY, fk int, parent int); CREATE INDEX ON bookmark(fk);
    CREATE INDEX ON bookmark(parent); CREATE TABLE bookmark_tag(b int, t int);
    CREATE INDEX ON bookmark_tag(b); CREATE INDEX ON bookmark_tag(t);
    """

  private static let bookmarks = """
    INSERT INTO bookmark(id, parent) VALUES (1, 0), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 2),
      (8, 2), (9, 3), (10, 3), (11, 7);
    """

  private static let deletes = "rules: ['deleteSourceIfDestinationDeleted']"

  private func tree(_ rest: String = deletes) throws -> PostgresFixture {
    let store = try PostgresFixture(model: Self.model(rest), schema: Self.schema)
    try store.sweep([.all])
    try store.bySQL(Self.bookmarks)
    return store
  }

  private func count(_ store: PostgresFixture) throws -> String {
    try store.texts("SELECT count(*) FROM bookmark")[0]
  }

  @Test(
    "No sweep deletes them, and each time the same plan waits",
    arguments: [[SweepKind.all], [.dangling]])
  func held(kinds: [SweepKind]) throws {
    let store = try tree()
    var plans: Set<Int64?> = []
    for _ in 0..<3 {
      let result = try store.sweep(kinds)
      #expect(result.outcome == .held && result.batch == nil && result.heldCount == 11)
      plans.insert(result.plan)
      let sentence = try #require(result.heldValue?.sentence)
      #expect(sentence.hasPrefix("1 value 0 in references of \"parent\" of \"bookmarks\""))
      #expect(sentence.hasSuffix("none: [0]"))
    }
    #expect(plans.count == 1)
    #expect(try store.writer.heldSweeps.map(\.plan) == Array(plans))
    #expect(try store.writer.heldSweeps.map(\.heldValue?.count) == [1])
    #expect(try count(store) == "11")
  }

  @Test("Found at the first start, or by a store that is opened again, they are held too")
  func firstAttach() throws {
    let store = try PostgresFixture(
      model: Self.model(Self.deletes), schema: Self.schema + Self.bookmarks)
    for _ in 0..<2 {
      #expect(try store.sweep([.all]).outcome == .held)
      try store.reopen()
      try store.writer.requestRescan()
    }
    #expect(try store.sweep([.dangling]).outcome == .held)
    #expect(try count(store) == "11")
  }

  @Test("The rest of the sweep goes on")
  func rest() throws {
    let store = try tree()
    try store.bySQL("INSERT INTO bookmark(id, parent) VALUES(20, 77), (21, 20)")
    let result = try store.sweep([.dangling])
    #expect(result.outcome == .held && result.deletedCount == 2)
    #expect(try count(store) == "11")
  }

  @Test("The plan tells what its approval would delete, and the approval deletes it, once")
  func approved() throws {
    let store = try tree()
    let result = try store.sweep([.dangling])
    let number = try #require(result.plan)
    let plan = try store.reader.plan(ofHeld: try #require(result.heldValue))
    #expect(plan.deletedCount == 11 && plan.byCollection == ["bookmarks": 11])
    #expect(try store.reader.planSweep([.dangling]).isOverLimit)
    #expect(try store.writer.approve(plan: number) == .sweep([.dangling]))
    let swept = try store.sweep([.dangling])
    #expect(swept.outcome == .done && swept.deletedCount == 11)
    #expect(try store.writer.heldSweeps.isEmpty)
    _ = try store.writer.undo(try #require(swept.batch), by: "test", at: 3)
    #expect(try store.sweep([.all]).outcome != .done)
    #expect(try count(store) == "11")
  }

  @Test("An approval needs no other one, however much it takes along")
  func approvedOverLimit() throws {
    let store = try PostgresFixture(
      model: StoreModel(
        """
        { collections: { bookmarks: { table: 'bookmark', key: 'id' } },
          limits: { hold: { deletes: 3, share: 0.1 } },
          relationships: [ { name: 'parent', from: 'bookmarks', to: 'bookmarks', column: 'parent',
            \(Self.deletes) } ] }
        """), schema: Self.schema)
    try store.sweep([.all])
    try store.bySQL(Self.bookmarks)
    _ = try store.writer.approve(plan: #require(store.sweep([.dangling]).plan))
    #expect(try store.sweep([.dangling]).deletedCount == 11)
  }

  @Test("An approval covers no more rows than there were")
  func moreRows() throws {
    let store = try tree()
    let plan = try #require(store.sweep([.dangling]).plan)
    _ = try store.writer.approve(plan: plan)
    try store.bySQL("INSERT INTO bookmark(id, parent) VALUES(30, 0)")
    let result = try store.sweep([.dangling])
    #expect(result.outcome == .held && result.plan == plan && result.heldValue?.count == 2)
    #expect(try count(store) == "12")
  }

  @Test("What is swept meanwhile forgets no plan and no approval")
  func others() throws {
    let store = try tree()
    let plan = try #require(store.sweep([.dangling]).plan)
    try store.bySQL("INSERT INTO place VALUES(1); INSERT INTO bookmark VALUES(40, 1, NULL)")
    try store.bySQL("DELETE FROM place")
    #expect(try store.sweep().byCollection == ["bookmarks": 1])
    #expect(try store.writer.heldSweeps.map(\.plan) == [plan])
  }

  @Test("With none in the model there is nothing to approve")
  func settled() throws {
    let store = try tree()
    _ = try store.sweep([.dangling])
    store.close()
    let writer = try PostgresWriter(
      store.database.location, Self.model("none: [0], \(Self.deletes)"), attaches: true,
      lockTimeout: .seconds(5))
    #expect(try writer.sweep([.all], at: 2, manners: .none).outcome == .nothing)
    #expect(try writer.heldSweeps.isEmpty)
    #expect(try count(store) == "11")
  }

  @Test(
    "Whatever the rule would do",
    arguments: ["nullifySourceIfDestinationDeleted", "deleteSourceIfAllDestinationsDeleted"])
  func rules(rule: String) throws {
    let store = try tree("rules: ['\(rule)']")
    #expect(try store.sweep([.all]).outcome == .held)
    #expect(try store.texts("SELECT parent FROM bookmark WHERE id = 1") == ["0"])
  }

  @Test(
    "Which values",
    arguments: [
      ("text", "''", true), ("text", "'0'", true), ("int", "-1", true), ("text", "'x'", false),
      ("text", "'{00000000-0000-0000-0000-000000000000}'", true), ("int", "7", false),
      ("uuid", "'00000000-0000-0000-0000-000000000000'", true),
    ])
  func values(type: String, value: String, isHeld: Bool) throws {
    let store = try PostgresFixture(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' } }, relationships: [
          { name: 'up', from: 'a', to: 'a', column: 'up', \(Self.deletes) } ] }
        """), schema: "CREATE TABLE a(id \(type) PRIMARY KEY, up \(type)); CREATE INDEX ON a(up)")
    try store.sweep([.all])
    let key = type == "uuid" ? "gen_random_uuid()" : "1"
    try store.bySQL("INSERT INTO a VALUES(\(key), \(value))")
    #expect(try store.sweep([.dangling]).outcome == (isHeld ? .held : .done))
  }

  @Test("A value that ten rows share, unless a row of it went")
  func shared() throws {
    let store = try tree()
    try store.bySQL(
      """
      UPDATE bookmark SET parent = NULL WHERE parent = 0;
      INSERT INTO bookmark(id, fk) SELECT 100 + i, 55 FROM generate_series(1, 10) i;
      INSERT INTO bookmark(id, fk) VALUES(200, 56);
      """)
    let result = try store.sweep([.dangling])
    #expect(result.outcome == .held && result.deletedCount == 1)
    #expect(result.heldValue?.missing == Node("places", .integer(55)))
    #expect(result.heldValue?.count == 10)
    try store.bySQL("INSERT INTO place VALUES(55, 'u')")
    #expect(try store.sweep([.all]).outcome == .nothing)
    #expect(try store.writer.heldSweeps.isEmpty)
    try store.bySQL("DELETE FROM place WHERE id = 55")
    #expect(try store.sweep([.dangling]).byCollection == ["bookmarks": 10])
  }

  @Test("Check says it in a sentence")
  func check() throws {
    let store = try tree()
    let found = try store.reader.checkReferences(limit: 9).list
    #expect(found.map(\.kind) == ["dangling"] && found[0].message.hasSuffix("none: [0]"))
  }

  // MARK: - Join rows, and notices

  @Test("Join rows without an end are held by their value, and by their number")
  func joinRows() throws {
    let store = try PostgresFixture(
      model: StoreModel(
        """
        { collections: { bookmarks: { table: 'bookmark', key: 'id' },
            tags: { table: 'tag', key: 'id' } },
          limits: { hold: { deletes: 4, share: 0.1 } },
          relationships: [ { name: 'tag', from: 'bookmarks', to: 'tags', toMany: true,
            join: { table: 'bookmark_tag', source: 'b', destination: 't' } } ] }
        """), schema: Self.schema)
    try store.sweep([.all])
    let rows = "SELECT count(*) FROM bookmark_tag"
    try store.bySQL("INSERT INTO tag VALUES(1); INSERT INTO bookmark_tag VALUES(0, 1), (5, 1)")
    let value = try store.sweep([.dangling])
    #expect(value.outcome == .held && value.heldValue?.lacksSource == true)
    #expect(value.edgesRemoved == 1)
    #expect(try store.texts(rows) == ["1"])
    try store.bySQL("INSERT INTO bookmark_tag SELECT i, 1 FROM generate_series(10, 14) i")
    let held = try store.sweep([.dangling])
    let part = try #require(held.otherHeldParts.first)
    #expect(part.heldEdges == 5 && part.heldCount == 0 && part.heldValue == nil)
    #expect(try store.texts(rows) == ["6"])
    _ = try store.writer.approve(plan: #require(part.plan))
    #expect(try store.sweep([.dangling]).edgesRemoved == 5)
    #expect(try store.texts(rows) == ["1"])
    _ = try store.writer.approve(plan: #require(value.plan))
    #expect(try store.sweep([.dangling]).edgesRemoved == 1)
    #expect(try store.texts(rows) == ["0"])
  }

  @Test("A reference whose only rule is a notice is told of once, if it may have been lost unseen")
  func notices() throws {
    let store = try tree("rules: ['notifyIfDestinationDeleted']")
    try store.bySQL("UPDATE bookmark SET parent = 77 WHERE id = 11")
    try store.sweep([.dangling])
    #expect(try store.reader.notices(after: 0, limit: 9).isEmpty)
    try store.writer.requestRescan()
    let result = try store.sweep([.dangling])
    #expect(result.outcome == .held && result.notices == 1 && result.heldCount == 0)
    #expect(try store.reader.notices(after: 0, limit: 9).map(\.node.key) == [.integer(11)])
    try store.sweep([.dangling])
    #expect(try store.reader.notices(after: 0, limit: 9).count == 1)
  }
}
