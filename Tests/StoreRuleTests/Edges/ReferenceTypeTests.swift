import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// A reference is what SQLite says it is: `'7'` in a column of text refers to the integer key 7.
@Suite("References of another type than the key")
struct ReferenceTypeTests {
  struct Types: CustomTestStringConvertible {
    let key: String
    let reference: String
    var testDescription: String { "\(reference) to \(key)" }
  }

  static let types = [
    Types(key: "INTEGER PRIMARY KEY", reference: "TEXT"),
    Types(key: "INT NOT NULL UNIQUE", reference: "VARCHAR(9)"),
    Types(key: "TEXT PRIMARY KEY", reference: "INTEGER"),
    Types(key: "TEXT PRIMARY KEY", reference: "NUMERIC"),
    Types(key: "INTEGER PRIMARY KEY", reference: ""),
    Types(key: "TEXT PRIMARY KEY", reference: "TEXT COLLATE NOCASE"),
  ]

  enum Way: CaseIterable { case file, sweep }

  private func store(_ rule: String, _ types: Types) throws -> TestStore {
    let model = """
      {
        collections: { ends: { table: 'e', key: 'id' }, rows: { table: 'r', key: 'id' } },
        relationships: [
          { name: 'end', from: 'rows', to: 'ends', column: 'end', rules: ['\(rule)'] } ],
      }
      """
    let schema = """
      CREATE TABLE e(id \(types.key)); CREATE TABLE r(id INTEGER PRIMARY KEY, "end" \(types.reference));
      INSERT INTO e VALUES(7), (8); INSERT INTO r VALUES(1, 7), (2, 7), (3, 8);
      """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  /// One row goes.
  private func delete(
    _ id: Int64, of collection: String, _ store: TestStore, _ way: Way, _ types: Types
  ) throws {
    if way == .sweep {
      try store.bySQL("DELETE FROM \(collection == "ends" ? "e" : "r") WHERE id = \(id)")
      _ = try store.writer.sweep([.cascade, .refcount], at: 1)
    } else {
      let isText = collection == "ends" && types.key.hasPrefix("TEXT")
      try store.apply([.delete(Node(collection, isText ? .text("\(id)") : .integer(id)))])
    }
  }

  private func rows(_ store: TestStore) throws -> [String] {
    try Connection(path: store.path, access: .readOnly).all(
      """
      SELECT 'e' || id FROM e UNION ALL SELECT 'r' || id || coalesce('-' || "end", '') FROM r
      """
    ) { $0.text(0) }.sorted()
  }

  @Test("Are seen by the rules", arguments: types, Way.allCases)
  func rules(types: Types, way: Way) throws {
    let cascade = try store("deleteSourceIfDestinationDeleted", types)
    try delete(7, of: "ends", cascade, way, types)
    #expect(try rows(cascade) == ["e8", "r3-8"])
    let nullify = try store("nullifySourceIfDestinationDeleted", types)
    try delete(7, of: "ends", nullify, way, types)
    #expect(try rows(nullify) == ["e8", "r1", "r2", "r3-8"])
    let notify = try store("notifyIfDestinationDeleted", types)
    try delete(7, of: "ends", notify, way, types)
    #expect(try notify.reader.notices(after: 0).count == 2)
    let after = try store("deleteDestinationIfSourceDeleted", types)
    try delete(1, of: "rows", after, way, types)
    #expect(try rows(after) == ["e8", "r2-7", "r3-8"])
  }

  @Test("Hold what they refer to", arguments: types, Way.allCases)
  func holds(types: Types, way: Way) throws {
    let counted = try store("deleteDestinationIfAllSourcesDeleted", types)
    try delete(1, of: "rows", counted, way, types)
    #expect(try rows(counted) == ["e7", "e8", "r2-7", "r3-8"])
    try delete(2, of: "rows", counted, way, types)
    #expect(try rows(counted) == ["e8", "r3-8"])
    let denied = try store("denyDestinationDeletion", types)
    #expect(throws: (any Error).self) { try delete(7, of: "ends", denied, way, types) }
    #expect(try rows(denied).count == 5)
  }

  @Test("Are found where they lead to nothing", arguments: types)
  func dangles(types: Types) throws {
    let store = try store("deleteSourceIfDestinationDeleted", types)
    try store.bySQL("INSERT INTO r VALUES(4, 9), (5, 9)")
    _ = try store.writer.sweep([.dangling], at: 1)
    #expect(try rows(store) == ["e7", "e8", "r1-7", "r2-7", "r3-8"])
  }

  @Test("Digits in a column without a type stand for the number")
  func digits() throws {
    let untyped = Types(key: "INTEGER PRIMARY KEY", reference: "")
    let counted = try store("deleteDestinationIfAllSourcesDeleted", untyped)
    try counted.bySQL("UPDATE r SET \"end\" = '7' WHERE id = 2")
    for way in Way.allCases {
      try delete(way == .file ? 1 : 3, of: "rows", counted, way, untyped)
    }
    #expect(try rows(counted) == ["e7", "r2-7"])
    let cascade = try store("deleteSourceIfDestinationDeleted", untyped)
    try cascade.bySQL("UPDATE r SET \"end\" = '7' WHERE id = 2; INSERT INTO r VALUES(4, '9')")
    try delete(7, of: "ends", cascade, .sweep, untyped)
    _ = try cascade.writer.sweep([.dangling], at: 2)
    #expect(try rows(cascade) == ["e8", "r3-8"])
  }

  @Test(
    "Keys compare as the key's column does, whatever the reference's does",
    arguments: ["deleteSourceIfDestinationDeleted", "nullifySourceIfDestinationDeleted"],
    Way.allCases)
  func collations(rule: String, way: Way) throws {
    let types = Types(key: "TEXT PRIMARY KEY", reference: "TEXT COLLATE NOCASE")
    let store = try store(rule, types)
    try store.bySQL(
      """
      INSERT INTO e VALUES('a'), ('A'); INSERT INTO r VALUES(4, 'a'), (5, 'A');
      CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE INDEX r_end ON r("end");
      """)
    if way == .sweep {
      try store.bySQL("DELETE FROM e WHERE id = 'a'")
      _ = try store.writer.sweep([.all], at: 1)
    } else {
      try store.apply([.delete(Node("ends", .text("a")))])
    }
    let nulled = rule.hasPrefix("nullify") ? ["r4"] : []
    #expect(try rows(store) == ["e7", "e8", "eA", "r1-7", "r2-7", "r3-8"] + nulled + ["r5-A"])
  }

  @Test("Bytes are no text, and name nothing that a text does")
  func bytes() throws {
    let types = Types(key: "TEXT PRIMARY KEY", reference: "TEXT")
    for rule in ["deleteSourceIfDestinationDeleted", "deleteDestinationIfSourceDeleted"] {
      let store = try store(rule, types)
      try store.bySQL("INSERT INTO r VALUES(4, x'37')")
      _ = try store.writer.sweep([.dangling], at: 1)
      try store.bySQL("DELETE FROM r WHERE id = 4")
      _ = try store.writer.sweep([.all], at: 2)
      #expect(try rows(store) == ["e7", "e8", "r1-7", "r2-7", "r3-8"])
    }
  }

  @Test("A UUID is a number for SQLite, and yet compares as its column does")
  func numericTexts() throws {
    let key = "STRING PRIMARY KEY COLLATE NOCASE"
    let types = Types(key: key, reference: "TEXT")
    let counted = try store("deleteDestinationIfAllSourcesDeleted", types)
    try counted.bySQL("INSERT INTO e VALUES('Ann'); INSERT INTO r VALUES(4, 'ann'), (5, 'ANN')")
    try counted.bySQL("DELETE FROM r WHERE id = 5")
    _ = try counted.writer.sweep([.all], at: 1)
    #expect(try rows(counted).contains("eAnn"))
    let apart = try store(
      "deleteSourceIfDestinationDeleted",
      Types(key: "UUID PRIMARY KEY", reference: "TEXT COLLATE NOCASE"))
    try apart.bySQL("INSERT INTO e VALUES('a'), ('A'); INSERT INTO r VALUES(4, 'a'), (5, 'A')")
    try apart.bySQL("DELETE FROM e WHERE id = 'a'")
    _ = try apart.writer.sweep([.all], at: 1)
    #expect(try rows(apart) == ["e7", "e8", "eA", "r1-7", "r2-7", "r3-8", "r5-A"])
  }

  @Test("Objects are named by their digits, and by no others")
  func objects007() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { rows: { table: 'r', key: 'id' }, objects: {} },
          relationships: [ { name: 'end', from: 'rows', to: 'objects', column: 'end',
            rules: ['nullifySourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE r(id INTEGER PRIMARY KEY, "end" INTEGER);
        INSERT INTO r VALUES(1, 7);
        """)
    try store.apply(
      ["7", "007"].map {
        Change.put(Node("objects", .text($0)), type: nil, value: nil, edges: nil)
      })
    try store.apply([.delete(Node("objects", .text("007")))])
    #expect(try store.texts("SELECT \"end\" FROM r") == ["7"])
    try store.apply([.delete(Node("objects", .text("7")))])
    #expect(try store.texts("SELECT coalesce(\"end\", '') FROM r") == [""])
  }

  @Test("An object where a list of references should be is none")
  func objects() throws {
    let model = """
      {
        collections: { ends: { table: 'e', key: 'id' }, rows: { table: 'r', key: 'id' } },
        relationships: [
          { name: 'ends', from: 'rows', to: 'ends', property: 'doc.ends', toMany: true,
            rules: ["deleteSourceIfDestinationDeleted"] } ],
      }
      """
    let schema = """
      CREATE TABLE e(id TEXT PRIMARY KEY); CREATE TABLE r(id INTEGER PRIMARY KEY, doc TEXT);
      INSERT INTO e VALUES('a');
      INSERT INTO r VALUES(1, '{"ends": {"name": "a"}}'), (2, '{"ends": ["a"]}'), (3, '{"ends": "a"}'),
        (4, '{"ends": {"name": "b"}}');
      """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    #expect(try store.edges().map(\.source.description) == ["rows/2", "rows/3"])
    try store.bySQL("DELETE FROM e")
    _ = try store.writer.sweep([.all], at: 1)
    let left = try Connection(path: store.path, access: .readOnly)
      .all("SELECT id FROM r ORDER BY id") { $0.integer(0) }
    #expect(left == [1, 4])
  }

  @Test(
    "A reference that moves to where another place says the same is none that was removed",
    arguments: [
      "UPDATE r SET second = first, first = NULL", "UPDATE r SET kind = 'LP'",
      "INSERT INTO pair SELECT id, third FROM r; UPDATE r SET third = NULL",
    ])
  func moved(sql: String) throws {
    let rules = "rules: ['deleteDestinationIfSourceDeleted']"
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { r: { table: 'r', key: 'id' }, e: { table: 'e', key: 'id' } },
          relationships: [
            { name: 'e', from: 'r', to: 'e', column: 'first', \(rules) },
            { name: 'e', from: 'r', to: 'e', column: 'second', \(rules) },
            { name: 'about', from: 'r', column: 'about', typeColumn: 'kind',
              to: { Album: 'e', LP: 'e' }, \(rules) },
            { name: 'both', from: 'r', to: 'e', column: 'third', \(rules) },
            { name: 'both', from: 'r', to: 'e', toMany: true, \(rules),
              join: { table: 'pair', source: 'r', destination: 'e' } } ] }
        """),
      schema: """
        CREATE TABLE e(id TEXT PRIMARY KEY); CREATE TABLE pair(r, e, PRIMARY KEY(r, e));
        CREATE TABLE r(id TEXT PRIMARY KEY, first TEXT, second TEXT, about TEXT, kind TEXT, third TEXT);
        INSERT INTO e VALUES('1'), ('2'), ('3'); INSERT INTO r VALUES('r', '1', NULL, '2', 'Album', '3');
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL(sql)
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 0)
    try store.bySQL("DELETE FROM r")
    #expect(try store.writer.sweep([.all], at: 2).deletedCount == 3)
  }
}
