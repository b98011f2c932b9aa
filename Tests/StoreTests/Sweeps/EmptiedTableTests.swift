import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteUndo
import SQLiteSweeps

/// A table of which nothing stays is emptied at once, behind everything else that its rows bring
/// about.
@Suite("A table that loses all of its rows")
struct EmptiedTableTests {
  private static let rows = 25_000
  private static let node = Node("tops", .integer(1))

  private func store(_ option: String = "", trash: String = "1d") throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { trash: "\(trash)", limits: { lock: "none" },
          collections: { tops: { table: "top", key: "id" }, mids: { table: "mid", key: "id" },
            ends: { table: "end", key: "id" } },
          relationships: [
            { name: "top", from: "mids", to: "tops", column: "top",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "likes", from: "ends", to: "mids", column: "mid",
              rules: ["nullifySourceIfDestinationDeleted"] },
            { name: "knows", from: "mids", to: "ends", toMany: true,
              join: { table: "knows", source: "mid", destination: "end" },
              rules: ["deleteDestinationIfAllSourcesDeleted"] } ] }
        """),
      schema: """
        CREATE TABLE top(id INTEGER PRIMARY KEY);
        CREATE TABLE mid(id INTEGER PRIMARY KEY, top INTEGER, title TEXT)\(option);
        CREATE TABLE "end"(id INTEGER PRIMARY KEY, mid INTEGER);
        CREATE TABLE knows(mid INTEGER, "end" INTEGER, PRIMARY KEY(mid, "end"));
        CREATE INDEX mid_top ON mid(top); CREATE INDEX end_mid ON "end"(mid);
        CREATE INDEX knows_end ON knows("end");
        INSERT INTO top VALUES(1), (2);
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < \(EmptiedTableTests.rows))
        INSERT INTO mid SELECT i, 1, 'number ' || i FROM n;
        INSERT INTO "end" VALUES(1, 2), (2, \(EmptiedTableTests.rows)), (3, NULL);
        INSERT INTO knows VALUES(1, 1), (20001, 1), (\(EmptiedTableTests.rows), 2);
        """)
    // What dangled before anybody watched would wait.
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  private static let left = """
    SELECT (SELECT count(*) FROM mid) || ' ' || (SELECT count(*) FROM knows) || ' '
      || (SELECT group_concat(id || coalesce(mid, '-')) FROM "end")
    """

  @Test("and what hung on them is followed and brought back", arguments: ["", " WITHOUT ROWID"])
  func byChange(option: String) throws {
    let store = try store(option)
    let before = try store.dump()
    let receipt = try store.apply([.delete(EmptiedTableTests.node)])
    #expect(receipt.deletedCount == EmptiedTableTests.rows + 3)
    #expect(try store.texts(EmptiedTableTests.left) == ["0 0 3-"])
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.dump() == before)
  }

  @Test("by a sweep", arguments: ["", " WITHOUT ROWID"])
  func bySweep(option: String) throws {
    let store = try store(option)
    let before = try store.dump()
    try store.bySQL("DELETE FROM top WHERE id = 1")
    let result = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(result.deletedCount == EmptiedTableTests.rows + 2)
    #expect(try store.texts(EmptiedTableTests.left) == ["0 0 3-"])
    let undone = try store.writer.undo(#require(result.batch), by: "me", at: 2)
    #expect(undone.restored == EmptiedTableTests.rows + 2)
    try store.bySQL("INSERT INTO top VALUES(1)")
    #expect(try store.dump() == before)
  }

  @Test("Where one stays, because it is leased or is another's, it stays", arguments: ["1d", "0"])
  func oneStays(trash: String) throws {
    let store = try store(trash: trash)
    try store.bySQL(
      """
      INSERT INTO cascade_lease(collection, key, owner, expires)
        VALUES('mids', 7, 'me', 1000);
      UPDATE mid SET top = 2 WHERE id = 9
      """)
    try store.bySQL("DELETE FROM top WHERE id = 1")
    let result = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(result.deletedCount == EmptiedTableTests.rows)
    #expect(try store.texts("SELECT group_concat(id) FROM mid") == ["7,9"])
  }

  private static let nullify = "'nullifySourceIfDestinationDeleted'"

  /// Its parts are small: what waits for the end is there while others go. An edge of its own gives
  /// a row a number that goes with it.
  @Test(
    "Rows that refer to each other lose nothing before, and nobody is told",
    arguments: [nullify, "\(nullify), 'notifyIfSourceDeleted', 'notifyIfDestinationDeleted'"],
    [[], ["ends/1-0>ends/2", "ends/4-0>ends/3"]])
  func eachOther(rules: String, links: [String]) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { ends: { table: "end", key: "id" } },
          relationships: [
            { name: "likes", from: "ends", to: "ends", column: "mid", rules: [\(rules)] },
            { name: "knows", from: "ends", to: "ends", property: "list", toMany: true,
              rules: [\(rules)] } ] }
        """),
      schema: """
        CREATE TABLE "end"(id INTEGER PRIMARY KEY, mid INTEGER, list);
        INSERT INTO "end" VALUES(1, 2, '[3, 1]'), (2, 2, '[1]'), (3, 1, '[2, 3]'), (4, 3, '[4]');
        CREATE INDEX end_mid ON "end"(mid);
        """)
    try store.apply(links.flatMap(changes))
    store.writer.lock.manyNodes = 1
    let before = try store.dump()
    let receipt = try store.apply([.deleteAll(collection: "ends")])
    #expect((receipt.deletedCount, receipt.notices) == (4, 0))
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.dump() == before)
  }
}
