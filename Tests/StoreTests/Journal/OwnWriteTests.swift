import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteUndo
import SQLiteSweeps

/// What we write where the application has triggers or foreign keys of its own: what these do about
/// it is theirs, and what we did is not taken for theirs.
@Suite("Our own writes among an application's triggers")
struct OwnWriteTests {
  private static let schema = """
    CREATE TABLE a(id TEXT PRIMARY KEY);
    CREATE TABLE b(id TEXT PRIMARY KEY, x TEXT, n INTEGER, list TEXT);
    CREATE TABLE x(id TEXT PRIMARY KEY, a TEXT);
    CREATE TABLE heard(v);
    CREATE INDEX b_x ON b(x);
    INSERT INTO x(id) VALUES('x0'), ('x1');
    INSERT INTO b(id, x, list) VALUES('b0', 'x0', '[]'), ('b1', 'x1', '["x1"]');
    """

  private func store(_ place: String, _ rules: Rules, sql: String) throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' },
            x: { table: 'x', key: 'id' } },
          relationships: [
            { name: 'x', from: 'b', to: 'x', \(place), rules: \(rules.list) },
            { name: 'a', from: 'x', to: 'a', column: 'a',
              rules: ['deleteSourceIfDestinationDeleted'] },
          ] }
        """), schema: OwnWriteTests.schema + sql)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  private func ids(_ table: String, _ store: TestStore) throws -> String {
    try store.texts("SELECT id FROM \(table) ORDER BY id").joined(separator: " ")
  }

  private func sweep(_ store: TestStore) throws {
    _ = try store.writer.sweep([.cascade, .refcount], at: 1)
  }

  // MARK: - References that are set to null

  private static let letsGo: Rules = [
    .deleteDestinationIfAllSourcesDeleted, .nullifySourceIfDestinationDeleted,
  ]
  private static let audit = """
    CREATE TRIGGER audit AFTER UPDATE ON b BEGIN INSERT INTO heard VALUES(NEW.id); END;
    """

  @Test(
    "What is put back behind a sweep that set its references to null stays",
    arguments: [
      ("column: 'x'", nil), ("column: 'x'", 1), ("property: 'list', toMany: true", nil),
      ("property: 'list', toMany: true", 1),
    ] as [(String, Int64?)], ["x WHERE id = 'x1'", "a"])
  func putBack(manner: (place: String, rows: Int64?), deleted: String) throws {
    let store = try store(
      manner.place, OwnWriteTests.letsGo,
      sql: OwnWriteTests.audit + "INSERT INTO a VALUES('a'); UPDATE x SET a = 'a' WHERE id = 'x1';")
    if let rows = manner.rows { store.sweepsInSteps(of: rows) }
    try store.bySQL("DELETE FROM \(deleted)")
    try sweep(store)
    try store.bySQL("INSERT INTO x(id) VALUES('x1')")
    try sweep(store)
    #expect(try ids("x", store) == "x0 x1")
  }

  @Test(
    "What a change file deletes and puts again behind a flush stays",
    arguments: ["column: 'x'", "property: 'list', toMany: true"])
  func putBackByFile(place: String) throws {
    let store = try store(place, OwnWriteTests.letsGo, sql: OwnWriteTests.audit)
    try store.apply([delete("x/x1"), .flush, put("x/x1")])
    try sweep(store)
    #expect(try ids("x", store) == "x0 x1")
  }

  @Test("So does what a row of more references than one line of the journal has referred to")
  func putBackOfMany() throws {
    let names = ["r", "s", "t", "u", "v"]
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { b: { table: 'b', key: 'id' }, x: { table: 'x', key: 'id' } },
          relationships: [\(names.map {
            "{ name: '\($0)', from: 'b', to: 'x', column: '\($0)', rules: ["
              + "'deleteDestinationIfSourceDeleted', 'nullifySourceIfDestinationDeleted'] }"
          }.joined(separator: ", "))] }
        """),
      schema: """
        CREATE TABLE x(id TEXT PRIMARY KEY); CREATE TABLE b(id TEXT PRIMARY KEY, r, s, t, u, v);
        CREATE TABLE heard(v);
        INSERT INTO x VALUES('x0'), ('x1'); INSERT INTO b(id, r, v) VALUES('b', 'x0', 'x1');
        \(OwnWriteTests.audit)
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.apply([delete("x/x0"), delete("x/x1"), .flush, put("x/x0"), put("x/x1")])
    try sweep(store)
    #expect(try ids("x", store) == "x0 x1")
  }

  // MARK: - What triggers do to the rows of a change file

  @Test(
    "A row that came where a deleted one was is another one",
    arguments: [[], [patch("b/b1", #"{"n": 1}"#)]])
  func freedRow(before: [Change]) throws {
    let store = try store(
      "column: 'x'", 8,
      sql: """
        INSERT INTO x(id) VALUES('x2');
        CREATE TRIGGER t AFTER INSERT ON a BEGIN
          DELETE FROM b WHERE id = 'b1'; INSERT INTO b(id, x) VALUES('b2', 'x2');
        END;
        """)
    try store.apply(before + [delete("b/b1"), put("a/1")])
    try sweep(store)
    #expect(try ids("b", store) == "b0 b2")
    #expect(try ids("x", store) == "x0 x2")
  }

  @Test("All rows of a table are those that are there at the flush")
  func movedRows() throws {
    let store = try store(
      "column: 'x'", 8,
      sql: """
        CREATE TRIGGER t AFTER INSERT ON a BEGIN
          UPDATE b SET rowid = rowid + 10; INSERT INTO b(rowid, id) VALUES(1, 'b2');
        END;
        """)
    try store.apply([.deleteAll(collection: "b"), put("a/1")])
    #expect(try ids("b", store) == "b2")
  }

  @Test(
    "What a trigger took from a row is lost, though the same file changes the row",
    arguments: [
      [patch("b/b1", #"{"n": 1}"#), delete("b/b1"), put("a/delete")],
      [put("a/null"), patch("b/b1", #"{"n": 1}"#)], [put("a/null"), delete("b/b1")],
    ])
  func takenByTrigger(changes: [Change]) throws {
    let store = try store(
      "column: 'x'", 32,
      sql: """
        CREATE TRIGGER t AFTER INSERT ON a WHEN NEW.id = 'null' BEGIN
          UPDATE b SET x = NULL WHERE id = 'b1';
        END;
        CREATE TRIGGER u AFTER INSERT ON a WHEN NEW.id = 'delete' BEGIN
          DELETE FROM b WHERE id = 'b1';
        END;
        """)
    try store.apply(changes)
    try sweep(store)
    #expect(try ids("x", store) == "x0")
  }

  // MARK: - Rows that come and go

  @Test("What a foreign key takes along with a row that came and goes is ruled over")
  func bornParent() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { p: { table: 'p', key: 'id' }, c: { table: 'c', key: 'id' },
            x: { table: 'x', key: 'id' } },
          relationships: [{ name: 'x', from: 'c', to: 'x', column: 'x',
            rules: ['deleteDestinationIfSourceDeleted'] }] }
        """),
      schema: """
        CREATE TABLE p(id TEXT PRIMARY KEY); CREATE TABLE x(id TEXT PRIMARY KEY);
        CREATE TABLE c(id TEXT PRIMARY KEY, p TEXT REFERENCES p(id) ON DELETE CASCADE, x TEXT);
        INSERT INTO p VALUES('p0'); INSERT INTO x VALUES('x0'); INSERT INTO c VALUES('c0', 'p0', 'x0');
        """)
    let receipt = try store.apply([put("p/p1"), patch("c/c0", #"{"p": "p1"}"#), delete("p/p1")])
    #expect(receipt.deleted.map(\.description).sorted() == ["c/c0", "p/p1", "x/x0"])
    _ = try store.writer.undo(#require(receipt.batch), by: "me", at: 2)
    #expect(try ids("c", store) == "c0")
    #expect(try ids("x", store) == "x0")
  }

  @Test("What a join row said that came and goes never was")
  func bornJoinRow() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' },
            j: { table: 'j', key: ['a', 'b'] } },
          relationships: [{ name: 'b', from: 'a', to: 'b', toMany: true,
            join: { table: 'j', source: 'a', destination: 'b' },
            rules: ['deleteDestinationIfAllSourcesDeleted', 'notifyIfSourceDeleted'] }] }
        """),
      schema: """
        CREATE TABLE a(id TEXT PRIMARY KEY); CREATE TABLE b(id TEXT PRIMARY KEY);
        CREATE TABLE j(a, b, PRIMARY KEY(a, b)); CREATE INDEX j_b ON j(b);
        INSERT INTO a VALUES('a1'); INSERT INTO b VALUES('b1');
        """)
    let pair = Node("j", .composite([.text("a1"), .text("b1")]))
    let receipt = try store.apply([
      .put(pair, type: nil, value: nil, edges: nil), .delete(pair),
    ])
    #expect((receipt.notices, receipt.edgesAdded, receipt.edgesRemoved) == (0, 0, 0))
    #expect(try ids("b", store) == "b1")
  }
}
