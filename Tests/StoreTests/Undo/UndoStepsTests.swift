import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteUndo
import SQLiteSweeps

@Suite("Undo in steps")
struct UndoStepsTests {
  /// A root and its leaves went.
  private static func store() throws -> (TestStore, batch: Int64, before: [String]) {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { roots: { table: "root", key: "id" }, leaves: { table: "leaf", key: "id" } },
          relationships: [{ name: "root", from: "leaves", to: "roots", column: "root",
            rules: ["deleteSourceIfDestinationDeleted"] }] }
        """),
      schema: """
        CREATE TABLE root(id INTEGER PRIMARY KEY);
        CREATE TABLE leaf(id INTEGER PRIMARY KEY, root INTEGER REFERENCES root);
        CREATE TABLE other(id INTEGER PRIMARY KEY);
        CREATE INDEX leaf_root ON leaf(root);
        INSERT INTO root VALUES(1);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
        INSERT INTO leaf SELECT i, 1 FROM n;
        """)
    let before = try store.dump()
    let receipt = try store.apply([.delete(Node("roots", .integer(1)))])
    store.sweepsInSteps(of: 10)
    return (store, receipt.batch!, before)
  }

  private static func undo(_ store: TestStore, _ batch: Int64, stopAfter pauses: Int) throws {
    #expect(throws: Stopped.self) {
      try store.writer.undo(batch, by: "me", at: 9, manners: .stopping(after: pauses))
    }
  }

  private static func leaves(_ store: TestStore) throws -> Int64? {
    try Connection(path: store.path, access: .readOnly).integer("SELECT count(*) FROM leaf")
  }

  @Test("Others write between two steps, and see what is back so far")
  func letsOthersWrite() throws {
    let (store, batch, _) = try UndoStepsTests.store()
    var seen: Set<Int64> = []
    let manners = StepPolicy { _ in
      seen.insert(try UndoStepsTests.leaves(store) ?? 0)
      try store.bySQL("INSERT INTO other VALUES(NULL)")
    }
    #expect(try store.writer.undo(batch, by: "me", at: 9, manners: manners).restored == 101)
    #expect(seen.count > 10)
  }

  @Test("What an application takes away again between two steps stays away")
  func followsTheApplication() throws {
    let (store, batch, _) = try UndoStepsTests.store()
    try UndoStepsTests.undo(store, batch, stopAfter: 6)
    #expect(try UndoStepsTests.leaves(store) ?? 0 > 0)
    try store.bySQL("DELETE FROM root WHERE id = 1")
    #expect(try store.writer.resumeUndo(at: 9, manners: .none)?.leftCount == 0)
    _ = try store.writer.sweep([.all], at: 10)
    #expect(try UndoStepsTests.leaves(store) == 0)
  }

  @Test("What objects refer to is known when it comes, though one was stopped", arguments: [2, 8])
  func remembersReferences(pauses: Int) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { relationships: [
            { name: 'up', from: 'leaves', to: 'roots', property: 'up',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'later', from: 'leaves', to: 'others', property: 'later' }] }
        """))
    func put(_ node: Node, _ value: String) -> Change {
      .put(node, type: nil, value: JSONText(valid: value), edges: nil)
    }
    let leaves = (1...50).map {
      put(Node("leaves", .integer($0)), #"{"up":"1","later":"x"}"#)
    }
    try store.apply([put(node("roots/1"), "{}")] + leaves)
    let batch = try #require(try store.apply([.delete(node("roots/1"))]).batch)
    store.sweepsInSteps(of: 10)
    try UndoStepsTests.undo(store, batch, stopAfter: pauses)
    try store.reopen()
    #expect(try store.writer.resumeUndo(at: 9, manners: .none)?.leftCount == 0)
    #expect(try store.apply([put(node("others/x"), "{}")]).edgesAdded == 50)
  }

  @Test("One that cannot go on is not tried again by itself, and can be by hand")
  func isGivenUp() throws {
    let (store, batch, before) = try UndoStepsTests.store()
    try UndoStepsTests.undo(store, batch, stopAfter: 4)
    try store.bySQL(
      "CREATE TRIGGER t AFTER INSERT ON leaf BEGIN SELECT RAISE(ROLLBACK, 'no more'); END")
    #expect(throws: UndoFailed.self) { try store.writer.resumeUndo(at: 9, manners: .none) }
    #expect(try store.writer.resumeUndo(at: 9, manners: .none)?.batch == nil)
    try store.bySQL("DROP TRIGGER t")
    #expect(try store.writer.undo(batch, by: "me", at: 9).leftCount == 0)
    #expect(try store.dump() == before)
  }
}
