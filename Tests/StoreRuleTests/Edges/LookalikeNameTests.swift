import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteJournal
import SQLiteSweeps
import SQLiteEdges

/// Names that are two for SQLite, though they look alike to somebody.
@Suite("Names that look alike")
struct LookalikeNameTests {
  private func store(_ one: String, _ other: String, refersBy column: String) throws -> TestStore {
    try TestStore(
      model: StoreModel(
        """
        { collections: { p: { table: 'p', key: 'id' }, c: { table: 'c', key: '\(one)' } },
          relationships: [ { name: 'p', from: 'c', to: 'p', column: '\(column)',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE p(id TEXT PRIMARY KEY);
        CREATE TABLE c("\(one)" TEXT PRIMARY KEY, "\(other)" TEXT, p TEXT);
        CREATE INDEX c_other ON c("\(other)");
        CREATE INDEX c_p ON c(p);
        INSERT INTO p VALUES('1'), ('2');
        INSERT INTO c VALUES('1', '2', '2');
        """)
  }

  @Test("Letters outside of ASCII are not the same in both cases", arguments: ["é", "p"])
  func cases(column: String) throws {
    let store = try store("É", "é", refersBy: column)
    try store.bySQL("DELETE FROM p WHERE id = '1'")
    #expect(try store.writer.sweep([.all], at: 0).deletedCount == 0)
    let before = try store.texts("SELECT * FROM c")
    try store.bySQL("DELETE FROM p WHERE id = '2'")
    let swept = try store.writer.sweep([.all], at: 1)
    #expect(swept.deletedCount == 1)
    _ = try store.undo(#require(swept.batch), .atOnce)
    #expect(try store.texts("SELECT * FROM c") == before)
  }

  @Test("Letters that are composed in two ways are refused, with their names")
  func composed() throws {
    let store = try store("\u{e9}", "e\u{301}", refersBy: "p")
    #expect(
      store.writer.bindingProblems.first?.message
        == "columns of table \"c\" that look alike cannot be distinguished: \"\u{e9}\" and \"e\u{301}\""
    )
  }

  @Test("Of collections whose names look alike there is one")
  func collections() throws {
    let (one, other) = ("caf\u{e9}", "cafe\u{301}")
    let store = try TestStore()
    try store.apply([put("\(one)/a"), put("\(one)/\(one)"), put("\(one)/\(other)")])
    #expect(throws: Rejection.self) { try store.apply([put("\(other)/a")]) }
    let model = try StoreModel("{ collections: { '\(other)': {} } }")
    let writer = try Writer(path: store.path, model: model)
    try writer.adaptToSchema()
    #expect(writer.bindingProblems.count == 1)
    #expect(throws: (any Error).self) {
      try StoreModel("{ collections: { '\(one)': {}, '\(other)': {} } }")
    }
    // Of keys there are two.
    #expect(node("\(one)/\(one)") != node("\(one)/\(other)"))
    #expect(try store.apply([delete("\(one)/\(other)")]).deleted == [node("\(one)/\(other)")])
    #expect(try store.reader.batches(after: 0, limit: 9).first?.deletedCount == 1)
  }

  @Test("A chain goes on through keys that look alike")
  func chain() throws {
    let (one, other) = ("\u{e9}", "e\u{301}")
    let store = try TestStore()
    try store.run("x/a x/\(one) x/\(other) x/z")
    try store.run("x/a-8>x/\(one) x/\(one)-8>x/\(other) x/\(other)-8>x/z")
    try store.apply([delete("x/a")])
    guard case .deleted(let deletion) = try store.reader.why(node("x/z")) else {
      Issue.record("nothing is known of it")
      return
    }
    #expect(deletion.chain.count == 4)
    #expect(Set([node("x/\(one)"), node("x/\(other)")]).count == 2)
  }
}
