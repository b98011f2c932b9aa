import Model
import SQLite
import Store
import Testing

/// Keys of several columns, whose parts may be anything.
@Suite("Parts of a key")
struct KeyPartTests {
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
  ]

  private func store(_ form: String) throws -> TestStore {
    let rows = KeyPartTests.values.map { "(\($0), 1, 1), (1, \($0), 1), (2, \($0), 2)" }
    return try TestStore(
      model: StoreModel(KeyPartTests.model),
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
    #expect(try count(store) == KeyPartTests.each)
    #expect(receipt.deletedCount == 2 * KeyPartTests.values.count + 1)
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.dump() == before)
  }

  @Test("A sweep takes them too, and only those", arguments: ["", "WITHOUT ROWID"])
  func swept(form: String) throws {
    let store = try store(form)
    try store.bySQL("DELETE FROM root WHERE id = 1")
    #expect(
      try store.writer.sweep([.cascade], at: 1).deletedCount == 2 * KeyPartTests.values.count)
    #expect(try count(store) == KeyPartTests.each)
    #expect(try store.writer.sweep([.all], at: 2).deletedCount == 0)
  }

  @Test("A row that only changed is not gone", arguments: ["", "WITHOUT ROWID"])
  func changed(form: String) throws {
    let store = try store(form)
    for b in ["x'00FF'", "0.1 + 0.2", "'a' || char(0) || 'b'"] {
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
