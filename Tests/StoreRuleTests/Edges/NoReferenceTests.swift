import CascadeModel
import CascadeStore
import SQLiteJournal
import SQLiteStore
import SQLiteBinding
import SQLiteTables
import SQLiteUndo
import StoreDefinition
import StoreFixtures
import Testing

/// Applications write 0, -1 or '' for "no parent". With `none` in the model, such a value is no
/// reference, wherever it is written.
@Suite("Values that refer to nothing")
struct NoReferenceTests {
  private static let deletes = "rules: ['deleteSourceIfDestinationDeleted']"

  private func model(_ relationships: String) throws -> StoreModel {
    try StoreModel(
      """
      { collections: { rows: { table: 'r', key: 'id' }, others: { table: 'o', key: 'id' } },
        relationships: [\(relationships)] }
      """)
  }

  private func store(_ place: String, _ schema: String, _ rest: String = deletes) throws
    -> TestStore
  {
    try TestStore(
      model: model("{ name: 'x', from: 'rows', to: 'others', \(place), \(rest) }"),
      schema: "CREATE TABLE o(id INTEGER PRIMARY KEY); INSERT INTO o VALUES(1), (2); \(schema)")
  }

  private func sweptRows(_ store: TestStore) throws -> [String] {
    for _ in 0..<2 { _ = try store.writer.sweep([.all], at: 1) }
    return try store.texts("SELECT id FROM r ORDER BY id")
  }

  @Test(
    "The value compares as its column does",
    arguments: [
      ("INTEGER", "[0]", "0"), ("INTEGER", "['0']", "0"), ("TEXT", "[0]", "'0'"),
      ("TEXT COLLATE NOCASE", "['none']", "'NONE'"), ("", "['']", "''"), ("REAL", "[-1]", "-1.0"),
      ("BLOB", "[\"x'00'\"]", "x'00'"), ("NUMERIC", "['', 0]", "'0'"),
    ])
  func compares(type: String, none: String, written: String) throws {
    let store = try store(
      "column: 'x', none: \(none)", "CREATE TABLE r(id INTEGER PRIMARY KEY, x \(type))")
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("INSERT INTO r VALUES(1, \(written)), (2, 99), (3, 1)")
    #expect(try sweptRows(store) == ["1", "3"])
    #expect(try store.reader.checkReferences().list.isEmpty)
    #expect(try store.edges().count == 1)
  }

  @Test("A column without a type keeps a text apart from the number")
  func untyped() throws {
    let store = try store(
      "column: 'x', none: [5]", "CREATE TABLE r(id INTEGER PRIMARY KEY, x)")
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("INSERT INTO r VALUES(1, 5), (2, '5')")
    #expect(try sweptRows(store) == ["1"])
  }

  @Test(
    "In every place where an edge may be",
    arguments: [
      (
        "join: { table: 'j', source: 's', destination: 'd' }", "",
        "INSERT INTO j VALUES(1, 0), (0, 1)"
      ),
      ("column: 'x', typeColumn: 't', to: { O: 'others' }", "0, 'O', NULL", ""),
      ("property: 'doc.x'", #"NULL, NULL, '{"x": 0}'"#, ""),
      ("property: 'doc.x', toMany: true", #"NULL, NULL, '{"x": [1, 0, "0"]}'"#, ""),
    ])
  func places(place: String, row: String, more: String) throws {
    let to = place.contains("to: {") ? "" : "to: 'others',"
    let store = try TestStore(
      model: model("{ name: 'x', from: 'rows', \(to) \(place), none: [0], \(Self.deletes) }"),
      schema: """
        CREATE TABLE o(id INTEGER PRIMARY KEY); INSERT INTO o VALUES(1);
        CREATE TABLE r(id INTEGER PRIMARY KEY, x, t, doc); CREATE TABLE j(s, d);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("INSERT INTO r VALUES(1, \(row.isEmpty ? "NULL, NULL, NULL" : row)); \(more)")
    #expect(try sweptRows(store) == ["1"])
    #expect(try store.reader.checkReferences().list.isEmpty)
    if !more.isEmpty { #expect(try store.texts("SELECT count(*) FROM j") == ["2"]) }
  }

  @Test("A row with such a key holds nothing, and goes with nobody")
  func keyOfNone() throws {
    let store = try store(
      "column: 'x', none: [2]", "CREATE TABLE r(id INTEGER PRIMARY KEY, x)",
      "rules: ['denyDestinationDeletion']")
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("INSERT INTO r VALUES(1, 2), (2, 1); DELETE FROM o WHERE id = 2")
    #expect(try sweptRows(store) == ["1", "2"])
    #expect(throws: (any Error).self) { try store.bySQL("DELETE FROM o WHERE id = 1") }
  }

  @Test("Nullifying writes the first of them where the column is NOT NULL")
  func nullifies() throws {
    let rule = "none: [-1, 0], rules: ['nullifySourceIfDestinationDeleted']"
    for (type, left) in [("INTEGER NOT NULL", "-1"), ("INTEGER", "")] {
      let store = try store(
        "column: 'x'", "CREATE TABLE r(id INTEGER PRIMARY KEY, x \(type))", rule)
      _ = try store.writer.sweep([.all], at: 0)
      try store.bySQL("INSERT INTO r VALUES(1, 1); DELETE FROM o WHERE id = 1")
      let batch = try store.writer.sweep([.cascade], at: 1).batch
      #expect(try store.texts("SELECT coalesce(x, '') FROM r") == [left])
      try store.bySQL("INSERT INTO o VALUES(1)")
      _ = try store.writer.undo(#require(batch), by: "test", at: 2)
      #expect(try store.texts("SELECT x FROM r") == ["1"])
    }
  }

  @Test("A type that may not be NULL stays beside it")
  func nullifiesTyped() throws {
    let store = try TestStore(
      model: model(
        """
        { name: 'x', from: 'rows', column: 'x', typeColumn: 't', to: { O: 'others' }, none: [''],
          rules: ['nullifySourceIfDestinationDeleted'] }
        """),
      schema: """
        CREATE TABLE o(id TEXT PRIMARY KEY); INSERT INTO o VALUES('a');
        CREATE TABLE r(id INTEGER PRIMARY KEY, x TEXT NOT NULL, t TEXT NOT NULL);
        INSERT INTO r VALUES(1, 'a', 'O');
        """)
    try store.bySQL("DELETE FROM o")
    _ = try store.writer.sweep([.cascade], at: 1)
    #expect(try store.texts("SELECT x || t FROM r") == ["O"])
  }

  @Test("It counts as missing where a reference is mandatory")
  func mandatory() throws {
    let store = try store(
      "column: 'x'", "CREATE TABLE r(id INTEGER PRIMARY KEY, x)", "none: [0], optional: false")
    let put = Change.put(
      Node("rows", .integer(1)), type: nil, value: JSONText(valid: #"{"x":0}"#), edges: nil)
    #expect(try store.reasons([put]).map(\.code) == [.missingMandatory])
    try store.bySQL("INSERT INTO r VALUES(1, 0)")
    #expect(try store.reader.checkReferences().list.map(\.kind) == ["missingMandatory"])
  }

  @Test("A foreign key that sets such a default has removed the reference")
  func setDefault() throws {
    let store = try store(
      "column: 'x'",
      """
      CREATE TABLE r(id INTEGER PRIMARY KEY,
        x DEFAULT 0 REFERENCES o ON DELETE SET DEFAULT DEFERRABLE INITIALLY DEFERRED)
      """, "none: [0], \(Self.deletes)")
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL(
      "INSERT INTO o VALUES(0); INSERT INTO r VALUES(1, 1); PRAGMA foreign_keys = ON; "
        + "DELETE FROM o WHERE id = 1")
    #expect(try sweptRows(store) == [])
  }

  @Test("In an object a number and its digits are the same value")
  func objects() throws {
    let store = try TestStore("property: 'p', toMany: true, none: [0, ''], \(Self.deletes)")
    let value = #"{"p":["0",0,""]}"#
    try store.apply([
      .put(Node("n", .text("A")), type: nil, value: JSONText(valid: value), edges: nil)
    ])
    #expect(try store.edges().isEmpty)
    #expect(try store.texts("SELECT count(*) FROM cascade_dangling_reference") == ["0"])
  }

  @Test("A value that no longer means nothing is looked at again")
  func changedModel() throws {
    let schema = """
      CREATE TABLE o(id INTEGER PRIMARY KEY); CREATE TABLE r(id INTEGER PRIMARY KEY, x);
      INSERT INTO r VALUES(1, 0);
      """
    func relationship(_ none: String) throws -> StoreModel {
      try model("{ name: 'x', from: 'rows', to: 'others', column: 'x', \(none) \(Self.deletes) }")
    }
    let store = try TestStore(model: relationship("none: [0],"), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    #expect(try store.meta("first_watch") == nil)
    let writer = try Writer(path: store.path, model: relationship(""))
    #expect(try writer.rescanReason == .firstWatch)
  }
}
