import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps
import SQLiteUndo

/// What an undo brings back beside what came meanwhile.
@Suite("Undo, beside what came meanwhile")
struct UndoConflictTests {
  private static let nullify = "rules: ['nullifySourceIfDestinationDeleted']"

  private func store(_ relationships: String, _ schema: String) throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: {
            a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' }, objects: {} },
          relationships: [\(relationships)] }
        """), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  @Test("A number in a column finds the text that is its key again")
  func affinity() throws {
    let store = try store(
      "{ name: 'b', from: 'a', to: 'b', column: 'b', \(UndoConflictTests.nullify) }",
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, b INTEGER); CREATE TABLE b(id TEXT PRIMARY KEY);
      INSERT INTO b VALUES('17'); INSERT INTO a VALUES(1, 17);
      """)
    let deleted = try store.apply([.delete(Node("b", .text("17")))])
    #expect(try store.undo(deleted).references == 1)
    #expect(try store.texts("SELECT b FROM a") == ["17"])
  }

  @Test("A reference comes back without a trigger that does not work")
  func brokenTrigger() throws {
    let store = try store(
      "{ name: 'b', from: 'a', to: 'b', column: 'b', \(UndoConflictTests.nullify) }",
      """
      CREATE TABLE a(id TEXT PRIMARY KEY, b TEXT); CREATE TABLE b(id TEXT PRIMARY KEY);
      INSERT INTO b VALUES('1'); INSERT INTO a VALUES('1', '1');
      """)
    let deleted = try store.apply([delete("b/1")])
    try store.bySQL(
      "CREATE TRIGGER t BEFORE UPDATE ON a BEGIN INSERT INTO nowhere VALUES(1); END")
    let undone = try store.undo(deleted)
    #expect((undone.restored, undone.references, undone.leftCount) == (1, 1, 0))
    #expect(undone.remarks.count == 1)
    #expect(try store.texts("SELECT id || b FROM a") == ["11"])
  }

  @Test(
    "Of a list comes back what leads to something, and the rest later", arguments: ["none", "10ms"])
  func partOfList(lock: String) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
          relationships: [
            { name: 'l', from: 'a', to: 'b', property: 'doc.l', toMany: true, \(UndoConflictTests.nullify) },
            { name: 's', from: 'a', to: 'b', property: 'doc.s', \(UndoConflictTests.nullify) },
            { name: 'up', from: 'b', to: 'b', column: 'up',
              rules: ['deleteSourceIfDestinationDeleted'] } ],
          limits: { lock: '\(lock)' } }
        """),
      schema: """
        CREATE TABLE a(id INTEGER PRIMARY KEY, doc TEXT); CREATE TABLE b(id TEXT PRIMARY KEY, up TEXT);
        INSERT INTO b VALUES('x', NULL), ('y', 'x'), ('z', NULL);
        INSERT INTO a VALUES(1, '{"l":["x",true,"y","z"],"s":"x"}'), (2, '{"s":"x"}'),
          (3, '{"l":["z","y"], "s" : "y"}');
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM b WHERE id = 'x'")
    let swept = try store.writer.sweep([.cascade, .refcount], at: 1)
    let batch = try #require(swept.batch)
    let undone = try store.writer.undo(batch, by: "", at: 2)
    #expect(undone.references == 3 && undone.leftCount == 3)
    #expect(
      try store.texts("SELECT doc FROM a") == [
        #"{"l":[true,"y","z"],"s":null}"#, #"{"s":null}"#, #"{"l":["z","y"], "s" : "y"}"#,
      ])
    try store.bySQL("INSERT INTO b VALUES('x', NULL)")
    #expect(try store.writer.undo(batch, by: "", at: 3).references == 3)
    #expect(
      try store.texts("SELECT doc FROM a WHERE id < 3") == [
        #"{"l":["x",true,"y","z"],"s":"x"}"#, #"{"s":"x"}"#,
      ])
  }

  @Test("Edges that were no links do not come back as links", arguments: [nil, 1] as [Int64?])
  func noLinks(rows: Int64?) throws {
    let store = try store(
      """
      { name: 'ab', from: 'a', to: 'b', join: { table: 'ab', source: 'a', destination: 'b' },
        toMany: true, rules: ['deleteDestinationIfAllSourcesDeleted'] },
      { name: 'up', from: 'a', to: 'a', column: 'up', rules: ['deleteSourceIfDestinationDeleted'] }
      """,
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, up INT); CREATE TABLE b(id INTEGER PRIMARY KEY);
      CREATE TABLE ab(a INT, b INT); CREATE INDEX ab_a ON ab(a); CREATE INDEX ab_b ON ab(b);
      INSERT INTO a VALUES(1, NULL), (2, 1); INSERT INTO b VALUES(1); INSERT INTO ab VALUES(2, 1);
      """)
    try store.apply([
      .put(Node("objects", .text("o")), type: nil, value: nil, edges: nil),
      .link(
        name: "e", from: Node("objects", .text("o")), to: .node(Node("a", .integer(2))), rules: []),
    ])
    if let rows { store.sweepsInSteps(of: rows) }
    let edges = try store.edges().map { "\($0)" }.sorted()
    try store.bySQL("DELETE FROM a WHERE id = 1")
    let batches = try [SweepKind.cascade, .refcount].compactMap {
      try store.writer.sweep([$0], at: 1).batch
    }
    #expect(batches.count == 2)
    try store.bySQL("INSERT INTO a VALUES(1, NULL)")
    for batch in batches.reversed() { _ = try store.writer.undo(batch, by: "", at: 2) }
    #expect(try store.edges().map { "\($0)" }.sorted() == edges)
    for batch in batches { _ = try? store.writer.undo(batch, by: "", at: 3) }
    #expect(try store.edges().map { "\($0)" }.sorted() == edges)
  }

  @Test("Join rows and lists wait for what cannot come back")
  func left() throws {
    let store = try store(
      """
      { name: 'ab', from: 'a', to: 'b', join: { table: 'ab', source: 'a', destination: 'b' },
        toMany: true },
      { name: 'list', from: 'a', to: 'b', property: 'list', toMany: true, \(UndoConflictTests.nullify) }
      """,
      """
      CREATE TABLE a(id TEXT PRIMARY KEY, list TEXT); CREATE TABLE b(id TEXT PRIMARY KEY, u UNIQUE);
      CREATE TABLE ab(a TEXT, b TEXT, note TEXT); CREATE INDEX ab_a ON ab(a);
      CREATE INDEX ab_b ON ab(b);
      INSERT INTO a VALUES('a', '["x", "y"]'); INSERT INTO b VALUES('x', 1), ('y', 2);
      INSERT INTO ab VALUES('a', 'x', 'first'), ('a', 'y', 'second');
      """)
    let before = try store.dump()
    let deleted = try store.apply([.delete(Node("b", .text("x")))])
    try store.bySQL("INSERT INTO b VALUES('other', 1)")
    #expect(try store.undo(deleted).leftCount == 3)
    #expect(try store.texts("SELECT b FROM ab") == ["y"])
    #expect(try store.texts("SELECT list FROM a") == [#"["y"]"#])
    #expect(try store.writer.sweep([.dangling], at: 1).outcome == .nothing)
    try store.bySQL("DELETE FROM b WHERE id = 'other'")
    #expect(try store.undo(deleted).leftCount == 0)
    #expect(try store.dump() == before)
  }

  /// Each of a list is an edge of its own, like each row of a join table.
  @Test(
    "What was taken out of a list comes back into what the list is by now",
    arguments: [
      (#"["w", "v"]"#, #"["w","x","v"]"#), (#"[]"#, #"["x"]"#),
      (#"["v",1.50,{"a":[]}]"#, #"["x","v",1.50,{"a":[]}]"#),
      (#"["new"]"#, #"["new","x"]"#), (#"["x","w"]"#, #"["x","w"]"#), (#"{}"#, #"{}"#),
      (#"["x", "w"]"#, #"["x", "w"]"#), (#"[ "w", "x" ]"#, #"[ "w", "x" ]"#),
    ])
  func merged(now: String, wanted: String) throws {
    let store = try store(
      """
      { name: 'list', from: 'a', to: 'b', property: 'list', toMany: true, \(UndoConflictTests.nullify) }
      """,
      """
      CREATE TABLE a(id TEXT PRIMARY KEY, list TEXT); CREATE TABLE b(id TEXT PRIMARY KEY);
      INSERT INTO a VALUES('a', '["w", "x", "v"]'); INSERT INTO b VALUES('w'), ('x'), ('v'), ('new');
      """)
    let deleted = try store.apply([.delete(Node("b", .text("x")))])
    try store.bySQL("UPDATE a SET list = '\(now)'")
    let isBack = now != wanted
    let undone = try store.undo(deleted)
    #expect((undone.references, undone.leftCount) == (isBack ? 1 : 0, isBack ? 0 : 1))
    #expect(try store.texts("SELECT list FROM a") == [wanted])
  }

  @Test(
    "Batches that took of one list come back in any order, without what cannot",
    arguments: [
      [0, 1], [1, 0],
    ])
  func orders(order: [Int]) throws {
    let store = try store(
      """
      { name: 'list', from: 'a', to: 'b', property: 'list', toMany: true, \(UndoConflictTests.nullify) }
      """,
      """
      CREATE TABLE a(id TEXT PRIMARY KEY, list TEXT);
      CREATE TABLE b(id TEXT PRIMARY KEY, u UNIQUE);
      INSERT INTO a VALUES('a', '["x","y"]'); INSERT INTO b VALUES('x', 1), ('y', 2);
      """)
    let batches = try ["x", "y"].map { try store.apply([.delete(Node("b", .text($0)))]) }
    try store.bySQL("INSERT INTO b VALUES('other', 2)")
    for index in order { _ = try store.undo(batches[index]) }
    #expect(try store.texts("SELECT list FROM a") == [#"["x"]"#])
    try store.bySQL("DELETE FROM b WHERE id = 'other'")
    #expect(try store.undo(batches[1]).leftCount == 0)
    #expect(try store.texts("SELECT list FROM a") == [#"["x","y"]"#])
  }

  @Test("A patch of something else does not keep a reference away")
  func patched() throws {
    let store = try store(
      "{ name: 'b', from: 'objects', to: 'b', property: 'b', \(UndoConflictTests.nullify) }",
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id TEXT PRIMARY KEY);
      INSERT INTO b VALUES('x'), ('z');
      """)
    let object = Node("objects", .text("o"))
    try store.apply([
      .put(object, type: nil, value: JSONText(valid: #"{"b": "x", "title": 1}"#), edges: nil)
    ])
    let deleted = try store.apply([.delete(Node("b", .text("x")))])
    try store.apply([
      .patch(object, set: [Member(name: "title", value: JSONText(valid: "2"))], unset: [])
    ])
    #expect(try store.undo(deleted).references == 1)
    #expect(try store.reader.node(object).value?.text == #"{"b":"x","title":2}"#)
    #expect(try store.edges().count == 1)
    let again = try store.apply([.delete(Node("b", .text("x")))])
    try store.apply([
      .patch(object, set: [Member(name: "b", value: JSONText(valid: "\"z\""))], unset: [])
    ])
    #expect(try store.undo(again).leftCount > 0)
    #expect(try store.reader.node(object).value?.text == #"{"b":"z","title":2}"#)
  }

  @Test("What was taken out of an object's list comes back into what was written meanwhile")
  func patchedList() throws {
    let store = try store(
      """
      { name: 'list', from: 'objects', to: 'b', property: 'list', toMany: true,
        \(UndoConflictTests.nullify) }
      """,
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id TEXT PRIMARY KEY);
      INSERT INTO b VALUES('w'), ('x'), ('v');
      """)
    let object = Node("objects", .text("o"))
    try store.apply([
      .put(object, type: nil, value: JSONText(valid: #"{"list": ["w", "x"]}"#), edges: nil)
    ])
    let deleted = try store.apply([.delete(Node("b", .text("x")))])
    try store.apply([
      .patch(
        object, set: [Member(name: "list", value: JSONText(valid: #"["w","v"]"#))], unset: [])
    ])
    #expect(try store.undo(deleted).references == 1)
    #expect(try store.reader.node(object).value?.text == #"{"list":["w","x","v"]}"#)
    #expect(try store.edges().count == 3)
  }

  @Test("Another spelling of what was taken out of a list is not taken for it")
  func spellings() throws {
    let store = try store(
      """
      { name: 'list', from: 'objects', to: 'b', property: 'list', toMany: true,
        \(UndoConflictTests.nullify) }
      """,
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id TEXT PRIMARY KEY);
      INSERT INTO b VALUES('\u{e9}'), ('e\u{301}');
      """)
    let object = Node("objects", .text("o"))
    func list(_ keys: String...) -> Member {
      let elements = keys.map { "\"\($0)\"" }.joined(separator: ",")
      return Member(name: "list", value: JSONText(valid: "[\(elements)]"))
    }
    let value = JSONText(object: [list("\u{e9}")])
    try store.apply([.put(object, type: nil, value: value, edges: nil)])
    let deleted = try store.apply([.delete(Node("b", .text("\u{e9}")))])
    try store.apply([.patch(object, set: [list("e\u{301}")], unset: [])])
    #expect(try store.undo(deleted).references == 1)
    let restored = try #require(try store.reader.node(object).value).text
    #expect(restored.utf8.elementsEqual(JSONText(object: [list("e\u{301}", "\u{e9}")]).text.utf8))
    #expect(try store.edges().count == 2)
  }

  @Test("A row without its own number takes nobody else's")
  func numbers() throws {
    let store = try store(
      """
      { name: 'b', from: 'a', to: 'b', column: 'b',
        rules: ['deleteSourceIfDestinationDeleted'] }
      """,
      """
      CREATE TABLE a(id TEXT PRIMARY KEY, b TEXT); CREATE TABLE b(id TEXT PRIMARY KEY);
      INSERT INTO b VALUES('x'); INSERT INTO a(rowid, id, b) VALUES(5, 'A', 'x'), (6, 'B', 'x');
      """)
    let deleted = try store.apply([.delete(Node("b", .text("x")))])
    try store.bySQL("INSERT INTO a(rowid, id) VALUES(5, 'new')")
    #expect(try store.undo(deleted).leftCount == 0)
    #expect(try store.texts("SELECT rowid || id FROM a ORDER BY rowid") == ["5new", "6B", "7A"])
  }

  @Test("What an object declares anew is all that it declares", arguments: [false, true])
  func declared(isNew: Bool) throws {
    let store = try store(
      "", "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id PRIMARY KEY)")
    let album = Node("objects", .text("album"))
    let songs = ["s", "t"].map { Node("objects", .text($0)) }
    func put(_ songs: [Node]) -> Change {
      .put(
        album, type: nil, value: nil,
        edges: songs.map {
          DeclaredEdge(name: "song", destination: .node($0), rules: isNew ? 1 : 8)
        })
    }
    try store.apply(
      songs.map { .put($0, type: nil, value: nil, edges: nil) } + [put(songs)])
    let deleted = try store.apply([.delete(songs[0])])
    if isNew { try store.apply([put([]), .delete(album)]) }
    try store.apply([put([songs[1]])])
    _ = try store.undo(deleted)
    #expect(try store.edges().map(\.destination) == [.node(songs[1])])
    try store.apply([.delete(album)])
    #expect(try store.exists(songs[0]))
  }

  @Test("An object is kept where its collection is now a table")
  func table() throws {
    let store = try store(
      "", "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id PRIMARY KEY)")
    let object = Node("objects", .text("o"))
    try store.apply([.put(object, type: nil, value: nil, edges: nil)])
    let deleted = try #require(try store.apply([.delete(object)]).batch)
    try store.bySQL("CREATE TABLE o(id TEXT PRIMARY KEY)")
    let model = try StoreModel("{ collections: { objects: { table: 'o', key: 'id' } } }")
    let result = try Writer(path: store.path, model: model).undo(deleted, by: "me", at: 9)
    #expect((result.restored, result.leftCount) == (0, 1))
    #expect(result.left.first?.reason == #""objects" is now a table"#)
    // Nothing came back, so nothing is undone.
    #expect(try store.reader.batches(after: 0, limit: 9).map(\.undone?.by) == [nil])
    #expect(try store.texts("SELECT count(*) FROM cascade_node") == ["0"])
  }
}
