import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing

/// What a savepoint must remember to be rolled back outgrows memory, and goes to a file.
@Suite("A transaction that touches many pages")
struct LargeTransactionTests {
  private static let rows = 20_000

  private static func put(_ index: Int) -> Change {
    let parent = Node("a", .text("\(index / 10)"))
    let edge = DeclaredEdge(
      name: "parent", destination: .node(parent), rules: .deleteSourceIfDestinationDeleted)
    return .put(
      Node("a", .text("\(index)")), type: nil,
      value: JSONText(valid: "\"\(String(repeating: "x", count: 200))\""),
      edges: index == 0 ? nil : [edge])
  }

  private static func tree() throws -> TestStore {
    let store = try TestStore()
    try store.apply((0..<rows).map(put))
    return store
  }

  @Test("deletes them all")
  func deletes() throws {
    let store = try LargeTransactionTests.tree()
    let receipt = try store.apply([.delete(Node("a", .text("0")))])
    #expect(receipt.deletedCount == LargeTransactionTests.rows)
    #expect(try store.reader.nodes(in: "a", after: nil, limit: 1).isEmpty)
    #expect(try store.edges().isEmpty)
  }

  @Test("is rolled back whole, and the next one in the same commit is not")
  func rollsBack() throws {
    let store = try LargeTransactionTests.tree()
    let missing = Node("a", .text("none"))
    let refused: [Change] = [
      .deleteAll(collection: "a"), .flush, .patch(missing, set: [], unset: ["x"]),
    ]
    #expect(try store.reasons(refused).count == 1)
    let last = Node("a", .text("\(LargeTransactionTests.rows - 1)"))
    #expect(try store.exists(last))
    #expect(try store.apply([.delete(last)]).deletedCount == 1)
    #expect(try store.reader.count(EdgeQuery()) == LargeTransactionTests.rows - 2)
  }

  @Test("brings back what an earlier part of it set to null in a later one")
  func nulledByForeignKeys() throws {
    let cascade = "rules: ['deleteSourceIfDestinationDeleted']"
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { tops: { table: 'top', key: 'id' }, mids: { table: 'mid', key: 'id' },
            ends: { table: 'end', key: 'id' } },
          relationships: [ { name: 'top', from: 'mids', to: 'tops', column: 'top', \(cascade) },
            { name: 'mid', from: 'ends', to: 'mids', column: 'mid', \(cascade) } ] }
        """),
      schema: """
        CREATE TABLE top(id INTEGER PRIMARY KEY);
        CREATE TABLE mid(id INTEGER PRIMARY KEY, top INTEGER);
        CREATE TABLE "end"(id INTEGER PRIMARY KEY, mid INTEGER,
          likes INTEGER REFERENCES mid ON DELETE SET NULL);
        CREATE INDEX mid_top ON mid(top); CREATE INDEX end_mid ON "end"(mid);
        CREATE INDEX end_likes ON "end"(likes);
        INSERT INTO top VALUES(1);
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
        INSERT INTO mid SELECT i, 1 FROM n;
        INSERT INTO "end" VALUES(1, 24999, 2), (2, 3, 24998), (3, NULL, 4);
        """)
    let before = try store.dump()
    let receipt = try store.apply([.delete(Node("tops", .integer(1)))])
    #expect(receipt.deletedCount == 25_003)
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.dump() == before)
  }
}
