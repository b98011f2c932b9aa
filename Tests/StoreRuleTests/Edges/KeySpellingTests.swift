import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// A key that compares without regard to case has one row, however a reference spells it.
@Suite("Spellings of one key")
struct KeySpellingTests {
  private func store(_ rule: String) throws -> TestStore {
    let rules = "rules: ['\(rule)']"
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
          relationships: [
            { name: 'one', from: 'b', to: 'a', column: 'one', \(rules) },
            { name: 'list', from: 'b', to: 'a', property: 'list', toMany: true, \(rules) },
            { name: 'join', from: 'b', to: 'a', toMany: true, \(rules),
              join: { table: 'ba', source: 'b', destination: 'a' } },
          ] }
        """),
      schema: """
        CREATE TABLE a(id TEXT COLLATE NOCASE PRIMARY KEY);
        CREATE TABLE b(id INTEGER PRIMARY KEY, one TEXT, list TEXT);
        CREATE TABLE ba(b INTEGER, a TEXT);
        INSERT INTO a VALUES('K'), ('L'), ('M');
        INSERT INTO b VALUES(1, 'K', '["L"]'), (2, NULL, '["l"]');
        INSERT INTO ba VALUES(1, 'M');
        """)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  @Test("A reference that is spelt anew leads where it led")
  func respelt() throws {
    let store = try store("deleteDestinationIfSourceDeleted")
    try store.bySQL("UPDATE b SET one = 'k', list = '[\"l\"]' WHERE id = 1; UPDATE ba SET a = 'm'")
    #expect(try store.writer.sweep([.cascade], at: 1).deletedCount == 0)
    try store.bySQL("UPDATE b SET one = 'm' WHERE id = 1")
    #expect(try store.writer.sweep([.cascade], at: 2).deletedCount == 1)
    #expect(try store.texts("SELECT id FROM a ORDER BY id") == ["L", "M"])
  }

  @Test(
    "What SQLite takes for no number names no row with one",
    arguments: ["0x10", "16\u{0}", "nan", "1e"])
  func noNumbers(key: String) throws {
    let store = try TestStore(
      model: StoreModel("{ collections: { a: { table: 'a', key: 'id' } } }"),
      schema: "CREATE TABLE a(id INTEGER PRIMARY KEY); INSERT INTO a VALUES(16), (0), (1)")
    #expect(try store.apply([.delete(Node("a", .text(key)))]).deletedCount == 0)
    #expect(try store.texts("SELECT id FROM a") == ["0", "1", "16"])
    for text in [" 16 ", "+0", "1.0"] {
      #expect(try store.apply([.delete(Node("a", .text(text)))]).deletedCount == 1)
    }
  }

  /// SQLite makes no text of a number in such a column, and finds nothing by it.
  @Test("A number in a column without a type is no reference to a text")
  func untyped() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
          relationships: [
            { name: 'c', from: 'b', to: 'a', column: 'c',
              rules: ['deleteDestinationIfSourceDeleted', 'deleteSourceIfDestinationDeleted'] },
            { name: 't', from: 'b', to: 'a', column: 't',
              rules: ['deleteSourceIfDestinationDeleted'] },
          ] }
        """),
      schema: """
        CREATE TABLE a(id TEXT PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY, c, t TEXT);
        INSERT INTO a VALUES('16');
        """)
    let row = { (id: Int64, column: String, value: JSON) in
      Change.put(
        Node("b", .integer(id)), type: nil, value: JSONText([column: value]), edges: nil)
    }
    try store.apply([row(1, "c", 16), row(2, "t", "16")])
    try store.bySQL("INSERT INTO b VALUES(3, 16, NULL), (4, '16', NULL)")
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 0)
    try store.bySQL("DELETE FROM b WHERE id IN (1, 3)")
    #expect(try store.writer.sweep([.all], at: 2).deletedCount == 0)
    #expect(try store.texts("SELECT id FROM a UNION ALL SELECT id FROM b") == ["16", "2", "4"])
    try store.bySQL("DELETE FROM b WHERE id = 4")
    #expect(try store.writer.sweep([.all], at: 3).deletedCount == 2)
  }

  @Test("A number leads to the text that reads like it")
  func numbers() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
          relationships: [ { name: 'one', from: 'b', to: 'a', column: 'one',
            rules: ['nullifySourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE a(id TEXT PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY, one INTEGER);
        INSERT INTO a VALUES('17'), ('018'), ('x'); INSERT INTO b VALUES(1, 17), (2, 18), (3, 19);
        """)
    let dangling = try store.reader.checkReferences().list
    #expect(dangling.map(\.node) == [Node("b", .integer(3))])
    _ = try store.writer.sweep([.all], at: 0)
    #expect(try store.texts("SELECT coalesce(one, '') FROM b") == ["17", "18", ""])
  }

  @Test("A list holds what it spells in its own way")
  func counted() throws {
    let store = try store("deleteDestinationIfAllSourcesDeleted")
    try store.bySQL("UPDATE b SET list = '[]' WHERE id = 1")
    #expect(try store.writer.sweep([.all], at: 1).outcome == .nothing)
    try store.bySQL("DELETE FROM b WHERE id = 2")
    #expect(try store.writer.sweep([.all], at: 2).deletedCount == 1)
    #expect(try store.texts("SELECT id FROM a ORDER BY id") == ["K", "M"])
  }

  @Test("A list denies the deletion of what it spells in its own way")
  func denied() throws {
    let store = try store("denyDestinationDeletion")
    #expect(try store.reasons([.delete(Node("a", .text("L")))]).count == 2)
  }

  @Test("A list loses what it spells in its own way")
  func nullified() throws {
    let store = try store("nullifySourceIfDestinationDeleted")
    try store.bySQL("DELETE FROM a WHERE id = 'L'")
    _ = try store.writer.sweep([.cascade], at: 1)
    #expect(try store.texts("SELECT list FROM b") == ["[]", "[]"])
  }

  @Test("A row that a flush deleted is one node with what the next change spells in another way")
  func behindFlush() throws {
    let store = try TestStore(
      model: StoreModel("{ collections: { a: { table: 'a', key: 'id' }, c: {} } }"),
      schema: "CREATE TABLE a(id TEXT PRIMARY KEY COLLATE NOCASE); INSERT INTO a VALUES('K');")
    func link(_ key: String) -> Change {
      .link(name: "to", from: node("c/1"), to: .node(node(key)), rules: 4)
    }
    try store.apply([
      put("c/1"), delete("a/K"), .flush, link("a/k"), put("a/K"), link("a/K"),
    ])
    #expect(try store.exists(node("c/1")))
    #expect(try store.edges().map(\.destination) == [.node(node("a/K"))])
  }
}
