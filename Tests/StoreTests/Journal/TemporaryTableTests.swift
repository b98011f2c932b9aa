import CascadeModel
import CascadeSQLite
import CascadeEngine
import CascadeStore
import SQLiteStore
import SQLiteSweeps
import SQLiteTables
import SQLiteUndo
import StoreDefinition
import StoreFixtures
import Testing

/// Every temporary table is declared once, with its owner, and is empty when its lifetime is over.
@Suite("Temporary tables")
struct TemporaryTableTests {
  @Test("Every temporary table is declared with an owner and a lifetime")
  func declared() throws {
    let store = try TestStore()
    let tables = try store.writer.db.all(
      "SELECT name FROM sqlite_temp_schema WHERE type = 'table' ORDER BY name"
    ) { $0.text(0) }
    #expect(tables == TemporaryTable.all.map(\.name).sorted())
    #expect(Set(TemporaryTable.all.map(\.owner)) == Set(TemporaryTable.Owner.allCases))
  }

  @Test("Emptying all tables of all owners leaves what is always there")
  func emptied() throws {
    let store = try TestStore()
    let before = try TemporaryTable.all.map { try rows(of: $0, store.writer.db) }
    for owner in TemporaryTable.Owner.allCases { try store.writer.db.empty(.ownedBy(owner)) }
    #expect(try TemporaryTable.all.map { try rows(of: $0, store.writer.db) } == before)
  }

  @Test("A transaction leaves nothing of its own", arguments: [nil, 3] as [Int64?])
  func transaction(rows: Int64?) throws {
    let store = try store(inStepsOf: rows)
    try store.apply([.delete(Node("roots", .integer(1)))])
    try expectEmpty(store)
    #expect(throws: Rejection.self) { try store.apply([.delete(Node("roots", .integer(3)))]) }
    try expectEmpty(store)
  }

  @Test("A sweep leaves nothing of its own", arguments: [nil, 3] as [Int64?])
  func sweep(rows: Int64?) throws {
    let store = try store(inStepsOf: rows)
    for kinds in [[.cascade], [.refcount], [.all], [.unreachable]] as [[SweepKind]] {
      let root = try store.texts("SELECT min(id) FROM root WHERE id <> 3")[0]
      try store.bySQL("DELETE FROM root WHERE id = \(root)")
      _ = try store.writer.sweep(kinds, at: 2)
      try expectEmpty(store)
    }
    #expect(try store.texts("SELECT count(*) FROM leaf WHERE root = 1") == ["0"])
  }

  @Test("A sweep forgets the cause of a candidate that is gone")
  func causeOfNothing() throws {
    let files = try FileFixture()
    try files.apply(
      .put(Node("notes", .text("n")), type: nil, value: nil, edges: nil), files.edge("n", "1"))
    try files.store.bySQL(
      """
      INSERT INTO cascade_candidate(
        collection, key, via_collection, via_key, name, rule, stored, waits_for)
      SELECT f.id, 'gone', a.id, '7', n.id, 32, 0, 0
      FROM cascade_collection AS f, cascade_collection AS a, cascade_name AS n
      WHERE f.name = 'cascade_file/media' AND a.name = 'albums' AND n.name = 'of'
      """)
    _ = try files.store.writer.sweep([.cascade, .refcount], at: 1)
    try expectEmpty(files.store)
  }

  @Test("An undo leaves nothing of its own", arguments: [nil, 3] as [Int64?])
  func undo(rows: Int64?) throws {
    let store = try store()
    let batch = try store.apply([.delete(Node("roots", .integer(1)))]).batch!
    if let rows { store.sweepsInSteps(of: rows) }
    #expect(try store.writer.undo(batch, by: "me", at: 9).restored == 21)
    try expectEmpty(store)
  }

  @Test("A plan leaves nothing at all")
  func plan() throws {
    let store = try store()
    try store.bySQL("DELETE FROM root WHERE id = 1")
    #expect(try store.reader.planSweep([.all]).deletedCount == 20)
    _ = try store.reader.planSweep([.unreachable])
    let left = try TemporaryTable.all.filter {
      try rows(of: $0, store.reader.db) > ($0 == .known ? 1 : 0)
    }
    #expect(left.map(\.name) == [])
  }

  // MARK: - Support

  /// Roots with leaves. The third root is held by a row that denies its deletion.
  private func store(inStepsOf rows: Int64? = nil) throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { roots: { table: "root", key: "id" }, leaves: { table: "leaf", key: "id" },
            holders: { table: "holder", key: "id" } },
          roots: ["roots", "holders"],
          relationships: [
            { name: "root", from: "leaves", to: "roots", column: "root",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "held", from: "holders", to: "roots", column: "root",
              rules: ["denyDestinationDeletion"] },
            { name: "next", from: "roots", to: "leaves", column: "leaf",
              rules: ["deleteDestinationIfAllSourcesDeleted"] }] }
        """),
      schema: """
        CREATE TABLE root(id INTEGER PRIMARY KEY, leaf INTEGER);
        CREATE TABLE leaf(id INTEGER PRIMARY KEY, root INTEGER);
        CREATE TABLE holder(id INTEGER PRIMARY KEY, root INTEGER);
        CREATE INDEX leaf_root ON leaf(root);
        CREATE INDEX holder_root ON holder(root);
        INSERT INTO root VALUES(1, 100), (2, 200), (3, 300), (4, 400), (5, 500);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
        INSERT INTO leaf SELECT root.id * 100 + i, root.id FROM root, n;
        INSERT INTO holder VALUES(1, 3);
        """)
    if let rows { store.sweepsInSteps(of: rows) }
    return store
  }

  /// Whether the tables are empty whose rows do not live longer than the work that just ended.
  private func expectEmpty(
    _ store: TestStore, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let left = try TemporaryTable.all.filter {
      [.call, .flush, .transaction, .snapshot].contains($0.lifetime)
    }.filter { try rows(of: $0, store.writer.db) > 0 }
    #expect(left.map(\.name) == [], sourceLocation: location)
  }

  private func rows(of table: TemporaryTable, _ db: borrowing Connection) throws -> Int64 {
    let isEmpty = table.name == "removed_up_to" ? "sum(seq)" : "count(*)"
    return try db.integer(generated: "SELECT \(isEmpty) FROM temp.\(table.name)") ?? 0
  }
}
