import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteUndo
import StoreDefinition
import StoreFixtures
import Testing

/// Rows come back as they were, also where the application's triggers would write them otherwise.
@Suite("Undo beside the application's triggers")
struct UndoTriggerTests {
  private static let schema = """
    CREATE TABLE shelf(id INTEGER PRIMARY KEY, books INTEGER);
    CREATE TABLE book(id INTEGER PRIMARY KEY, shelf INTEGER, title TEXT, sort TEXT);
    CREATE TABLE log(text TEXT);
    INSERT INTO shelf VALUES(1, 2), (2, 1);
    INSERT INTO book VALUES(1, 1, 'The Sea', 'Sea, The'), (2, 1, 'B', x'00ff'), (3, 2, 'C', NULL);
    """

  private static func model(_ rule: String) -> String {
    """
    { collections: { shelves: { table: "shelf", key: "id" }, books: { table: "book", key: "id" } },
      relationships: [
        { name: "shelf", from: "books", to: "shelves", column: "shelf", rules: ["\(rule)"] } ] }
    """
  }

  private func store(
    _ sql: String, rule: String = "deleteSourceIfDestinationDeleted"
  ) throws -> TestStore {
    try TestStore(
      model: StoreModel(UndoTriggerTests.model(rule)), schema: UndoTriggerTests.schema + sql)
  }

  private func rows(_ store: TestStore) throws -> [String] {
    try store.texts("SELECT id || ' ' || books FROM shelf")
      + store.texts("SELECT id || quote(shelf) || quote(title) || quote(sort) FROM book")
  }

  /// Deletes a shelf with its books, and undoes that.
  private func deleteAndUndo(_ store: TestStore) throws -> UndoResult {
    try store.undo(store.apply([.delete(Node("shelves", .integer(1)))]))
  }

  @Test("A trigger that writes the row runs, and the row is as it was")
  func rewritten() throws {
    let store = try store(
      """
      CREATE TRIGGER sort AFTER INSERT ON book BEGIN
        UPDATE book SET sort = upper(new.title), shelf = 7 WHERE id = new.id;
        INSERT INTO log VALUES('added ' || new.id);
      END;
      """)
    let before = try rows(store)
    let result = try deleteAndUndo(store)
    #expect(try rows(store) == before)
    #expect(result.leftCount == 0 && result.restored == 3 && result.remarks.isEmpty)
    #expect(try store.texts("SELECT text FROM log") == ["added 1", "added 2"])
  }

  @Test("What the trigger of one row writes into another row that comes back is taken back")
  func counted() throws {
    let store = try store(
      """
      CREATE TRIGGER added AFTER INSERT ON book BEGIN
        UPDATE shelf SET books = books + 1 WHERE id = new.shelf;
      END;
      CREATE TRIGGER moved AFTER UPDATE OF shelf ON book BEGIN
        UPDATE shelf SET books = books + 1 WHERE id = new.shelf;
      END;
      """)
    let before = try rows(store)
    _ = try deleteAndUndo(store)
    #expect(try rows(store) == before)
  }

  @Test("A row that lost a reference and then went has what it had when it went")
  func nullified() throws {
    let store = try store(
      """
      CREATE TRIGGER moved AFTER UPDATE OF shelf ON book WHEN new.shelf IS NOT NULL BEGIN
        UPDATE shelf SET books = books + 1 WHERE id = new.shelf;
        UPDATE book SET shelf = NULL WHERE id = new.id;
      END;
      """, rule: "nullifySourceIfDestinationDeleted")
    let before = try rows(store)
    let result = try deleteAndUndo(store)
    #expect(try rows(store) == before)
    #expect(result.references == 2)
  }

  @Test(
    "A trigger that cannot run here, refuses the row or removes it is left out",
    arguments: [
      "AFTER INSERT ON book BEGIN SELECT title_sort(new.title)",
      "BEFORE INSERT ON book BEGIN SELECT RAISE(ABORT, 'no')",
      "BEFORE INSERT ON book BEGIN SELECT RAISE(IGNORE)",
      "AFTER INSERT ON book BEGIN DELETE FROM book WHERE id = new.id",
      "AFTER INSERT ON book BEGIN UPDATE book SET id = -id WHERE id = new.id",
    ])
  func leftOut(trigger: String) throws {
    let store = try store("CREATE TRIGGER t \(trigger); END;")
    let before = try rows(store)
    let result = try deleteAndUndo(store)
    #expect(try rows(store) == before)
    #expect(result.leftCount == 0 && result.restored == 3)
    #expect(result.remarks.count == 1)
  }

  @Test("A reference comes back where a trigger cannot run here, or refuses it")
  func references() throws {
    for body in ["SELECT title_sort(new.title)", "SELECT RAISE(ABORT, 'no')"] {
      let store = try store("", rule: "nullifySourceIfDestinationDeleted")
      let before = try rows(store)
      let receipt = try store.apply([.delete(Node("shelves", .integer(1)))])
      try store.bySQL("CREATE TRIGGER t AFTER UPDATE ON book BEGIN \(body); END;")
      let result = try store.undo(receipt)
      #expect(try rows(store) == before)
      #expect(result.remarks.count == 1 && result.references == 2)
    }
  }

  @Test("In steps, too, a row is as it was")
  func inSteps() throws {
    let store = try store(
      """
      CREATE TRIGGER sort AFTER INSERT ON book BEGIN
        UPDATE book SET sort = upper(new.title) WHERE id = new.id;
      END;
      """)
    let before = try rows(store)
    let receipt = try store.apply([.delete(Node("shelves", .integer(1)))])
    _ = try store.withSteps(of: 1) { try store.undo(receipt) }
    #expect(try rows(store) == before)
  }
}
