import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Applications write 0, -1 or '' for "no parent". With `none` in the model, such a value is no
/// reference, wherever it is written.
@Suite("Values for nothing on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct NoReferenceTests {
  private static let deletes = "rules: ['deleteSourceIfDestinationDeleted']"

  private static func store(
    _ place: String, _ schema: String, _ rest: String = deletes
  ) throws -> PostgresFixture {
    let to = place.contains("to:") ? "" : "to: 'others',"
    let store = try PostgresFixture(
      """
      { collections: { rows: { table: 'r', key: 'id' }, others: { table: 'o', key: 'id' } },
        relationships: [{ name: 'x', from: 'rows', \(to) \(place), \(rest) }] }
      """, schema: "CREATE TABLE o(id int PRIMARY KEY); INSERT INTO o VALUES(1), (2); \(schema)")
    try store.sweep([.all])
    return store
  }

  private static func sweptRows(_ store: PostgresFixture) throws -> [String] {
    for _ in 0..<2 { try store.sweep([.all]) }
    return try store.texts("SELECT id FROM r ORDER BY id")
  }

  @Test(
    "The value compares as its column does",
    arguments: [
      ("int", "[0]", "0"), ("smallint", "['0']", "0"), ("text", "['none', '']", "''"),
      ("text", "[0]", "'0'"), ("varchar(9)", "[-1]", "'-1'"),
    ])
  func compares(type: String, none: String, written: String) throws {
    let store = try Self.store(
      "column: 'x', none: \(none)", "CREATE TABLE r(id int PRIMARY KEY, x \(type))")
    try store.bySQL("INSERT INTO r VALUES(1, \(written)), (2, '99'), (3, '1')")
    #expect(try Self.sweptRows(store) == ["1", "3"])
    #expect(try store.reader.checkReferences(limit: 9).list.isEmpty)
    #expect(try store.reader.edges(EdgeQuery()).edges.count == 1)
  }

  @Test(
    "In every place where an edge may be",
    arguments: [
      (
        "join: { table: 'j', source: 's', destination: 'd' }", "",
        "INSERT INTO j VALUES(1, 0), (0, 1)"
      ),
      ("column: 'x', typeColumn: 't', to: { O: 'others' }", "0, 'O', NULL, NULL", ""),
      ("property: 'doc.x'", #"NULL, NULL, '{"x": 0}', NULL"#, ""),
      ("property: 'doc.x', toMany: true", #"NULL, NULL, '{"x": [1, 0, "0"]}', NULL"#, ""),
      ("property: 'list', toMany: true", "NULL, NULL, NULL, '{1,0}'", ""),
    ])
  func places(place: String, row: String, more: String) throws {
    let store = try Self.store(
      place,
      "CREATE TABLE r(id int PRIMARY KEY, x int, t text, doc jsonb, list int[]); "
        + "CREATE TABLE j(s int, d int);", "none: [0], \(Self.deletes)")
    try store.bySQL(
      "INSERT INTO r VALUES(1, \(row.isEmpty ? "NULL, NULL, NULL, NULL" : row)); \(more)")
    #expect(try Self.sweptRows(store) == ["1"])
    #expect(try store.reader.checkReferences(limit: 9).list.isEmpty)
    if !more.isEmpty { #expect(try store.texts("SELECT count(*) FROM j") == ["2"]) }
  }

  @Test("A row with such a key holds nothing, and goes with nobody")
  func keyOfNone() throws {
    let store = try Self.store(
      "column: 'x', none: [2]", "CREATE TABLE r(id int PRIMARY KEY, x int)",
      "rules: ['denyDestinationDeletion', 'notifyIfDestinationDeleted']")
    try store.bySQL("INSERT INTO r VALUES(1, 2), (2, 1); DELETE FROM o WHERE id = 2")
    #expect(try Self.sweptRows(store) == ["1", "2"])
    #expect(try store.reader.notices(after: 0, limit: 9).isEmpty)
    #expect(throws: PostgresError.self) { try store.bySQL("DELETE FROM o WHERE id = 1") }
  }

  @Test("Nullifying writes the first of them where the column is NOT NULL")
  func nullifies() throws {
    for (type, left) in [("int NOT NULL", "-1"), ("int", "")] {
      let store = try Self.store(
        "column: 'x'", "CREATE TABLE r(id int PRIMARY KEY, x \(type))",
        "none: [-1, 0], rules: ['nullifySourceIfDestinationDeleted']")
      try store.bySQL("INSERT INTO r VALUES(1, 1); DELETE FROM o WHERE id = 1")
      let batch = try store.sweep().batch
      #expect(try store.texts("SELECT coalesce(x::text, '') FROM r") == [left])
      try store.bySQL("INSERT INTO o VALUES(1)")
      _ = try store.writer.undo(#require(batch), by: "test", at: 2)
      #expect(try store.texts("SELECT x FROM r") == ["1"])
    }
  }

  @Test("A type that may not be NULL stays beside it")
  func nullifiesTyped() throws {
    let store = try Self.store(
      "column: 'x', typeColumn: 't', to: { O: 'others' }",
      "CREATE TABLE r(id int PRIMARY KEY, x text NOT NULL, t text NOT NULL)",
      "none: [''], rules: ['nullifySourceIfDestinationDeleted']")
    try store.bySQL("INSERT INTO r VALUES(1, '1', 'O'); DELETE FROM o")
    let batch = try store.sweep().batch
    #expect(try store.texts("SELECT x || t FROM r") == ["O"])
    try store.bySQL("INSERT INTO o VALUES(1)")
    _ = try store.writer.undo(#require(batch), by: "test", at: 2)
    #expect(try store.texts("SELECT x || t FROM r") == ["1O"])
  }

  @Test("It counts as missing where a reference is mandatory")
  func mandatory() throws {
    let store = try Self.store(
      "column: 'x'", "CREATE TABLE r(id int PRIMARY KEY, x int)", "none: [0], optional: false")
    let put = Change.put(
      Node("rows", .integer(1)), type: nil, value: JSONText(valid: #"{"x":0}"#), edges: nil)
    let rejection = #expect(throws: Rejection.self) { try store.apply([put]) }
    #expect(rejection?.reasons.map(\.code) == [.missingMandatory])
    try store.bySQL("INSERT INTO r VALUES(1, 0)")
    #expect(try store.reader.checkReferences(limit: 9).list.map(\.kind) == ["missingMandatory"])
  }
}
