import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// References in pairs of key and type, to several tables, and in documents.
@Suite(
  "Places of references on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PlaceTests {
  struct Place: Sendable, CustomTestStringConvertible {
    let model: String
    /// The columns of the source, and their values where it refers to nothing, and to $.
    let columns: String
    let nothing: String
    let reference: String

    func values(_ key: Int) -> String { reference.replacing("$", with: "\(key)") }
    var testDescription: String { model }
  }

  static let places = [
    Place(
      model: "to: { O: 'os', P: 'ps' }, column: 'x', typeColumn: 't'",
      columns: "x text, t varchar(9)", nothing: "NULL, NULL", reference: "'$', 'O'"),
    Place(
      model: "to: { '5': 'os', '6': 'ps' }, column: 'x', typeColumn: 't'",
      columns: "x bigint, t smallint", nothing: "NULL, NULL", reference: "$, 5"),
    Place(
      model: "to: { O: 'os', P: 'ps' }, column: 'x', typeColumn: 't'",
      columns: "x int, t kind", nothing: "NULL, NULL", reference: "$, 'O'"),
    Place(model: "to: 'os', column: 'x'", columns: "x number", nothing: "NULL", reference: "$"),
    Place(
      model: "to: ['os', 'ps'], column: 'x'", columns: "x int", nothing: "NULL", reference: "$"),
    Place(
      model: "to: 'os', column: 'x'", columns: "x varchar(9)", nothing: "NULL", reference: "'$'"),
    Place(
      model: "to: 'os', property: 'x.a.b', toMany: true", columns: "x jsonb",
      nothing: "'{\"c\": 1}'",
      reference: "'{\"a\": {\"b\": [$]}, \"c\": 1}'"),
    Place(
      model: "to: 'os', property: 'x.a.b'", columns: "x jsonb", nothing: "'[]'",
      reference: "'{\"a\": {\"b\": $}, \"c\": 1}'"),
    Place(
      model: "to: 'os', property: 'x', toMany: true", columns: "x text", nothing: "'no JSON'",
      reference: "'[$, null, \"$\"]'"),
    Place(
      model: "to: 'os', property: 'x.it''s'", columns: "x json", nothing: "'{}'",
      reference: "'{\"it''s\":   $}'"),
  ].map { place in
    Place(
      model: place.model.replacing("it''s", with: "it\\'s"), columns: place.columns,
      nothing: place.nothing, reference: place.reference)
  }

  static func store(_ place: Place, _ rules: String, _ more: String = "") throws -> PostgresFixture
  {
    let store = try PostgresFixture(
      """
      { collections: { rows: { table: 'r', key: 'id' }, os: { table: 'o', key: 'id' },
          ps: { table: 'p', key: 'id' } },
        relationships: [{ name: 'x', from: 'rows', \(place.model), \(more) rules: [\(rules)] }] }
      """,
      schema: """
        CREATE TYPE kind AS ENUM ('O', 'P');
        CREATE DOMAIN small AS int CHECK(VALUE < 100); CREATE DOMAIN number AS small;
        CREATE TABLE o(id number PRIMARY KEY); INSERT INTO o VALUES(1), (2), (3);
        CREATE TABLE p(id int PRIMARY KEY);
        CREATE TABLE r(id int PRIMARY KEY, \(place.columns));
        INSERT INTO r VALUES(1, \(place.values(1))), (2, \(place.values(2))), (3, \(place.nothing));
        """)
    try store.sweep([.all])
    return store
  }

  private static let rows = "SELECT r::text FROM r ORDER BY id"
  private static let keys = "SELECT id FROM r ORDER BY id"

  @Test("A row goes with what it refers to, and an undo brings it back", arguments: places)
  func cascade(_ place: Place) throws {
    let store = try Self.store(place, "'deleteSourceIfDestinationDeleted'")
    let before = try store.texts(Self.rows)
    let plan = try store.reader.plan(deleting: [Node("os", .integer(1))], at: nil)
    #expect(plan.byCollection == ["os": 1, "rows": 1])
    try store.bySQL("DELETE FROM o WHERE id = 1")
    let result = try store.sweep()
    #expect(result.byCollection == ["rows": 1])
    #expect(try store.texts(Self.keys) == ["2", "3"])
    guard case .deleted(let deletion) = try store.reader.why(.node(Node("rows", .integer(1))))
    else {
      Issue.record("not deleted")
      return
    }
    #expect(deletion.chain.map { "\($0.node)" } == ["rows/1", "os/1"])
    try store.bySQL("INSERT INTO o VALUES(1)")
    _ = try store.writer.undo(#require(result.batch), by: "me", at: 5)
    #expect(try store.texts(Self.rows) == before)
    #expect(try store.sweep([.all]).outcome == .nothing)
  }

  @Test("Rule 64 leaves no reference, and an undo brings it back as it was", arguments: places)
  func nullify(_ place: Place) throws {
    let store = try Self.store(place, "'nullifySourceIfDestinationDeleted'")
    let before = try store.texts(Self.rows)
    try store.bySQL("DELETE FROM o WHERE id = 1")
    let result = try store.sweep()
    #expect(result.edgesRemoved == 1)
    let edges = try store.reader.edges(EdgeQuery()).edges
    #expect(edges.map { "\($0.source) \($0.destination.json.text)" } == ["rows/2 [\"os\",2]"])
    try store.bySQL("INSERT INTO o VALUES(1)")
    _ = try store.writer.undo(#require(result.batch), by: "me", at: 5)
    #expect(try store.texts(Self.rows) == before)
  }

  @Test("A deletion is refused while a row refers to it", arguments: places)
  func denial(_ place: Place) throws {
    let store = try Self.store(place, "'denyDestinationDeletion'")
    #expect(throws: PostgresError.self) { try store.bySQL("DELETE FROM o WHERE id = 1") }
    #expect(throws: Rejection.self) { try store.apply([.delete(Node("os", .integer(1)))]) }
    try store.bySQL("DELETE FROM r WHERE id = 1; DELETE FROM o WHERE id = 1")
    try store.bySQL("UPDATE r SET id = 20 WHERE id = 2")
    #expect(throws: PostgresError.self) { try store.bySQL("DELETE FROM o WHERE id = 2") }
  }

  @Test(
    "What loses its last reference goes, but not while somebody begins to refer to it",
    arguments: places)
  func counts(_ place: Place) throws {
    let store = try Self.store(place, "'deleteDestinationIfAllSourcesDeleted'")
    let set = "UPDATE r SET (id, \(place.names)) = ROW(1, \(place.nothing)) WHERE id = 1"
    try store.bySQL("\(set); DELETE FROM r WHERE id = 2")
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO r VALUES(9, \(place.values(1)))")
    let first = try store.sweep()
    #expect(first.byCollection == ["os": 1])
    #expect(first.isCutShort)
    try application.execute("COMMIT")
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.texts("SELECT id FROM o ORDER BY id") == ["1", "3"])
    try application.execute(
      "BEGIN; UPDATE r SET (id, \(place.names)) = ROW(3, \(place.values(1))) WHERE id = 3")
    try store.bySQL("DELETE FROM r WHERE id = 9")
    #expect(try store.sweep().isCutShort)
    try application.execute("COMMIT")
    try store.sweep()
    #expect(try store.texts("SELECT id FROM o ORDER BY id") == ["1", "3"])
    #expect(try store.journalIsEmpty)
  }

  @Test(
    "What refers to a deleted row from a transaction that was open then, follows it",
    arguments: places)
  func late(_ place: Place) throws {
    let store = try Self.store(place, "'deleteSourceIfDestinationDeleted'")
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO r VALUES(9, \(place.values(1)))")
    try store.bySQL("DELETE FROM o WHERE id = 1")
    try store.sweep()
    try application.execute("COMMIT")
    try store.waitForJournal()
    try store.sweep()
    #expect(try store.texts(Self.keys) == ["2", "3"])
    try store.bySQL("INSERT INTO r VALUES(9, \(place.values(1)))")
    try store.waitForJournal()
    try store.sweep()
    #expect(try store.texts(Self.keys) == ["2", "3"])
  }

  @Test(
    "A reference that changes has lost what it led to, and references to nothing are told",
    arguments: places)
  func changes(_ place: Place) throws {
    let store = try Self.store(place, "'notifyIfSourceDeleted', 'notifyIfDestinationDeleted'")
    try store.bySQL("UPDATE r SET (id, \(place.names)) = ROW(1, \(place.values(3))) WHERE id = 1")
    try store.sweep()
    let reasons = { try store.reader.notices(after: 0, limit: 9).map { "\($0.node) \($0.reason)" } }
    #expect(try reasons() == ["os/1 sourceDeleted"])
    try store.bySQL("DELETE FROM o WHERE id = 3")
    try store.sweep()
    #expect(try reasons() == ["os/1 sourceDeleted", "rows/1 destinationDeleted"])
    let messages = try store.reader.checkReferences(limit: 9).list.map(\.message)
    #expect(messages.contains("rows/1 refers by \"x\" to os/3, which does not exist"))
    let isText = place.nothing == "'no JSON'"
    #expect(
      messages.contains("rows/3 has no JSON in \"x\": it refers to nothing") == isText)
    #expect(messages.count == (isText ? 2 : 1))
  }
}

extension PlaceTests.Place {
  fileprivate var names: String {
    columns.split(separator: ",").map { $0.split(separator: " ")[0] }.joined(separator: ", ")
  }
}

/// References that may lead to any of several tables.
@Suite(
  "Several destinations on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct SeveralDestinationTests {
  private static func store(_ rules: String, _ more: String = "") throws -> PostgresFixture {
    let place = PlaceTests.places.first { $0.model.hasPrefix("to: ['os', 'ps']") }!
    let store = try PlaceTests.store(place, rules)
    try store.bySQL("INSERT INTO p VALUES(1)")
    return store
  }

  private static let keys = "SELECT id FROM r ORDER BY id"

  @Test("It is lost when the last of the rows goes that have its key")
  func last() throws {
    let store = try Self.store("'deleteSourceIfDestinationDeleted', 'notifyIfDestinationDeleted'")
    let edges = try store.reader.edges(EdgeQuery(from: Node("rows", .integer(1)))).edges
    #expect(edges.map(\.destination.json.text).sorted() == ["[\"os\",1]", "[\"ps\",1]"])
    try store.bySQL("DELETE FROM o WHERE id = 1")
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.reader.checkReferences(limit: 9).total == 0)
    #expect(try store.reader.plan(deleting: [Node("ps", .integer(1))], at: nil).deletedCount == 2)
    try store.bySQL("DELETE FROM p WHERE id = 1")
    #expect(try store.sweep().byCollection == ["rows": 1])
  }

  @Test("A deletion is denied only while no other row has the key")
  func denial() throws {
    let store = try Self.store("'denyDestinationDeletion'")
    try store.bySQL("DELETE FROM o WHERE id = 1")
    #expect(throws: PostgresError.self) { try store.bySQL("DELETE FROM p WHERE id = 1") }
    #expect(throws: Rejection.self) { try store.apply([.delete(Node("ps", .integer(1)))]) }
    try store.bySQL("INSERT INTO o VALUES(1)")
    #expect(try store.apply([.delete(Node("ps", .integer(1)))]).deletedCount == 1)
  }

  @Test("Of two sessions that delete both rows at once, one is refused")
  func denialOfBoth() throws {
    let store = try Self.store("'denyDestinationDeletion'")
    let application = try store.database.session()
    try application.execute("BEGIN; DELETE FROM o WHERE id = 1")
    let other = store.database.inBackground(
      "application",
      [
        """
        DO $$ BEGIN DELETE FROM p WHERE id = 1;
          EXCEPTION WHEN foreign_key_violation THEN NULL; END $$
        """
      ])
    try store.database.waitForBlocked()
    try application.execute("COMMIT")
    _ = consume other
    #expect(try store.texts("SELECT id FROM p") == ["1"])
  }

  @Test("A row that comes after a reference to its key was removed has lost nothing")
  func newcomer() throws {
    let store = try Self.store("'deleteDestinationIfAllSourcesDeleted'")
    try store.bySQL("UPDATE r SET x = NULL WHERE id = 2; INSERT INTO p VALUES(2)")
    #expect(try store.sweep().byCollection == ["os": 1])
    try store.apply([
      .put(Node("ps", .integer(3)), type: nil, value: nil, edges: nil),
      .put(Node("rows", .integer(1)), type: nil, value: nil, edges: nil),
    ])
    #expect(try store.texts("SELECT id FROM p ORDER BY id") == ["2", "3"])
    #expect(try store.texts("SELECT id FROM o ORDER BY id") == ["3"])
  }
}
