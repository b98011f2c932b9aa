import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteDeletion
import SQLiteStore
import SQLiteSweeps
import SQLiteJournal
import SQLiteTables
import SQLiteUndo
import StoreDefinition
import StoreFixtures
import Testing

/// Firefox's root bookmark has the parent 0. A scan that takes 0 for a missing row would delete the
/// tree.
@Suite("Values that may mean none")
struct HeldValueTests {
  private static func model(_ rest: String) throws -> StoreModel {
    try StoreModel(
      """
      { collections: { bookmarks: { table: 'moz_bookmarks', key: 'id' },
          places: { table: 'moz_places', key: 'id' } },
        relationships: [
          { name: 'parent', from: 'bookmarks', to: 'bookmarks', column: 'parent', \(rest) },
          { name: 'place', from: 'bookmarks', to: 'places', column: 'fk',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
      """)
  }

  private static let schema = """
    CREATE TABLE moz_places(id INTEGER PRIMARY KEY, url TEXT);
    CREATE TABLE moz_bookmarks(
      id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER, parent INTEGER, title TEXT);
    CREATE INDEX moz_bookmarks_parent ON moz_bookmarks(parent);
    """

  private static let bookmarks = """
    INSERT INTO moz_bookmarks(id, type, parent, title) VALUES
      (1, 2, 0, ''), (2, 2, 1, 'menu'), (3, 2, 1, 'toolbar'), (4, 2, 1, 'tags'),
      (5, 2, 1, 'unfiled'), (6, 2, 1, 'mobile'), (7, 1, 2, 'a'), (8, 1, 2, 'b'), (9, 1, 3, 'c'),
      (10, 1, 3, 'd'), (11, 1, 7, 'e');
    """

  private static let deletes = "rules: ['deleteSourceIfDestinationDeleted']"

  private func firefox(_ rest: String = deletes) throws -> TestStore {
    let store = try TestStore(model: Self.model(rest), schema: Self.schema)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL(Self.bookmarks)
    return store
  }

  private func count(_ store: TestStore) throws -> String {
    try store.texts("SELECT count(*) FROM moz_bookmarks")[0]
  }

  @Test(
    "No sweep deletes them, and each time the same plan waits",
    arguments: [[SweepKind.all], [.dangling]])
  func held(kinds: [SweepKind]) throws {
    let store = try firefox()
    for _ in 0..<3 {
      let result = try store.writer.sweep(kinds, at: 1)
      #expect(result.outcome == .held && result.plan == 1 && result.batch == nil)
      #expect(result.heldCount == 11)
      let sentence = try #require(result.heldValue?.sentence)
      #expect(sentence.hasPrefix("1 value 0 in references of \"parent\" of \"bookmarks\""))
      #expect(sentence.hasSuffix("none: [0]"))
    }
    #expect(try store.writer.heldSweeps.map(\.plan) == [1])
    #expect(try count(store) == "11")
  }

  @Test("Found at the first start, or by a store that is opened again, they are held too")
  func firstAttach() throws {
    let store = try TestStore(model: Self.model(Self.deletes), schema: Self.schema + Self.bookmarks)
    for _ in 0..<2 {
      #expect(try store.writer.sweep([.all], at: 1).outcome == .held)
      try store.reopen()
      try store.writer.requestRescan()
    }
    #expect(try store.writer.sweep([.dangling], at: 1).plan == 1)
    #expect(try count(store) == "11")
  }

  @Test("The rest of the sweep goes on")
  func rest() throws {
    let store = try firefox()
    try store.bySQL("INSERT INTO moz_bookmarks(id, parent) VALUES(20, 77), (21, 20)")
    let result = try store.writer.sweep([.dangling], at: 1)
    #expect(result.outcome == .held && result.deletedCount == 2)
    #expect(try count(store) == "11")
  }

  @Test("The plan tells what its approval would delete, and the approval deletes it, once")
  func approved() throws {
    let store = try firefox()
    let result = try store.writer.sweep([.dangling], at: 1)
    let plan = try store.reader.plan(ofHeld: try #require(result.heldValue))
    #expect(plan.deletedCount == 11 && plan.byCollection == ["bookmarks": 11])
    #expect(try store.reader.planSweep([.dangling]).isOverLimit)
    #expect(try store.writer.approve(plan: 1) == .sweep([.dangling]))
    let swept = try store.writer.sweep([.dangling], at: 2)
    #expect(swept.outcome == .done && swept.deletedCount == 11)
    #expect(try store.writer.heldSweeps.isEmpty)
    _ = try store.writer.undo(try #require(swept.batch), by: "test", at: 3)
    #expect(try store.writer.sweep([.all], at: 4).outcome != .done)
    #expect(try count(store) == "11")
  }

  @Test("An approval covers no more rows than there were")
  func moreRows() throws {
    let store = try firefox()
    _ = try store.writer.sweep([.dangling], at: 1)
    _ = try store.writer.approve(plan: 1)
    try store.bySQL("INSERT INTO moz_bookmarks(id, parent) VALUES(30, 0)")
    let result = try store.writer.sweep([.dangling], at: 2)
    #expect(result.outcome == .held && result.plan == 1 && result.heldValue?.count == 2)
    #expect(try count(store) == "12")
  }

  @Test("With none in the model there is nothing to approve")
  func settled() throws {
    let store = try firefox()
    _ = try store.writer.sweep([.dangling], at: 1)
    let writer = try Writer(path: store.path, model: Self.model("none: [0], \(Self.deletes)"))
    #expect(try writer.sweep([.all], at: 2).outcome == .nothing)
    #expect(try writer.heldSweeps.isEmpty)
    #expect(try store.texts("SELECT count(*) FROM cascade_plan") == ["0"])
    #expect(try count(store) == "11")
  }

  @Test(
    "Whatever the rule would do",
    arguments: ["nullifySourceIfDestinationDeleted", "deleteSourceIfAllDestinationsDeleted"])
  func rules(rule: String) throws {
    let store = try firefox("rules: ['\(rule)']")
    #expect(try store.writer.sweep([.all], at: 1).outcome == .held)
    #expect(try store.texts("SELECT parent FROM moz_bookmarks WHERE id = 1") == ["0"])
  }

  @Test(
    "Which values",
    arguments: [
      ("TEXT", "''", true), ("TEXT", "'0'", true), ("INTEGER", "-1", true), ("TEXT", "'x'", false),
      ("TEXT", "'00000000-0000-0000-0000-000000000000'", true), ("BLOB", "zeroblob(16)", true),
      ("INTEGER", "7", false),
    ])
  func values(type: String, value: String, isHeld: Bool) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' } }, relationships: [
          { name: 'up', from: 'a', to: 'a', column: 'up', \(Self.deletes) } ] }
        """), schema: "CREATE TABLE a(id \(type) PRIMARY KEY NOT NULL, up \(type))")
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("INSERT INTO a VALUES(1, \(value))")
    #expect(try store.writer.sweep([.dangling], at: 1).outcome == (isHeld ? .held : .done))
  }

  @Test("A value that ten rows share, unless the trash knows its row")
  func shared() throws {
    let store = try firefox()
    try store.bySQL(
      """
      UPDATE moz_bookmarks SET parent = NULL WHERE parent = 0;
      WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 10)
      INSERT INTO moz_bookmarks(id, fk) SELECT 100 + i, 55 FROM n;
      INSERT INTO moz_bookmarks(id, fk) VALUES(200, 56);
      """)
    let result = try store.writer.sweep([.dangling], at: 1)
    #expect(result.outcome == .held && result.deletedCount == 1)
    #expect(result.heldValue?.missing == Node("places", .integer(55)))
    #expect(result.heldValue?.count == 10)
    try store.bySQL("INSERT INTO moz_places VALUES(55, 'u')")
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
    #expect(try store.writer.heldSweeps.isEmpty)
  }

  @Test("Check says it in a sentence")
  func check() throws {
    let store = try firefox()
    let found = try store.reader.checkReferences().list
    #expect(found.map(\.kind) == ["dangling"] && found[0].message.hasSuffix("none: [0]"))
  }
}
