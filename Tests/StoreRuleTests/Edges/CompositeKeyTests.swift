import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// Keys of several columns, whose parts may be anything.
@Suite("Parts of a key")
struct CompositeKeyTests {
  private static let model = """
    { collections: { roots: { table: 'root', key: 'id' }, pairs: { table: 'pair', key: ['a', 'b'] },
        leaves: { table: 'leaf', key: 'id' } },
      relationships: [
        { name: 'root', from: 'pairs', to: 'roots', column: 'root',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'leaf', from: 'pairs', to: 'leaves',
          rules: ['deleteDestinationIfAllSourcesDeleted'] } ] }
    """

  private static let values = [
    "x'00FF'", "x''", "'a' || char(0) || 'b'", "char(0)", "0.1 + 0.2", "0.1", "1e300", "-1.5e-300",
    "9e999", "-9e999", "1e300 / 3", "9007199254740993", "'x'", "'x''0'", "'\\u0000'", "'\"'",
    "CAST(x'C3FF41' AS TEXT)", "'x''' || char(0)", "''",
    "'x''00FF'''", "'x'''''", "'x''é'", "'X''00'''",
  ]

  private func store(_ form: String) throws -> TestStore {
    let rows = CompositeKeyTests.values.map { "(\($0), 1, 1), (1, \($0), 1), (2, \($0), 2)" }
    return try TestStore(
      model: StoreModel(CompositeKeyTests.model),
      schema: """
        CREATE TABLE root(id INTEGER PRIMARY KEY);
        CREATE TABLE leaf(id INTEGER PRIMARY KEY);
        CREATE TABLE pair(a, b, root INTEGER, PRIMARY KEY(a, b)) \(form);
        CREATE INDEX pair_root ON pair(root);
        INSERT INTO root VALUES(1), (2);
        INSERT INTO pair VALUES\(rows.joined(separator: ", "));
        """)
  }

  private func count(_ store: TestStore) throws -> Int64? {
    try Connection(path: store.path, access: .readOnly).integer("SELECT count(*) FROM pair")
  }

  private static let each = Int64(values.count)

  @Test(
    "Whatever the parts are, a row goes with what it needs, and comes back",
    arguments: ["", "WITHOUT ROWID"])
  func everyValue(form: String) throws {
    let store = try store(form)
    let before = try store.dump()
    let receipt = try store.apply([.delete(Node("roots", .integer(1)))])
    #expect(try count(store) == CompositeKeyTests.each)
    #expect(receipt.deletedCount == 2 * CompositeKeyTests.values.count + 1)
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.dump() == before)
  }

  @Test(
    "Whatever stands for such a key in a list leads to nothing, and is in nobody's way",
    arguments: [#"["Z"]"#, #"[[1, "x"]]"#, #"["[1"]"#, #"["{}"]"#, #"[5, "5"]"#])
  func unfit(list: String) throws {
    let rules = [
      "deleteSourceIfDestinationDeleted", "deleteDestinationIfSourceDeleted",
      "deleteDestinationIfAllSourcesDeleted", "nullifySourceIfDestinationDeleted",
      "denyDestinationDeletion",
    ]
    for rule in rules {
      let store = try TestStore(
        model: StoreModel(
          """
          { collections: { pairs: { table: 'pair', key: ['a', 'b'] }, lists: { table: 'list', key: 'id' },
              leaves: { table: 'leaf', key: 'id' } },
            relationships: [
              { name: 'pairs', from: 'lists', to: 'pairs', property: 'pairs', toMany: true,
                rules: ['\(rule)'] },
              { name: 'list', from: 'leaves', to: 'lists', column: 'list',
                rules: ['deleteSourceIfDestinationDeleted'] } ] }
          """),
        schema: """
          CREATE TABLE pair(a INT, b TEXT, PRIMARY KEY(a, b)); INSERT INTO pair VALUES(1, 'x');
          CREATE TABLE list(id INTEGER PRIMARY KEY, pairs TEXT);
          CREATE TABLE leaf(id INTEGER PRIMARY KEY, list INT); INSERT INTO leaf VALUES(1, 1);
          """)
      _ = try store.writer.sweep([.all], at: 0)
      try store.bySQL("INSERT INTO list VALUES(1, '\(list)'), (2, '\(list)')")
      #expect(try store.reader.checkReferences().total <= 4)
      try store.bySQL("DELETE FROM list WHERE id = 1; DELETE FROM pair")
      #expect(try store.writer.sweep([.cascade, .refcount], at: 1).deletedCount == 1)
      #expect(try store.texts("SELECT id FROM list") == ["2"], "\(rule)")
      let value: JSON = ["pairs": .string(list)]
      try store.apply([
        .put(Node("lists", .integer(3)), type: nil, value: JSONText(value), edges: nil)
      ])
      _ = try store.writer.sweep([.cascade, .refcount], at: 2)
    }
  }

  @Test("A sweep takes them too, and only those", arguments: ["", "WITHOUT ROWID"])
  func swept(form: String) throws {
    let store = try store(form)
    try store.bySQL("DELETE FROM root WHERE id = 1")
    #expect(
      try store.writer.sweep([.cascade], at: 1).deletedCount == 2 * CompositeKeyTests.values.count)
    #expect(try count(store) == CompositeKeyTests.each)
    #expect(try store.writer.sweep([.all], at: 2).deletedCount == 0)
  }

  @Test("A row that only changed is not gone", arguments: ["", "WITHOUT ROWID"])
  func changed(form: String) throws {
    let store = try store(form)
    for b in [
      "x'00FF'", "'x''00FF'''", "0.1 + 0.2", "'a' || char(0) || 'b'", "CAST(x'6100FF' AS TEXT)",
    ] {
      try store.bySQL("INSERT OR IGNORE INTO pair VALUES(2, \(b), 2)")
      try store.bySQL("DELETE FROM pair WHERE a = 2 AND b IS \(b)")
      try store.bySQL("INSERT INTO pair VALUES(2, \(b), 2)")
    }
    let before = try store.dump()
    #expect(try store.writer.sweep([.all], at: 1).outcome == .nothing)
    #expect(try store.dump() == before)
  }

  @Test("Two numbers that differ in the last digit are two nodes")
  func twoReals() throws {
    let store = try store("WITHOUT ROWID")
    try store.bySQL("UPDATE pair SET root = 2; UPDATE pair SET root = 1 WHERE b IS 0.3")
    try store.bySQL("INSERT INTO pair VALUES(1, 0.3, 1)")
    try store.apply([.delete(Node("roots", .integer(1)))])
    let rest = try Connection(path: store.path, access: .readOnly).integer(
      "SELECT count(*) FROM pair WHERE b IS 0.1 + 0.2")
    #expect(rest == 2)
  }
}
