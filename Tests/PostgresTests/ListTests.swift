import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// References in arrays and in JSON arrays.
@Suite("Lists on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ListTests {
  struct Kind: Sendable, CustomTestStringConvertible {
    let key: String
    let column: String
    /// Keys as they are written in the table, and in a list.
    let keys: [String]
    let open: String
    let close: String

    func list(_ items: String...) -> String { "\(open)\(items.joined(separator: ", "))\(close)" }
    var testDescription: String { column }
  }

  static let kinds = [
    Kind(key: "bigint", column: "int[]", keys: ["1", "2", "3"], open: "{", close: "}"),
    Kind(
      key: "text", column: "varchar(9)[]", keys: ["a b", "it's", "null"].map { "\"\($0)\"" },
      open: "{", close: "}"),
    Kind(key: "int", column: "jsonb", keys: ["1", "2", "3"], open: "[", close: "]"),
    Kind(
      key: "text", column: "jsonb", keys: ["a b", "it's", "null"].map { "\"\($0)\"" }, open: "[",
      close: "]"),
  ]

  private static func store(_ kind: Kind, _ rule: String) throws -> PostgresFixture {
    func text(_ list: String) -> String { list.replacing("'", with: "''") }
    let keys = kind.keys.map { "('\(text($0.replacing("\"", with: "")))')" }
    let store = try PostgresFixture(
      """
      { collections: { tags: { table: "tag", key: "id" }, notes: { table: "note", key: "id" } },
        relationships: [{ name: "tags", from: "notes", to: "tags", property: "tags", toMany: true,
          rules: ["\(rule)"] }] }
      """,
      schema: """
        CREATE TABLE tag(id \(kind.key) PRIMARY KEY); CREATE TABLE note(id int PRIMARY KEY, tags \(kind.column));
        CREATE INDEX ON note USING gin (tags); INSERT INTO tag VALUES \(keys.joined(separator: ", "));
        INSERT INTO note VALUES(1, '\(text(kind.list(kind.keys[0], kind.keys[1], kind.keys[0])))'),
          (2, '\(text(kind.list(kind.keys[1])))'), (3, NULL), (4, '\(kind.list())');
        """)
    try store.sweep([.all])
    #expect(try store.reader.checkSetup().isEmpty)
    return store
  }

  private static let first = "DELETE FROM tag WHERE id = (SELECT min(id) FROM tag)"
  private static let rows = "SELECT n::text FROM note n ORDER BY 1"

  @Test(
    "Nullify takes what went out of the list, and an undo puts it back in its place",
    arguments: kinds)
  func nullify(_ kind: Kind) throws {
    let store = try Self.store(kind, "nullifySourceIfDestinationDeleted")
    let before = try store.texts(Self.rows)
    let list = "SELECT tags::text FROM note WHERE id = 1"
    let key = kind.key == "text" ? Key.text("a b") : .integer(1)
    let receipt = try store.apply([.delete(Node("tags", key))])
    #expect(receipt.edgesRemoved == 1)
    let left = try store.texts(list)
    #expect(left == [kind.column == "jsonb" ? "[\(kind.keys[1])]" : try store.array(kind.keys[1])])
    _ = try store.writer.undo(#require(receipt.batch), by: "me", at: 5)
    #expect(try store.texts(Self.rows) == before)
  }

  @Test("What is in no list any more goes, and what is in one stays", arguments: kinds)
  func counts(_ kind: Kind) throws {
    let store = try Self.store(kind, "deleteDestinationIfAllSourcesDeleted")
    try store.bySQL("UPDATE note SET tags = '\(kind.list())' WHERE id = 1")
    #expect(try store.sweep().byCollection == ["tags": 1])
    try store.bySQL("DELETE FROM note WHERE id = 2")
    #expect(try store.sweep().byCollection == ["tags": 1])
    #expect(try store.texts("SELECT count(*) FROM tag") == ["1"])
  }

  @Test("A row goes with what its list has, or with the last of it", arguments: kinds)
  func cascade(_ kind: Kind) throws {
    let cascading = try Self.store(kind, "deleteSourceIfDestinationDeleted")
    try cascading.bySQL(Self.first)
    #expect(try cascading.sweep().byCollection == ["notes": 1])
    let counting = try Self.store(kind, "deleteSourceIfAllDestinationsDeleted")
    try counting.bySQL(Self.first)
    #expect(try counting.sweep().deletedCount == 0)
    try counting.settle()
    try counting.bySQL(Self.first)
    #expect(try counting.sweep().byCollection == ["notes": 2])
  }

  @Test("A deletion is refused while a list has it", arguments: kinds)
  func denial(_ kind: Kind) throws {
    let store = try Self.store(kind, "denyDestinationDeletion")
    #expect(throws: PostgresError.self) { try store.bySQL(Self.first) }
    try store.bySQL("DELETE FROM note WHERE id = 1")
    try store.bySQL(Self.first)
  }

  @Test("Edges of lists are listed once each, in pages, and a missing index is told")
  func listing() throws {
    let store = try Self.store(Self.kinds[0], "notifyIfDestinationDeleted")
    var edges: [Edge] = []
    var cursor: EdgeCursor?
    repeat {
      let page = try store.reader.edges(EdgeQuery(), after: cursor, limit: 1)
      edges += page.edges
      cursor = page.next
    } while cursor != nil
    #expect(
      edges.map { "\($0.source) \($0.destination.json.text)" } == [
        "notes/1 [\"tags\",1]", "notes/1 [\"tags\",2]", "notes/2 [\"tags\",2]",
      ])
    try store.bySQL("DROP INDEX note_tags_idx; INSERT INTO note VALUES(5, '{9}')")
    let advice = try store.reader.checkSetup().map(\.message).joined()
    #expect(advice.contains("CREATE INDEX CONCURRENTLY ON public.note USING gin (\"tags\")"))
    let dangling = try store.reader.checkReferences(limit: 9).list.map(\.message)
    #expect(dangling == ["notes/5 refers by \"tags\" to tags/9, which does not exist"])
  }

  @Test("A list of another kind than the key is refused with its place")
  func otherKind() throws {
    let store = try PostgresFixture(
      """
      { collections: { tags: { table: "tag", key: "id" }, notes: { table: "note", key: "id" } },
        relationships: [{ name: "tags", from: "notes", to: "tags", property: "tags", toMany: true }] }
      """,
      schema:
        "CREATE TABLE tag(id int PRIMARY KEY); CREATE TABLE note(id int PRIMARY KEY, tags text[])")
    let problem = store.writer.bindingProblems.first?.description
    let message = "\"tags\" is text[]: a list is jsonb, json or text, or an array of bigint"
    #expect(problem?.contains(message) == true)
  }
}

extension PostgresFixture {
  /// How the server writes an array of one item.
  fileprivate func array(_ item: String) throws -> String {
    try texts("SELECT ('{' || '\(item.replacing("'", with: "''"))' || '}')::text[]::text")[0]
  }
}
