import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Change files that write rows of the application, and what the model demands of them.
@Suite(
  "Rows in change files on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RowFileTests {
  private static func put(_ node: Node, _ value: String?) -> Change {
    .put(node, type: nil, value: value.map { JSONText(valid: $0) }, edges: nil)
  }

  private static func row(_ key: Int64) -> Node { Node("rows", .integer(key)) }
  private static func tag(_ key: String) -> Node { Node("tags", .text(key)) }

  private static func store(_ more: String = "") throws -> PostgresFixture {
    let store = try PostgresFixture(
      """
      { collections: { rows: { table: 'r', key: 'id' }, tags: { table: 'tag', key: 'name' } },
        relationships: [
          { name: 'tags', from: 'rows', to: 'tags', property: 'tags', toMany: true, \(more)
            rules: ['deleteDestinationIfAllSourcesDeleted'] },
          { name: 'parent', from: 'rows', to: 'rows', column: 'parent',
            rules: ['deleteSourceIfDestinationDeleted'] }] }
      """,
      schema: """
        CREATE TABLE tag(name text PRIMARY KEY);
        CREATE TABLE r(id int PRIMARY KEY, parent int, tags text[], n numeric DEFAULT 7, at timestamptz,
          doc jsonb, twice numeric GENERATED ALWAYS AS (n * 2) STORED);
        INSERT INTO tag VALUES('a'), ('b'), ('c');
        INSERT INTO r VALUES(1, NULL, '{a,b}', 1), (2, 1, '{c}', 2);
        """)
    try store.sweep([.all])
    return store
  }

  @Test("A put describes the whole row, and the rules follow what it changes")
  func put() throws {
    let store = try Self.store()
    let receipt = try store.apply([
      Self.put(
        Self.row(1), #"{"id": 1, "tags": ["b"], "doc": {"x": [1.50]}, "at": "2026-01-01T00:00Z"}"#)
    ])
    #expect(receipt.deleted == [Self.tag("a")])
    #expect((receipt.edgesAdded, receipt.edgesRemoved) == (0, 1))
    #expect(
      try store.texts("SELECT concat_ws(' ', parent, tags, n, doc, twice) FROM r WHERE id = 1")
        == [#"{b} 7 {"x": [1.50]} 14"#])
    let new = try store.apply([
      Self.put(Self.row(3), #"{"parent": 1, "tags": ["b", "c"]}"#), .delete(Self.row(2)),
    ])
    #expect(new.deleted == [Self.row(2)])
    #expect((new.edgesAdded, new.edgesRemoved) == (3, 2))
    #expect(try store.sweep().outcome == .nothing)
    _ = try store.writer.undo(#require(new.batch), by: "me", at: 5)
    #expect(try store.texts("SELECT id FROM r ORDER BY id") == ["1", "2", "3"])
  }

  @Test("A patch changes some columns")
  func patch() throws {
    let store = try Self.store()
    let set = [
      Member(name: "n", value: JSONText(valid: "0.10")),
      Member(name: "tags", value: JSONText(valid: #"["c"]"#)),
    ]
    let receipt = try store.apply([.patch(Self.row(1), set: set, unset: ["at", "doc"])])
    #expect(Set(receipt.deleted) == [Self.tag("a"), Self.tag("b")])
    #expect(try store.texts("SELECT concat_ws(' ', tags, n) FROM r WHERE id = 1") == ["{c} 0.10"])
  }

  @Test("What a file adds and removes never was, and a row that is put again has not gone")
  func neverWas() throws {
    let store = try Self.store()
    try store.bySQL("INSERT INTO tag VALUES('x')")
    let receipt = try store.apply([
      .delete(Self.row(1)), Self.put(Self.row(1), #"{"tags": ["x", "a", "b"]}"#),
      Self.put(Self.row(1), #"{"tags": ["a", "b"]}"#),
    ])
    #expect(receipt.deletedCount == 0)
    #expect(try store.texts("SELECT count(*) FROM tag") == ["4"])
    #expect(try store.texts("SELECT id FROM r ORDER BY id") == ["1", "2"])
  }

  @Test("A flush runs the rules within the file, and what was before it has been")
  func flush() throws {
    let store = try Self.store()
    let receipt = try store.apply([
      Self.put(Self.row(5), #"{"tags": ["a", "b"]}"#), .delete(Self.row(1)), .flush,
      Self.put(Self.row(1), #"{"tags": ["a"]}"#), .delete(Self.row(5)),
    ])
    #expect(
      Set(receipt.deleted) == [Self.row(1), Self.row(2), Self.row(5), Self.tag("b"), Self.tag("c")])
    #expect(try store.texts("SELECT id FROM r") == ["1"])
    #expect(try store.texts("SELECT name FROM tag") == ["a"])
    #expect(try store.sweep().outcome == .nothing)
  }

  @Test("A reference to nothing in a row that a file puts has lost its destination")
  func missing() throws {
    let store = try Self.store()
    let receipt = try store.apply([Self.put(Self.row(7), #"{"parent": 99}"#)])
    #expect(receipt.deleted == [Self.row(7)])
    #expect(try store.texts("SELECT count(*) FROM r WHERE id = 7") == ["0"])
  }

  @Test("What a row cannot have is refused with its place, and nothing of the file is done")
  func refusals() throws {
    let store = try Self.store()
    let refused: [(Change, String)] = [
      (Self.put(Self.row(9), #"{"tag": []}"#), "no column \"tag\"; did you mean \"tags\"?"),
      (Self.put(Self.row(9), #"{"twice": 1}"#), "\"twice\" is a generated column"),
      (
        Self.put(Self.row(9), #"{"id": 8}"#), "\"id\" is part of its key, but its value has another"
      ),
      (Self.put(Self.row(9), "[]"), "must be an object whose members are columns"),
      (Self.put(Self.row(9), #"{"n": "many"}"#), "invalid input syntax for type numeric"),
      (.put(Self.row(9), type: "t", value: nil, edges: nil), "a row of a table has no \"type\""),
      (.patch(Self.row(9), set: [], unset: ["n"]), "cannot be patched: it does not exist"),
      (.patch(Self.row(1), set: [], unset: ["id"]), "is part of its key and cannot change"),
    ]
    for (change, message) in refused {
      let rejection = #expect(throws: Rejection.self) {
        try store.apply([.delete(Self.row(2)), change])
      }
      let reason = try #require(rejection?.reasons.first)
      #expect(reason.message.contains(message), "\(reason.message)")
      #expect(reason.path == "changes[1]")
    }
    #expect(try store.texts("SELECT count(*) FROM r") == ["2"])
  }

  @Test("The model's conditions are judged at the end of a file, and told by check")
  func conditions() throws {
    let store = try Self.store("optional: false, min: 2, max: 3, unique: true,")
    let codes = { (changes: [Change]) throws -> [String] in
      do {
        try store.apply(changes)
        return []
      } catch let rejection as Rejection {
        return rejection.reasons.map { "\($0.code.rawValue) \($0.node.map { "\($0)" } ?? "")" }
      }
    }
    try store.bySQL("INSERT INTO tag VALUES('d'), ('e'), ('f'), ('g')")
    #expect(try codes([Self.put(Self.row(3), "{}")]) == ["missingMandatory rows/3"])
    #expect(try codes([Self.put(Self.row(3), #"{"tags": ["d"]}"#)]) == ["tooFew rows/3"])
    #expect(
      try codes([Self.put(Self.row(3), #"{"tags": ["d", "e", "f", "g"]}"#)]) == ["tooMany rows/3"])
    #expect(try codes([Self.put(Self.row(3), #"{"tags": ["d", "a"]}"#)]) == ["notUnique tags/a"])
    #expect(try codes([.delete(Self.tag("a"))]) == ["tooFew rows/1"])
    #expect(try codes([Self.put(Self.row(3), #"{"tags": ["d", "e"]}"#)]).isEmpty)
    #expect(
      try store.reader.checkReferences(limit: 9).list.map { "\($0.kind) \($0.node!)" }
        == ["tooFew rows/2"])
    try store.bySQL("DELETE FROM tag WHERE name IN ('a', 'b')")
    try store.sweep()
    #expect(try store.reader.checkReferences(limit: 9).list.map(\.kind).contains("dangling"))
  }

  @Test("A destination that needs a source is not left without, and a reference not set to null")
  func needed() throws {
    let store = try PostgresFixture(
      """
      { collections: { rows: { table: 'r', key: 'id' }, tags: { table: 'tag', key: 'name' } },
        relationships: [
          { name: 'tag', from: 'rows', to: 'tags', column: 'tag', optional: false,
            inverse: { name: 'rows', optional: false, toMany: true, deleteRule: 'nullify' } }] }
      """,
      schema: """
        CREATE TABLE tag(name text PRIMARY KEY); CREATE TABLE r(id int PRIMARY KEY, tag text);
        INSERT INTO tag VALUES('a'), ('b'); INSERT INTO r VALUES(1, 'a'), (2, 'b'), (3, 'b');
        """)
    try store.sweep([.all])
    let refused: [(Change, Node)] = [
      (.delete(Self.row(1)), Self.tag("a")), (.delete(Self.tag("a")), Self.row(1)),
      (Self.put(Self.row(1), #"{"tag": "b"}"#), Self.tag("a")),
      (Self.put(Self.tag("c"), nil), Self.tag("c")),
    ]
    for (change, node) in refused {
      let rejection = #expect(throws: Rejection.self) { try store.apply([change]) }
      #expect(rejection?.reasons.map(\.code) == [.missingMandatory])
      #expect(rejection?.reasons.first?.node == node)
    }
    #expect(try store.apply([.delete(Self.row(2))]).deletedCount == 1)
    #expect(try store.apply([.delete(Self.row(1)), .delete(Self.tag("a"))]).deletedCount == 2)
  }

  @Test("References within objects follow the rules, in lists and single")
  func objects() throws {
    let store = try PostgresFixture(
      """
      { collections: { notes: {}, tags: { table: 'tag', key: 'name' } },
        relationships: [
          { name: 'tags', from: 'notes', to: 'tags', property: 'in.tags', toMany: true,
            rules: ['nullifySourceIfDestinationDeleted', 'deleteDestinationIfAllSourcesDeleted'] },
          { name: 'next', from: 'notes', to: 'notes', property: 'next',
            rules: ['deleteDestinationIfSourceDeleted'] },
          { name: 'about', from: 'notes', to: { T: 'tags', N: 'notes' }, column: 'about',
            typeColumn: 'kind', rules: ['deleteSourceIfDestinationDeleted'] }] }
      """,
      schema: "CREATE TABLE tag(name text PRIMARY KEY); INSERT INTO tag VALUES('a'), ('b'), ('c');")
    try store.sweep([.all])
    func note(_ key: String) -> Node { Node("notes", .text(key)) }
    let receipt = try store.apply([
      Self.put(note("1"), #"{"in": {"tags": ["a", "b"]}, "next": "2"}"#),
      Self.put(note("2"), #"{"in": {"tags": ["b", "c"]}}"#),
    ])
    #expect(receipt.edgesAdded == 5)
    try store.bySQL("DELETE FROM tag WHERE name = 'b'")
    let swept = try store.sweep()
    #expect(swept.edgesRemoved == 2)
    #expect(
      try store.reader.node(note("1")).value?.json["in"]
        == .object([.init("tags", .array([.string("a")]))]))
    try store.apply([
      Self.put(note("3"), #"{"about": "c", "kind": "T"}"#),
      Self.put(note("4"), #"{"about": "c", "kind": "N"}"#), Self.put(note("c"), nil),
      Self.put(note("5"), #"{"about": "c", "kind": "X"}"#),
    ])
    let pairs = try store.reader.edges(EdgeQuery(name: "about")).edges
    #expect(
      pairs.map { "\($0.source) \($0.destination.json.text)" } == [
        "notes/4 [\"notes\",\"c\"]", "notes/3 [\"tags\",\"c\"]",
      ])
    #expect(pairs.allSatisfy { $0.kind == .polymorphic })
    #expect(try store.apply([.delete(note("c"))]).deletedCount == 2)
    let gone = try store.apply([.delete(note("1"))])
    #expect(
      Set(gone.deleted) == [note("1"), note("2"), note("3"), Self.tag("a"), Self.tag("c")])
    #expect(try store.sweep().outcome == .nothing)
  }
}
