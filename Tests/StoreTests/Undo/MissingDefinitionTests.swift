import CascadeModel
import CascadeEngine
import CascadeStore
import SQLiteJournal
import SQLiteStore
import SQLiteSweeps
import SQLiteUndo
import StoreDefinition
import StoreFixtures
import Testing

/// Schemas that use a function or a collation that only their application defines. The text of the
/// schema is changed afterwards, because SQLite would refuse to create it here.
@Suite("What only the application defines")
struct MissingDefinitionTests {
  private func store(
    book: String = "id INTEGER PRIMARY KEY, shelf INTEGER, title TEXT", more: String = "",
    undo: String = "", settings: String = ""
  ) throws -> TestStore {
    try TestStore(
      model: StoreModel(
        """
        { collections: {
            shelves: { table: "shelf", key: "id" }, books: { table: "book", key: "id"\(undo) },
            tags: { table: "tag", key: "name" }, notes: { table: "note", key: "id" },
            labels: { table: "label", key: "id" } },
          relationships: [
            { name: "shelf", from: "books", to: "shelves", column: "shelf",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "tag", from: "notes", to: "tags", column: "tag",
              rules: ["deleteDestinationIfAllSourcesDeleted"] },
            { name: "shelf", from: "labels", to: "shelves", column: "shelf",
              rules: ["deleteSourceIfDestinationDeleted"] } ]
          \(settings) }
        """),
      schema: """
        CREATE TABLE shelf(id INTEGER PRIMARY KEY);
        CREATE TABLE book(\(book));
        CREATE TABLE tag(name TEXT PRIMARY KEY COLLATE NOCASE);
        CREATE TABLE note(id INTEGER PRIMARY KEY, tag TEXT);
        CREATE TABLE label(id INTEGER PRIMARY KEY, shelf INTEGER);
        INSERT INTO shelf VALUES(1), (2);
        INSERT INTO book(id, shelf, title) VALUES(1, 1, 'A'), (2, 2, 'B');
        INSERT INTO tag VALUES('x'), ('y');
        INSERT INTO note VALUES(1, 'x'), (2, 'y');
        INSERT INTO label VALUES(1, 1), (2, 2);
        \(more);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'lower(', 'title_sort(');
        """)
  }

  private func sweep(_ store: TestStore) throws -> SweepResult {
    try store.writer.sweep([.cascade, .refcount], at: 0)
  }

  private func kinds(_ store: TestStore) throws -> Set<SetupFinding.Kind> {
    Set(try store.reader.checkSetup().map(\.kind))
      .intersection([.cannotDelete, .cannotUndo, .undoneWithout])
  }

  @Test("A CHECK that cannot be evaluated here is left out when a row comes back")
  func check() throws {
    let store = try store(
      book: "id INTEGER PRIMARY KEY, shelf INTEGER, title TEXT CHECK(lower(title) <> '')")
    #expect(try kinds(store) == [.undoneWithout])
    let before = try store.texts("SELECT id || title FROM book")
    let receipt = try store.apply([.delete(Node("shelves", .integer(1)))])
    let result = try store.undo(receipt)
    #expect(try store.texts("SELECT id || title FROM book") == before)
    #expect(result.remarks.count == 1 && result.leftCount == 0)
  }

  @Test("A trigger that cannot run here is told before anything is deleted")
  func trigger() throws {
    let store = try store(
      more: "CREATE TRIGGER t AFTER INSERT ON book BEGIN SELECT lower(new.title); END")
    #expect(try kinds(store) == [.undoneWithout])
  }

  @Test(
    "Rows that could never come back stay, and what else follows goes",
    arguments: ["VIRTUAL", "STORED"])
  func generated(storage: String) throws {
    let book = """
      id INTEGER PRIMARY KEY, shelf INTEGER, title TEXT, sort AS (lower(title)) \(storage)
      """
    let store = try store(book: book)
    #expect(try kinds(store) == [.cannotUndo])
    try store.bySQL("DELETE FROM shelf WHERE id = 1")
    let result = try sweep(store)
    #expect(result.blocked.compactMap(\.node) == [Node("books", .integer(1))])
    #expect(try store.texts("SELECT id FROM book") == ["1", "2"])
    #expect(try store.texts("SELECT id FROM label") == ["2"])
    #expect(throws: Rejection.self) { try store.apply([.delete(Node("books", .integer(2)))]) }
  }

  @Test(
    "Rows that could never come back go where the model says so",
    arguments: [(", undo: false", ""), ("", #", trash: "0""#)])
  func allowed(undo: String, settings: String) throws {
    let store = try store(
      book: "id INTEGER PRIMARY KEY, shelf INTEGER, title TEXT, sort AS (lower(title))", undo: undo,
      settings: settings)
    try store.bySQL("DELETE FROM shelf WHERE id = 1")
    #expect(try sweep(store).blocked.isEmpty)
    #expect(try store.texts("SELECT id FROM book") == ["2"])
  }

  @Test("An index that cannot be kept here keeps the rows, and only them")
  func index() throws {
    let store = try store(more: "CREATE INDEX book_title ON book(lower(title))")
    #expect(try kinds(store) == [.cannotDelete])
    try store.bySQL("DELETE FROM label; DELETE FROM note WHERE id = 1")
    try store.apply([.put(Node("shelves", .integer(3)), type: nil, value: nil, edges: nil)])
    let result = try sweep(store)
    #expect(result.blocked.isEmpty)
    #expect(try store.texts("SELECT name FROM tag") == ["y"])
    #expect(throws: Rejection.self) { try store.apply([.delete(Node("shelves", .integer(1)))]) }
  }

  @Test("A key that only the application can compare stops what it can affect, and nothing else")
  func contained() throws {
    let store = try store(
      more: """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'unicase') WHERE name = 'tag'
        """)
    #expect(store.writer.bindingProblems.map(\.path).contains("collections.tags"))
    try store.bySQL("DELETE FROM shelf WHERE id = 1; DELETE FROM note WHERE id = 1")
    let result = try sweep(store)
    #expect(result.blocked.isEmpty)
    #expect(try store.texts("SELECT id FROM book") == ["2"])
    #expect(throws: Rejection.self) { try store.apply([.delete(Node("notes", .integer(2)))]) }
    #expect(try store.writer.sweep([.unreachable], at: 0).outcome != .done)
  }
}
