import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps
import SQLiteJournal
import SQLiteUndo

/// Tables that an application may have, and whose rows are told apart as SQLite does it.
@Suite("Odd tables")
struct UnusualTableTests {
  private func store(_ schema: String, rules: String, to: String = "p") throws -> TestStore {
    let model = """
      { collections: { p: { table: 'p', key: 'id' }, c: { table: 'c', key: 'id' }, m: {} },
        relationships: [
          { name: 'p', from: 'c', to: '\(to)', column: 'pid', rules: ['\(rules)'] } ] }
      """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  @Test(
    "A rowid beyond what numbers by rows can say names nobody else",
    arguments: [1 << 44 + 7, 2 << 44 + 7, 3 << 44 + 7, -5, 1 << 62, .max, .min, .min + 1]
      as [Int64])
  func farRow(row: Int64) throws {
    let model = "{ collections: { p: { table: 'p', key: 'id' }, c: { table: 'c', key: 'id' } } }"
    let store = try TestStore(
      model: StoreModel(model),
      schema: """
        CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY);
        INSERT INTO p VALUES(7), (1), (\(row)); INSERT INTO c VALUES(7), (1), (\(row));
        """)
    func deletion(_ table: String, _ key: Int64) -> Change { .delete(Node(table, .integer(key))) }
    try store.apply([
      deletion("p", 7), deletion("c", 7), deletion("c", 1), deletion("c", row), deletion("p", row),
    ])
    #expect(try store.texts("SELECT 'p' || id FROM p UNION ALL SELECT 'c' || id FROM c") == ["p1"])
  }

  @Test("A column may be called true")
  func columnTrue() throws {
    let store = try store(
      """
      CREATE TABLE p(id TEXT PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, pid, "true" DEFAULT 0);
      INSERT INTO p VALUES('a'); INSERT INTO c(id, pid) VALUES(1, 'a'), (2, 'a');
      """, rules: "deleteDestinationIfAllSourcesDeleted")
    try store.bySQL("DELETE FROM c WHERE id = 1")
    #expect(try store.writer.sweep([.all], at: 1).outcome == .nothing)
    #expect(try store.texts("SELECT id FROM p") == ["a"])
  }

  @Test("Keys compare as their column does, whatever an index tells apart")
  func collations() throws {
    let coarse = try store(
      """
      CREATE TABLE p(id TEXT); CREATE UNIQUE INDEX p_id ON p(id COLLATE NOCASE);
      CREATE TABLE c(id INTEGER PRIMARY KEY, pid TEXT);
      INSERT INTO p VALUES('a'); INSERT INTO c VALUES(1, 'a'), (2, 'A');
      """, rules: "nullifySourceIfDestinationDeleted")
    try coarse.bySQL("DELETE FROM p")
    _ = try coarse.writer.sweep([.all], at: 1)
    #expect(try coarse.texts("SELECT id FROM c WHERE pid IS NOT NULL") == [])
    let fine = try store(
      """
      CREATE TABLE p(id TEXT COLLATE NOCASE, PRIMARY KEY(id COLLATE BINARY));
      CREATE TABLE c(id INTEGER PRIMARY KEY, pid TEXT);
      """, rules: "nullifySourceIfDestinationDeleted")
    #expect(fine.writer.isPartlyBound)
  }

  @Test("A STRICT table's keys of any type are no numbers")
  func anyKeys() throws {
    let store = try store(
      """
      CREATE TABLE p(id ANY PRIMARY KEY) STRICT; CREATE TABLE c(id INTEGER PRIMARY KEY, pid ANY) STRICT;
      INSERT INTO p VALUES('12'), (12); INSERT INTO c VALUES(1, '12'), (2, 12);
      """, rules: "deleteSourceIfDestinationDeleted")
    try store.apply([.delete(Node("p", .text("12")))])
    #expect(try store.texts("SELECT typeof(id) FROM p") == ["integer"])
    #expect(try store.texts("SELECT id FROM c") == ["2"])
  }

  @Test("A rollback in a trigger leaves all as it was")
  func rollback() throws {
    let store = try store(
      """
      CREATE TABLE p(id TEXT PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, pid TEXT);
      INSERT INTO p VALUES('a'); INSERT INTO c VALUES(1, 'a'), (2, 'a'), (3, 'a');
      CREATE TRIGGER stay BEFORE DELETE ON c WHEN OLD.id = 2 BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
      """, rules: "deleteSourceIfDestinationDeleted")
    try store.bySQL("DELETE FROM p")
    #expect(throws: RejectionWithRollback.self) { try store.writer.sweep([.all], at: 1) }
    #expect(try store.texts("SELECT id FROM c") == ["1", "2", "3"])
  }

  @Test("A generated column is never set to null")
  func generated() throws {
    let store = try store(
      """
      CREATE TABLE p(id TEXT PRIMARY KEY);
      CREATE TABLE c(id INTEGER PRIMARY KEY, a, pid TEXT AS (a) STORED);
      """, rules: "nullifySourceIfDestinationDeleted")
    #expect(store.writer.bindingProblems.map(\.message).joined().contains("is generated"))
  }

  @Test("A number in a column without a type stands for its digits")
  func untyped() throws {
    let store = try store(
      """
      CREATE TABLE p(id TEXT PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, pid);
      """, rules: "deleteDestinationIfAllSourcesDeleted", to: "m")
    try store.apply([.put(Node("m", .text("2")), type: nil, value: nil, edges: nil)])
    try store.bySQL("INSERT INTO c VALUES(1, '2'), (2, 2)")
    _ = try store.writer.sweep([.all], at: 1)
    for id in [1, 2] {
      #expect(try store.exists(Node("m", .text("2"))))
      try store.bySQL("DELETE FROM c WHERE id = \(id)")
      _ = try store.writer.sweep([.all], at: 2)
    }
    #expect(try !store.exists(Node("m", .text("2"))))
  }

  @Test("A backup that is restored into the file counts on from where it was")
  func restored() throws {
    let store = try TestStore()
    func put(_ range: ClosedRange<Int>) throws -> Receipt {
      try store.apply(
        range.map { .put(Node("m", .text("\($0)")), type: nil, value: nil, edges: nil) })
    }
    _ = try put(1...2)
    try store.bySQL(
      """
      INSERT INTO cascade_node(id, collection, key) SELECT 50, collection, 'x' FROM cascade_node LIMIT 1;
      UPDATE cascade_meta SET value = 51 WHERE name = 'next_node_id';
      """)
    #expect(try put(3...60).outcome == .applied)
    #expect(try store.texts("SELECT count(*) FROM cascade_node") == ["61"])
  }

  @Test(
    "What is denied keeps what a foreign key would take it along with",
    arguments: [nil, 1] as [Int64?])
  func followerDenied(rows: Int64?) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { p: { table: 'p', key: 'id' }, c: { table: 'c', key: 'id' },
            d: { table: 'd', key: 'id' }, g: { table: 'g', key: 'id' } },
          relationships: [
            { name: 'p', from: 'c', to: 'p', column: 'pid',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'g', from: 'g', to: 'd', column: 'd', rules: ['denyDestinationDeletion'] } ] }
        """),
      schema: """
        CREATE TABLE p(id TEXT PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, pid TEXT);
        CREATE TABLE d(id INTEGER PRIMARY KEY, c REFERENCES c ON DELETE CASCADE,
          up REFERENCES d ON DELETE CASCADE);
        CREATE TABLE g(id INTEGER PRIMARY KEY, d); INSERT INTO p VALUES('a');
        INSERT INTO c VALUES(1, 'a'), (2, 'a'), (3, 'a');
        INSERT INTO d VALUES(6, 1, NULL), (7, NULL, 6), (8, 3, NULL); INSERT INTO g VALUES(1, 7);
        """)
    if let rows { store.sweepsInSteps(of: rows) }
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM p")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.deletedCount == 3)
    #expect(
      result.blocked.map(\.message).last
        == "c/1 must stay: d/6 holds it by \"FOREIGN KEY (c)\" (ON DELETE CASCADE)")
    #expect(try store.texts("SELECT id FROM c") == ["1"])
    #expect(try store.texts("SELECT id FROM d") == ["6", "7"])
  }

  @Test("A foreign key of several columns, or to others than the key, takes nothing that is held")
  func followerByOtherKeys() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { shops: { table: 'shop', key: 'id' },
            orders: { table: 'orders', key: ['shop', 'no'] }, lines: { table: 'line', key: 'id' },
            marks: { table: 'mark', key: 'id' }, claims: { table: 'claim', key: 'id' } },
          relationships: [
            { name: 'shop', from: 'orders', to: 'shops', column: 'shop',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'mark', from: 'claims', to: 'marks', column: 'mark',
              rules: ['denyDestinationDeletion'] } ] }
        """),
      schema: """
        CREATE TABLE shop(id INTEGER PRIMARY KEY);
        CREATE TABLE orders(shop INT, no INT, PRIMARY KEY(shop, no));
        CREATE TABLE line(id INTEGER PRIMARY KEY, shop INT, no INT, code TEXT UNIQUE,
          FOREIGN KEY(shop, no) REFERENCES orders ON DELETE CASCADE);
        CREATE TABLE mark(id INTEGER PRIMARY KEY, code TEXT REFERENCES line(code) ON DELETE CASCADE);
        CREATE TABLE claim(id INTEGER PRIMARY KEY, mark INT);
        INSERT INTO shop VALUES(1); INSERT INTO orders VALUES(1, 1), (1, 2), (1, 3);
        INSERT INTO line VALUES(1, 1, 1, 'a'), (2, 1, 2, 'b'), (3, 1, 3, 'c');
        INSERT INTO mark VALUES(1, 'a'), (2, 'b'); INSERT INTO claim VALUES(1, 1);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.lease("3", in: "lines", until: 1_000)
    let before = try store.dump()
    try store.bySQL("DELETE FROM shop")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.deletedCount == 3 && result.blocked.count == 4, "\(result.blocked)")
    #expect(
      try store.texts("SELECT no FROM orders UNION ALL SELECT id FROM line") == [
        "1", "3", "1", "3",
      ])
    #expect(try store.texts("SELECT id FROM mark") == ["1"])
    _ = try store.writer.undo(try #require(result.batch), by: "", at: 2)
    try store.bySQL("INSERT INTO shop VALUES(1)")
    #expect(try store.dump() == before)
  }

  /// What lies between is in no model.
  @Test(
    "What a foreign key takes along by way of other tables is a node", arguments: [true, false])
  func followerByOtherTables(isLeased: Bool) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, z: { table: 'z', key: 'id' },
            y: { table: 'y', key: 'id' } },
          relationships: [ { name: 'y', from: 'z', to: 'y', column: 'y',
            rules: ['deleteDestinationIfAllSourcesDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE y(id INTEGER PRIMARY KEY);
        CREATE TABLE mid(id INTEGER PRIMARY KEY, a INT REFERENCES a ON DELETE CASCADE);
        CREATE TABLE z(id TEXT PRIMARY KEY, mid INT REFERENCES mid ON DELETE CASCADE, y INT);
        INSERT INTO a VALUES(1); INSERT INTO y VALUES(5); INSERT INTO mid VALUES(2, 1), (3, NULL);
        INSERT INTO z VALUES('k', 2, 5), ('l', 3, NULL);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    let before = try store.dump()
    if isLeased { try store.lease("'k'", in: "z", until: 1_000) }
    let delete = [Change.delete(Node("a", .integer(1)))]
    if isLeased {
      #expect(try store.reasons(delete).map { $0.node?.description } == ["a/1"])
    } else {
      let receipt = try store.apply(delete)
      #expect(receipt.deletedCount == 3)
      #expect(try store.dump().count == before.count - 4)
      try store.undo(receipt)
    }
    #expect(try store.dump() == before)
  }

  @Test(
    "A reference to nothing that goes does not make up for one that comes",
    arguments: [true, false])
  func heldUnseen(hasTrigger: Bool) throws {
    let other = ", up INT REFERENCES bill ON DELETE CASCADE"
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { root: { table: 'root', key: 'id' }, kid: { table: 'kid', key: 'id' },
            item: { table: 'item', key: 'id' } },
          relationships: [ { name: 'root', from: 'item', to: 'root', column: 'root',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE root(id INTEGER PRIMARY KEY);
        CREATE TABLE kid(id INTEGER PRIMARY KEY, root INT REFERENCES root ON DELETE CASCADE);
        CREATE TABLE item(id INTEGER PRIMARY KEY, root INT);
        CREATE TABLE bill(id INTEGER PRIMARY KEY, item INT REFERENCES item\(hasTrigger ? "" : other));
        CREATE TABLE aside(item INT DEFAULT 777 REFERENCES item ON DELETE SET DEFAULT);
        \(hasTrigger ? "CREATE TRIGGER own AFTER DELETE ON bill BEGIN SELECT 1; END;" : "")
        INSERT INTO root VALUES(1); INSERT INTO kid VALUES(10, 1), (11, 1);
        INSERT INTO item VALUES(20, 1), (21, 1), (22, 1); INSERT INTO bill(id, item) VALUES(30, 20);
        INSERT INTO aside VALUES(22);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM root")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.deletedCount == 3, "\(result.blocked)")
    #expect(try store.texts("SELECT id FROM item") == ["20", "22"])
    #expect(try store.texts("SELECT id FROM kid") == [])
    #expect(try store.texts("SELECT item FROM aside") == ["22"])
  }

  @Test("A sweep of reference counts alone keeps, and asks about, what a foreign key takes along")
  func followerOfCounted() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { s: { table: 's', key: 'id' }, c: { table: 'c', key: 'id' },
            d: { table: 'd', key: 'id' }, g: { table: 'g', key: 'id' } },
          relationships: [
            { name: 'c', from: 's', to: 'c', column: 'c',
              rules: ['deleteDestinationIfAllSourcesDeleted'] },
            { name: 'g', from: 'g', to: 'd', column: 'd', rules: ['denyDestinationDeletion'] } ] }
        """),
      schema: """
        CREATE TABLE s(id INTEGER PRIMARY KEY, c); CREATE TABLE c(id INTEGER PRIMARY KEY);
        CREATE TABLE d(id INTEGER PRIMARY KEY, c REFERENCES c ON DELETE CASCADE);
        CREATE TABLE g(id INTEGER PRIMARY KEY, d); INSERT INTO c VALUES(1), (2);
        INSERT INTO s VALUES(1, 1), (2, 2); INSERT INTO d VALUES(7, 1), (8, 2); INSERT INTO g VALUES(1, 7);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM s")
    let result = try store.writer.sweep([.refcount], at: 1)
    #expect(result.deletedCount == 2)
    #expect(result.blocked.count == 2)
    #expect(try store.texts("SELECT id FROM d") == ["7"])
    #expect(try store.texts("SELECT id FROM c") == ["1"])
    let undone = try store.writer.undo(try #require(result.batch), by: "", at: 2)
    #expect(undone.restored == 2)
  }

  @Test("A row of nearly as many columns as SQLite has comes back")
  func widest() throws {
    let columns = (0..<1_990).map { "v\($0)" }.joined(separator: ", ")
    let store = try store(
      """
      CREATE TABLE p(id TEXT PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, pid, \(columns));
      INSERT INTO p VALUES('a'); INSERT INTO c(id, pid, v3, v900, v1989) VALUES(1, 'a', 'x', x'00', 2.5);
      """, rules: "deleteSourceIfDestinationDeleted")
    let values = "SELECT id || pid || v3 || quote(v900) || v1989 || ifnull(v1988, '-') FROM c"
    let before = try store.texts(values)
    let receipt = try store.apply([.delete(Node("p", .text("a")))])
    #expect(try store.undo(receipt).byCollection == ["p": 1, "c": 1])
    #expect(try store.texts(values) == before)
  }

  @Test("Of an object that went twice in one batch, the first comes back")
  func undoneTwice() throws {
    let store = try TestStore()
    let (one, two) = (Node("m", .text("1")), Node("m", .text("2")))
    func put(_ node: Node, _ value: String) -> Change {
      .put(node, type: nil, value: JSONText(valid: value), edges: nil)
    }
    try store.apply([put(one, "1"), put(two, "2")])
    let batch = try store.apply([
      .delete(one), .delete(two), .flush, put(one, "3"), .flush, .delete(one),
    ]).batch
    let undone = try store.writer.undo(try #require(batch), by: "", at: 2)
    #expect(undone.restored == 2)
    #expect(try store.texts("SELECT value FROM cascade_node ORDER BY key") == ["1", "2"])
  }
}
