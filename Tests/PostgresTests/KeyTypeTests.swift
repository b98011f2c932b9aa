import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Keys of other types than integers, texts and UUIDs.
@Suite("Types of keys on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct KeyTypeTests {
  struct KeyType: CustomTestStringConvertible {
    let name: String
    /// Two values as SQL, and as keys.
    let values: [(sql: String, key: Key)]
    /// Of a column that refers to it, if that is another one.
    var reference: String?
    var testDescription: String { "\(name) \(reference ?? "")" }
  }

  static let types = [
    KeyType(name: "oid", values: [("7", .integer(7)), ("4000000000", .integer(4_000_000_000))]),
    KeyType(name: "numeric(19)", values: [("1", .integer(1)), ("20", .integer(20))]),
    KeyType(name: "numeric(9, 2)", values: [("1.5", .text("1.50")), ("-2", .text("-2.00"))]),
    KeyType(
      name: "numeric(9, 2)", values: [("1.5", .text("1.5")), ("0", .text("-0.000"))],
      reference: "numeric(12, 2)"),
    KeyType(name: "char(8)", values: [("'a b'", .text("a b ")), ("'c'", .text("c"))]),
    KeyType(
      name: "char(8)", values: [("'a b'", .text("a b")), ("'c'", .text("c"))], reference: "char(4)"),
    KeyType(
      name: "char(8)", values: [("'a b'", .text("a b")), ("'c'", .text("c"))], reference: "text"),
    KeyType(name: "bytea", values: [(#"'\x00ff'"#, .text(#"\x00FF"#)), ("''", .text(#"\x"#))]),
    KeyType(
      name: "date",
      values: [("'2024-02-29'", .text("2024-02-29")), ("'0099-01-01'", .text("0099-01-01"))]),
    KeyType(
      name: "timestamp",
      values: [
        ("'2024-01-02 03:04:05.500'", .text("2024-01-02T03:04:05.50")),
        ("'2024-01-02'", .text("2024-01-02 00:00:00")),
      ]),
    KeyType(
      name: "timestamptz",
      values: [
        ("'2024-01-02 03:04:05.5Z'", .text("2024-01-02T03:04:05.5Z")),
        ("'2024-01-02 00:00:00+01'", .text("2024-01-01 23:00:00+00")),
      ]),
    KeyType(
      name: "timestamptz",
      values: [
        ("'infinity'", .text("infinity")),
        ("'0044-03-15 12:00:00+00 BC'", .text("0044-03-15T12:00:00Z BC")),
      ]),
    KeyType(
      name: "bigint",
      values: [
        ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ],
      reference: "text"),
    KeyType(
      name: "oid", values: [("4294967295", .integer(4_294_967_295)), ("0", .integer(0))],
      reference: "text"),
    KeyType(name: "mood", values: [("'sad'", .text("sad")), ("'it''s ok'", .text("it's ok"))]),
    KeyType(
      name: "mood", values: [("'sad'", .text("sad")), ("'it''s ok'", .text("it's ok"))],
      reference: "text"),
  ]

  /// What an application may have set.
  private static let settings =
    "SET DateStyle = 'German'; SET TimeZone = 'Asia/Tokyo'; SET bytea_output = 'escape';"

  /// Children refer to parents in a column and in a join table; the key may have a second column.
  private static func store(_ type: KeyType, isPair: Bool) throws -> PostgresFixture {
    let (one, two) = (type.values[0].sql, type.values[1].sql)
    let reference = type.reference ?? type.name
    let more = isPair ? ", n int" : ""
    let rest = isPair ? ", 5" : ""
    let list = isPair ? "['p', 'n']" : "'p'"
    let store = try PostgresFixture(
      """
      { collections: { parents: { table: 'parent', key: \(isPair ? "['id', 'n']" : "'id'") },
          children: { table: 'child', key: 'id' } },
        relationships: [
          { name: 'of', from: 'children', to: 'parents', column: \(list),
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'friends', from: 'children', to: 'parents',
            join: { table: 'friend', source: 'c', destination: \(list) },
            rules: ['deleteDestinationIfAllSourcesDeleted'] },
          { name: 'stored', from: 'children', to: 'parents', toMany: true,
            rules: ['deleteDestinationIfSourceDeleted'] }] }
      """,
      schema: """
        CREATE TYPE mood AS ENUM ('sad', 'it''s ok');
        CREATE TABLE parent(id \(type.name)\(more), PRIMARY KEY(id\(isPair ? ", n" : "")));
        CREATE TABLE child(id int PRIMARY KEY, p \(reference)\(more)); CREATE INDEX ON child(p);
        CREATE TABLE friend(c int, p \(reference)\(more)); CREATE INDEX ON friend(p);
        CREATE INDEX ON friend(c);
        INSERT INTO parent VALUES(\(one)\(rest)), (\(two)\(rest));
        INSERT INTO child VALUES(1, \(one)\(rest)), (2, \(two)\(rest));
        INSERT INTO child VALUES(3);
        INSERT INTO friend VALUES(3, \(one)\(rest)), (3, \(two)\(rest));
        """)
    #expect(store.writer.bindingProblems.isEmpty)
    try store.sweep([.all])
    return store
  }

  private static let rows = """
    SELECT t::text FROM parent t UNION ALL SELECT t::text FROM child t
    UNION ALL SELECT t::text FROM friend t ORDER BY 1
    """
  private static let children = "SELECT id FROM child ORDER BY 1"

  @Test(
    "What SQL deletes is followed, whatever the session has set", arguments: types, [false, true])
  func sql(type: KeyType, isPair: Bool) throws {
    let store = try Self.store(type, isPair: isPair)
    let nodes = type.values.map {
      Node("parents", isPair ? .composite([$0.key, .integer(5)]) : $0.key)
    }
    #expect(try nodes.allSatisfy(store.exists))
    let edges = try store.reader.edges(EdgeQuery(to: .node(nodes[0]))).edges
    #expect(edges.map(\.source.description) == ["children/1", "children/3"])
    try store.bySQL("\(Self.settings) DELETE FROM parent WHERE id = \(type.values[0].sql)")
    let result = try store.sweep()
    #expect(result.byCollection == ["children": 1])
    #expect(try store.texts(Self.children) == ["2", "3"])
    #expect(try store.texts("SELECT count(*) FROM friend") == ["1"])
    guard case .deleted(let why) = try store.reader.why(.node(Node("children", .integer(1)))) else {
      Issue.record("not deleted")
      return
    }
    #expect(why.chain.count == 2)
    try store.bySQL("\(Self.settings) DELETE FROM friend; UPDATE child SET p = NULL WHERE id = 2")
    #expect(try store.sweep().byCollection == ["parents": 1])
    #expect(try store.journalIsEmpty)
  }

  @Test(
    "Change files name such nodes, and an undo brings them back", arguments: types, [false, true])
  func files(type: KeyType, isPair: Bool) throws {
    let store = try Self.store(type, isPair: isPair)
    let node = Node(
      "parents",
      isPair ? .composite([type.values[0].key, .integer(5)]) : type.values[0].key)
    let before = try store.texts(Self.rows)
    try store.apply([
      .link(name: "stored", from: Node("children", .integer(2)), to: .node(node), rules: nil)
    ])
    #expect(try store.reader.count(EdgeQuery(name: "stored")) == 1)
    let receipt = try store.apply([.delete(node)])
    #expect(receipt.deletedCount == 2)
    #expect(try store.reader.count(EdgeQuery(name: "stored")) == 0)
    let undone = try store.writer.undo(#require(receipt.batch), by: "me", at: 2)
    #expect(undone.restored == 2 && undone.edges == 1)
    try store.apply([
      .unlink(
        name: "stored", from: Node("children", .integer(2)), to: .node(node), as: .edgeDeleted)
    ])
    #expect(try store.texts(Self.rows) == before)
    #expect(try store.sweep([.all]).outcome == .nothing)
  }

  @Test("A list names values of an enumerated type")
  func lists() throws {
    for list in ["mood[]", "jsonb"] {
      let value = list == "jsonb" ? #"'["sad", "it''s ok"]'"# : #"'{sad,"it''s ok"}'"#
      let store = try PostgresFixture(
        """
        { collections: { parents: { table: 'parent', key: 'id' }, children: { table: 'child', key: 'id' } },
          relationships: [{ name: 'of', from: 'children', to: 'parents', property: 'list', toMany: true,
            rules: ['nullifySourceIfDestinationDeleted'] }] }
        """,
        schema: """
          CREATE TYPE mood AS ENUM ('sad', 'it''s ok'); CREATE TABLE parent(id mood PRIMARY KEY);
          CREATE TABLE child(id int PRIMARY KEY, list \(list)); CREATE INDEX ON child USING gin (list);
          INSERT INTO parent VALUES('sad'), ('it''s ok'); INSERT INTO child VALUES(1, \(value));
          """)
      try store.sweep([.all])
      try store.bySQL("DELETE FROM parent WHERE id = 'sad'")
      #expect(try store.sweep().edgesRemoved == 1)
      #expect(
        try store.texts("SELECT list FROM child").first?.contains("sad") == false, "\(list)")
    }
  }

  @Test("A text or JSON that is no number of the type names nothing, however long it is")
  func longNumbers() throws {
    let store = try PostgresFixture(
      """
      { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
        relationships: [
          { name: 'x', from: 'b', to: 'a', column: 'r', rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'y', from: 'b', to: 'a', property: 'list', toMany: true,
            rules: ['deleteDestinationIfAllSourcesDeleted'] }] }
      """,
      schema: """
        CREATE TABLE a(id bigint PRIMARY KEY); CREATE TABLE b(id int PRIMARY KEY, r text, list jsonb);
        CREATE INDEX ON b(r); CREATE INDEX ON b USING gin (list);
        """)
    try store.sweep([.all])
    try store.bySQL(
      """
      INSERT INTO a VALUES(1234567890123456789);
      INSERT INTO b VALUES(1, '9223372036854775808', '[9223372036854775808, 1234567890123456789]'),
        (2, '1234567890123456789', '[1e30, 1234567890123456789]');
      DELETE FROM b WHERE id = 1;
      """)
    #expect(try store.sweep().deletedCount == 0)
    try store.bySQL("DELETE FROM b")
    #expect(try store.sweep().byCollection == ["a": 1])
  }

  @Test(
    "Types whose equal values may have different texts are refused",
    arguments: ["numeric", "double precision", "interval", "jsonb", "boolean"])
  func refusals(type: String) throws {
    let store = try PostgresFixture(
      "{ collections: { a: { table: 'a', key: 'id' } } }", schema: "CREATE TABLE a(id \(type))")
    #expect(
      store.writer.bindingProblems.map(\.message).first?.hasPrefix("\"id\" is \(type): smallint,")
        == true)
  }

  @Test("References that could be no key are refused, before they are cast")
  func references() throws {
    func problem(_ key: String, _ column: String, _ place: String) throws -> String? {
      try PostgresFixture(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
          relationships: [{ name: 'x', from: 'b', to: 'a', \(place),
            rules: ['deleteSourceIfDestinationDeleted'] }] }
        """,
        schema: "CREATE TABLE a(id \(key)); CREATE TABLE b(id int, r \(column))"
      ).writer.bindingProblems.first?.message
    }
    #expect(
      try problem("date", "text", "column: 'r'") == "\"r\" is text, and the key of \"a\" is date")
    #expect(
      try problem("numeric(9,2)", "numeric(9,3)", "column: 'r'")
        == "\"r\" is numeric with a scale of 3, and the key of \"a\" is numeric with a scale of 2")
    #expect(
      try problem("date", "jsonb", "property: 'r', toMany: true")
        == "\"r\": a list names no keys that are date")
  }
}
