import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps
import SQLiteJournal
import SQLiteDeletion
import SQLiteUndo

/// What a batch deleted comes back as it was.
@Suite("Undo")
struct UndoTests {
  private static let everyKind = #"""
    CREATE TABLE root(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE leaf(
      "k e'y" TEXT UNIQUE, root INTEGER, t TEXT, i INTEGER, r REAL, n NUMERIC, b BLOB, x,
      g GENERATED ALWAYS AS (t || '!') STORED, v AS (i + 1), u INTEGER UNIQUE);
    CREATE TABLE pair(a INTEGER, b TEXT, root INTEGER, note, PRIMARY KEY(a, b)) WITHOUT ROWID;
    CREATE TABLE wide(id TEXT PRIMARY KEY, root INTEGER,
      \#((0..<40).map { "w\($0)" }.joined(separator: ", ")));
    CREATE TABLE typed(id INTEGER PRIMARY KEY, root INT, a ANY, s TEXT) STRICT;
    CREATE TABLE link(root INTEGER, tag TEXT);
    CREATE INDEX leaf_root ON leaf(root);
    INSERT INTO root VALUES(1, 'one'), (2, 'two');
    INSERT INTO leaf VALUES
      ('a', 1, 'x' || char(0) || 'y', 9223372036854775807, 0.1, 1e300, x'00FF', 1, 1),
      ('b', 1, CAST(x'C3FF41' AS TEXT), 'no number', -1.5e-300, '1e5', zeroblob(100000), 1.0, 2),
      ('c', 1, '', -1, 3, 2.0, '', 'text', 3), ('d', 1, NULL, NULL, 9e999, NULL, NULL, x'', NULL),
      ('e', 2, 'stays', 1, 1, 1, 1, 1, 9);
    UPDATE leaf SET rowid = rowid * 1000;
    INSERT INTO pair VALUES(1, 'x', 1, 1.5), (1, 'y', 1, 'z'), (2, 'x', 2, NULL);
    INSERT INTO wide(id, root, w0, w13, w14, w15, w39) VALUES('w', 1, 1, 'a', x'01', 2.5, 'end'),
      ('other', 2, 1, 1, 1, 1, 1);
    INSERT INTO typed VALUES(5, 1, 1.0, 'a'), (6, 1, 'b', 'b'), (7, 2, NULL, NULL);
    INSERT INTO link VALUES(1, 'a'), (1, 'a'), (1, NULL), (2, 'b');
    UPDATE link SET rowid = rowid * 77;
    """#

  private static let cascade = "rules: ['deleteSourceIfDestinationDeleted']"

  private static func model(_ more: String = "") throws -> StoreModel {
    try StoreModel(
      """
      { collections: { roots: { table: 'root', key: 'id' }, leaves: { table: 'leaf', key: "k e'y" },
          pairs: { table: 'pair', key: ['a', 'b'] }, wide: { table: 'wide', key: 'id' },
          typed: { table: 'typed', key: 'id' }, tags: {} },
        relationships: [
          { name: 'root', from: 'leaves', to: 'roots', column: 'root', \(cascade) },
          { name: 'root', from: 'pairs', to: 'roots', column: 'root', \(cascade) },
          { name: 'root', from: 'wide', to: 'roots', column: 'root', \(cascade) },
          { name: 'root', from: 'typed', to: 'roots', column: 'root', \(cascade) },
          { name: 'tags', from: 'roots', to: 'tags',
            join: { table: 'link', source: 'root', destination: 'tag' } },
        ]\(more) }
      """)
  }

  private func everyKind(_ more: String = "") throws -> TestStore {
    try TestStore(model: UndoTests.model(more), schema: UndoTests.everyKind)
  }

  private let root = Node("roots", .integer(1))

  // MARK: - As it was

  @Test("Values of every type, keys of every form, and rowids come back", arguments: UndoWay.all)
  func everyValue(way: UndoWay) throws {
    let store = try everyKind()
    let before = try store.dump()
    let receipt = try store.apply([.delete(root)])
    #expect(receipt.deletedCount == 10)
    #expect(try store.dump() != before)
    let result = try store.undo(receipt, way)
    #expect(try store.dump() == before)
    #expect(result.leftCount == 0)
    // One that was stopped says what came back since.
    if way != .stopped {
      #expect((result.restored, result.rows) == (10, 3))
      #expect(result.byCollection == ["roots": 1, "leaves": 4, "pairs": 2, "wide": 1, "typed": 2])
    }
    #expect(try store.writer.sweep([.all], at: 1 << 20).deletedCount == 0)
    #expect(try store.dump() == before)
  }

  @Test("A deletion and its undo leave a random graph as it was", arguments: 0..<4)
  func randomGraphs(part: UInt64) throws {
    for run in 0..<(Histories.isLong ? 500 : 8) as Range<UInt64> {
      let seed = run * 4 + part
      var random = Seeded(seed)
      let graph = PlacedGraph(TablesInSQLite(), bySQL: false, &random)
      let store = try TestStore(model: StoreModel(graph.model), schema: graph.schema)
      for _ in 0..<8 {
        let steps = graph.steps(bySQL: false, &random)
        _ = try store.reasons(steps.map(graph.forFile))
        try compare(store, graph, seed, &random)
      }
    }
  }

  private func compare(
    _ store: TestStore, _ graph: PlacedGraph, _ seed: UInt64, _ random: inout Seeded
  ) throws {
    let before = try store.dump()
    let deletions = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      Change.delete(
        graph.node(
          ["a", "b"].randomElement(using: &random)!, Int.random(in: 0..<4, using: &random)))
    }
    guard let receipt = try? store.apply(deletions), receipt.deletedCount > 0 else { return }
    let way = UndoWay.all[Int(seed % 3)]
    let result = try store.undo(receipt, way)
    #expect(result.leftCount == 0, "seed \(seed): \(result.left)")
    let after = try store.dump()
    #expect(
      after == before,
      """
      seed \(seed): \(deletions) lost \(Set(before).subtracting(after)), gained \
      \(Set(after).subtracting(before))
      \(graph.model)
      """)
    #expect(result.dangling.isEmpty, "seed \(seed)")
  }

  @Test("A key that the table computes comes back", arguments: ["STORED", "VIRTUAL"])
  func computedKey(form: String) throws {
    let store = try TestStore(
      model: StoreModel("{ collections: { a: { table: 'a', key: 'k' } } }"),
      schema: """
        CREATE TABLE a(x TEXT, k TEXT AS (x || '/' || y) \(form) UNIQUE, y TEXT);
        INSERT INTO a VALUES('x', 'y'), ('x', 'z');
        """)
    let before = try store.dump()
    let receipt = try store.apply([.delete(Node("a", .text("x/y")))])
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.dump() == before)
  }

  @Test("What was unlinked with a deletion is linked again, and edges keep whose they are")
  func edges() throws {
    let store = try TestStore()
    try store.run("A B C D A-8>B C-0>B D-1>C A-2d>D")
    let before = try store.dump()
    let receipt = try store.run("!A ~D->C")
    #expect(try store.undo(receipt).edges == 4)
    #expect(try store.dump() == before)
    #expect(try store.alive() == "A B C D")
  }

  @Test("References of what survived are put back, if nobody wrote them since")
  func references() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' }, m: {} },
          relationships: [
            { name: 'one', from: 'b', to: 'a', column: 'one', rules: ['nullifySourceIfDestinationDeleted'] },
            { name: 'list', from: 'b', to: 'a', property: 'doc.list', toMany: true,
              rules: ['nullifySourceIfDestinationDeleted'] },
            { name: 'refs', from: 'm', to: 'a', property: 'refs', toMany: true,
              rules: ['nullifySourceIfDestinationDeleted'] },
          ] }
        """),
      schema: """
        CREATE TABLE a(id INTEGER PRIMARY KEY);
        CREATE TABLE b(id INTEGER PRIMARY KEY, one INTEGER, doc TEXT);
        INSERT INTO a VALUES(1), (2);
        INSERT INTO b VALUES(1, 1, '{"list": [1, 2,  1], "z": 1}'), (2, 1, '{"list":[1]}'), (3, 2, NULL);
        """)
    try store.apply([
      .put(
        Node("m", .text("o")), type: nil, value: JSONText(valid: #"{"refs": [1, 2]}"#), edges: nil)
    ])
    let before = try store.dump()
    let first = try store.apply([.delete(Node("a", .integer(1)))])
    #expect(try store.undo(first).references == 5)
    #expect(try store.dump() == before)
    let second = try store.apply([.delete(Node("a", .integer(1)))])
    try store.bySQL("UPDATE b SET one = 2 WHERE id = 1")
    let result = try store.undo(second)
    #expect((result.references, result.leftCount) == (4, 1))
    #expect(result.left[0].node == Node("b", .integer(1)))
    #expect(try store.dump().filter { $0.hasPrefix("b") }.count == 3)
  }

  // MARK: - Left alone

  @Test("A hundred thousand rows of five tables come back at once")
  func large() throws {
    let tables = (1...5).map { "t\($0)" }
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { \(tables.map { "\($0): { table: '\($0)', key: 'id' }" }.joined(separator: ", ")) },
          relationships: [\(zip(tables, tables.dropFirst()).map {
            "{ name: 'up', from: '\($1)', to: '\($0)', column: 'up', \(UndoTests.cascade) }"
          }.joined(separator: ", "))] }
        """),
      schema: tables.map { table in
        """
        CREATE TABLE \(table)(id TEXT PRIMARY KEY, up TEXT, n REAL);
        CREATE INDEX \(table)_up ON \(table)(up);
        INSERT INTO \(table) WITH RECURSIVE c(i) AS (
          SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(table == "t1" ? 10 : 25_000))
        SELECT hex(i * 7919 % 1000003) || '-some-longer-key', hex((i % \(table == "t2" ? 10 : 25_000)
          + 1) * 7919 % 1000003) || '-some-longer-key', i / 3.0 FROM c;
        """
      }.joined())
    let before = try store.dump()
    let receipt = try store.apply([.deleteAll(collection: "t1")])
    #expect(receipt.deletedCount == 100_010)
    #expect(try store.undo(receipt).restored == 100_010)
    #expect(try store.dump() == before)
  }

  @Test("A key that was taken meanwhile stays with who took it, and can be tried again")
  func taken() throws {
    let store = try everyKind()
    let before = try store.dump()
    let receipt = try store.apply([.delete(root)])
    try store.bySQL(
      """
      INSERT INTO pair VALUES(1, 'x', 2, 'mine');
      INSERT INTO leaf("k e'y", u) VALUES('new', 2);
      """)
    let result = try store.undo(receipt)
    #expect((result.restored, result.leftCount) == (8, 2))
    #expect(
      result.left.map(\.node) == [
        Node("leaves", .text("b")), Node("pairs", .composite([.integer(1), .text("x")])),
      ])
    #expect(result.left.map(\.reason).allSatisfy { $0.contains("UNIQUE constraint failed") })
    #expect(try store.reader.batches(after: 0, limit: 9).last?.undone?.isPartly == true)
    try store.bySQL(
      "DELETE FROM pair WHERE note = 'mine'; DELETE FROM leaf WHERE \"k e'y\" = 'new'")
    #expect(try store.undo(receipt).restored == 2)
    #expect(try store.dump() == before)
    #expect(throws: UndoUnavailable.undone(at: 9, by: "me")) { try store.undo(receipt) }
  }

  @Test("A rowid that was taken meanwhile is another one afterwards")
  func rowidTaken() throws {
    let store = try everyKind()
    let receipt = try store.apply([.delete(root)])
    try store.bySQL("INSERT INTO leaf(rowid, \"k e'y\") VALUES(2000, 'new')")
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.exists(Node("leaves", .text("b"))))
  }

  @Test("What is left is explained by who took it along, who is back")
  func whyLeft() throws {
    let model = """
      { collections: { b: { table: 'b', key: 'id' } }, relationships: [
        { name: 'next', from: 'b', to: 'b', column: 'next',
          rules: ['deleteDestinationIfSourceDeleted'] } ] }
      """
    let schema = """
      CREATE TABLE b(id INTEGER PRIMARY KEY, next INT, u UNIQUE);
      INSERT INTO b VALUES(1, 2, 'u'), (2, 3, 'v'), (3, NULL, 'w')
      """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    let receipt = try store.apply([.delete(Node("b", .integer(1)))])
    try store.bySQL("INSERT INTO b VALUES(9, NULL, 'w')")
    #expect(try store.undo(receipt).leftCount == 1)
    let why = try store.reader.why(Node("b", .integer(3)))
    guard case .deleted(let deletion) = why else { throw StoreError("b/3 is there") }
    #expect(deletion.chain.map(\.edge?.source) == [Node("b", .integer(2))])
    try store.bySQL("DELETE FROM b WHERE id = 9")
    #expect(try store.undo(receipt).restored == 1)
  }

  @Test("An object whose key was taken stays in the trash with its edges")
  func objectTaken() throws {
    let store = try TestStore()
    try store.run("A B C A-8>B C-0>B")
    let receipt = try store.run("!A")
    try store.run("B")
    let result = try store.undo(receipt)
    #expect((result.restored, result.edges, result.leftCount) == (1, 0, 3))
    #expect(
      result.left.map(\.reason) == [
        "the key was taken meanwhile", "one of its ends was not restored",
        "one of its ends was not restored",
      ])
    #expect(try store.graph() == "")
    try store.run("!B")
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.graph() == "A-8>B C-0>B")
  }

  @Test("What the application deleted itself is missed, and told")
  func dangling() throws {
    let store = try everyKind()
    let before = try store.dump()
    try store.bySQL("DELETE FROM root WHERE id = 1")
    let batch = try #require(try store.writer.sweep([.cascade], at: 5).batch)
    let why = try store.reader.why(Node("leaves", .text("a")))
    guard case .deleted(let deletion) = why else {
      Issue.record("not deleted")
      return
    }
    #expect((deletion.cause, deletion.at) == (.sweep, 5))
    #expect(deletion.chain.map(\.node) == [Node("leaves", .text("a")), root])
    #expect(deletion.chain[0].edge != nil)
    let result = try store.writer.undo(batch, by: "me", at: 9)
    #expect((result.restored, result.danglingCount, result.dangling.count) == (9, 9, 9))
    guard case .deleted(let own) = try store.reader.why(root) else {
      Issue.record("forgotten")
      return
    }
    #expect((own.batch, own.cause, own.chain.map(\.node)) == (batch, .sweep, [root]))
    try store.bySQL("INSERT INTO root VALUES(1, 'one')")
    #expect(try store.dump() == before)
    #expect(try store.writer.sweep([.all], at: 10).deletedCount == 0)
  }

  // MARK: - Questions and time

  @Test("A node that is back is alive, and its batch says who undid it")
  func listed() throws {
    let store = try everyKind()
    let receipt = try store.apply([.delete(root)], id: "the file")
    let batch = try #require(try store.reader.batches(after: 0, limit: 9).first)
    #expect((batch.batch, batch.id, batch.author) == (receipt.batch, "the file", "test"))
    #expect((batch.deletedCount, batch.kind) == (10, .file))
    #expect(batch.undoUntil == batch.at + 86_400_000)
    try store.undo(receipt)
    guard case .alive = try store.reader.why(root) else {
      Issue.record("not alive")
      return
    }
    let undone = try #require(try store.reader.batches(after: 0, limit: 9).first)
    #expect((undone.undone?.by, undone.undone?.at, undone.undone?.isPartly) == ("me", 9, false))
    #expect(undone.undoUntil == nil)
    #expect(undone.byCollection == batch.byCollection)
    #expect(throws: UndoUnavailable.unknown) { try store.writer.undo(99, by: "me", at: 9) }
  }

  @Test("What is past its time is forgotten a little at a time, and the ledger last")
  func retention() throws {
    let store = try everyKind(", keep: { ledger: '2d', notices: '2d' }")
    let receipt = try store.apply([.delete(root)])
    let day: Int64 = 86_400_000
    func forget(_ time: Int64) throws -> Int {
      try store.withSteps(of: 3) {
        try store.writer.sweep([.trash], at: time).lockMilliseconds.count
      }
    }
    #expect(try forget(day) == 0)
    #expect(try forget(day + 2) > 4)
    #expect(throws: UndoUnavailable.notInTrash) { try store.undo(receipt) }
    #expect(try forget(2 * day) == 0)
    #expect(try forget(2 * day + 2) == 1)
    #expect(throws: UndoUnavailable.unknown) { try store.undo(receipt) }
  }

  @Test("What two flushes of a transaction deleted comes back, though one is named in between")
  func flushes() throws {
    let tables = ["a", "b"].map { "CREATE TABLE \($0)(id TEXT PRIMARY KEY) WITHOUT ROWID;" }
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' }, n: {} } }
        """),
      schema: tables.joined() + "INSERT INTO a VALUES('1'); INSERT INTO b VALUES('1')")
    let receipt = try store.apply(
      [.delete(node("a/1")), .flush] + changes("n/x n/x-2>a/1") + [.delete(node("b/1"))])
    #expect(receipt.deletedCount == 2)
    #expect(try store.undo(receipt).byCollection == ["a": 1, "b": 1])
  }

  @Test("A row that is put again behind a flush, and goes again, comes back as it was before")
  func twice() throws {
    let store = try everyKind()
    let root = [
      delete("roots/1"), .flush, put("roots/1", #"{"name": "new"}"#), .flush, delete("roots/1"),
    ]
    let result = try store.undo(store.apply(root))
    #expect(result.leftCount == 0)
    #expect(try store.value("roots/1") == #"{"id":1,"name":"one"}"#)
  }

  @Test("Whoever keeps nothing has nothing to undo")
  func keepsNothing() throws {
    let store = try everyKind(", trash: '0'")
    let receipt = try store.apply([.delete(root)])
    #expect(throws: UndoUnavailable.notInTrash) { try store.undo(receipt) }
    #expect(try store.reader.batches(after: 0, limit: 9).map(\.undoUntil) == [nil])
  }
}
