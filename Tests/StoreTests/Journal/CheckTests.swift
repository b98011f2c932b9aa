import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// What is wrong with the data, whoever wrote them.
@Suite("Checking references")
struct CheckTests {
  /// Each as `kind: edge` or `kind: node`.
  private func findings(_ store: TestStore, limit: Int = 1_000) throws -> [String] {
    let findings = try store.reader.checkReferences(limit: limit)
    if findings.total <= limit { #expect(findings.total == findings.list.count) }
    return findings.list.map { finding in
      "\(finding.kind): \(finding.edge?.line ?? finding.node?.letters ?? "")"
    }.sorted()
  }

  @Test("References to nothing are found in every place, and nothing else is")
  func dangling() throws {
    let store = try Library.store()
    try store.bySQL(
      """
      INSERT INTO artist(id) VALUES(1);
      INSERT INTO album(id, artist, parent, cover) VALUES('A', 1, 'a', 'no/where.jpg'),
        ('B', 2, 'Z', NULL);
      INSERT INTO song(id, album, about, about_type, data) VALUES(1, 'A', 'x', 'Note', NULL),
        (2, 'Q', 'A', 'Album', '{"related":[1,"1",7,7,null]}'), (3, NULL, 'y', 'other', NULL);
      INSERT INTO song_artist VALUES(1, 1), (1, 5), (1, 5), (8, 1);
      INSERT INTO tag VALUES(1, 'x', 'A'), (1, 'y', 'W');
      """)
    #expect(
      try findings(store) == [
        "dangling: about songs/1>notes/x", #"dangling: album ["tags",[1,"y"]]>albums/W"#,
        "dangling: album songs/2>albums/Q", "dangling: artist albums/B>artists/2",
        "dangling: featuring songs/1>artists/5", "dangling: parent albums/B>albums/Z",
        "dangling: related songs/2>songs/7", "dangling: songs artists/1>songs/8",
      ])
  }

  @Test("Join rows dangle without their source, and a dry run of a sweep counts what would go")
  func sourceless() throws {
    let featuring = Library.relationships.filter { $0.contains("'featuring'") }
      .map { $0.replacing("inverse: 'songs',", with: "") }
    let store = try Library.store(
      featuring + [
        """
        { name: 'artist', from: 'albums', to: 'artists', column: 'artist', deleteRule: 'nullify',
          inverse: { name: 'albums', toMany: true, deleteRule: 'nullify' } }
        """
      ])
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL(
      """
      INSERT INTO artist(id) VALUES(1); INSERT INTO song(id) VALUES(1);
      INSERT INTO album(id, artist) VALUES('A', 1), ('B', 2);
      INSERT INTO song_artist VALUES(1, 1), (8, 1), (9, 9), (1, 5);
      """)
    #expect(
      try findings(store) == [
        "dangling: artist albums/B>artists/2", "dangling: featuring songs/1>artists/5",
        "dangling: featuring songs/8>artists/1", "dangling: featuring songs/9>artists/9",
      ])
    let plan = try store.reader.planSweep([.dangling])
    let done = try store.writer.sweep([.dangling], at: 1)
    #expect((plan.deletedCount, plan.edgesRemoved) == (0, 4))
    #expect((done.deletedCount, done.edgesRemoved) == (0, 4))
    #expect(try findings(store) == [])
  }

  @Test("A library at random has just the dangling references that were written", arguments: 1...12)
  func random(seed: Int) throws {
    let store = try Library.store()
    var world = RandomLibrary(UInt64(seed))
    try world.fill(store)
    let dangling = world.dangling.map { "dangling: \($0)" }.sorted()
    #expect(try findings(store) == dangling, "seed \(seed)")
    let some = try store.reader.checkReferences(limit: 3)
    #expect(some.list.count == min(3, dangling.count))
    #expect(some.total == dangling.count, "seed \(seed)")
  }

  @Test("A finding says what it is about")
  func messages() throws {
    let store = try Library.store([
      "{ name: 'album', from: 'songs', to: 'albums', column: 'album', optional: false }"
    ])
    try store.bySQL("INSERT INTO song(id, album) VALUES(5, 'A')")
    let list = try store.reader.checkReferences().list
    #expect(
      list.map(\.message) == [
        #""album" of songs/5 refers to albums/A, which does not exist"#,
        #"songs/5 has no "album", which is not optional"#,
      ])
    #expect(list.map(\.node) == [Node("songs", .integer(5)), Node("songs", .integer(5))])
  }

  @Test("Stored edges dangle where a row of either end is gone")
  func stored() throws {
    let store = try Library.store()
    try store.bySQL("INSERT INTO song(id) VALUES(1), (2)")
    let notes = ["n", "m"].map {
      Change.put(node("notes/\($0)"), type: nil, value: nil, edges: nil)
    }
    try store.apply(notes)
    try store.storeEdge("likes", from: ("notes", "'n'"), to: ("songs", "1"))
    try store.storeEdge("likes", from: ("songs", "2"), to: ("notes", "'n'"))
    try store.storeEdge("likes", from: ("notes", "'m'"), to: ("notes", "'n'"))
    #expect(try findings(store) == [])
    try store.bySQL("DELETE FROM song WHERE id IN (1, 2); DELETE FROM cascade_node WHERE key = 'm'")
    #expect(
      try findings(store) == [
        "dangling: likes notes/n>songs/1", "dangling: likes songs/2>notes/n", "dangling: notes/n",
      ])
    #expect(try store.reader.checkReferences(limit: 1).total == 3)
  }

  @Test("Violations are found in all nodes, rows and objects, touched or not")
  func violations() throws {
    let store = try Library.store([
      """
      { name: 'album', from: 'songs', to: 'albums', column: 'album', optional: false, unique: true }
      """,
      """
      { name: 'featuring', from: 'songs', to: 'artists', min: 2,
        join: { table: 'song_artist', source: 'song', destination: 'artist' },
        inverse: { name: 'songs', toMany: true, max: 1 } }
      """,
      """
      { name: 'related', from: 'songs', to: 'songs', property: 'data.related', toMany: true,
        inverse: { name: 'referrers', toMany: true, max: 1 } }
      """,
      "{ name: 'cover', from: 'albums', to: { files: 'media' }, column: 'cover', unique: true }",
      "{ name: 'owner', from: 'notes', to: 'artists', optional: false }",
    ])
    try store.bySQL(
      """
      INSERT INTO artist(id) VALUES(1), (2);
      INSERT INTO album(id, cover) VALUES('A', 'x'), ('B', 'x'), ('C', 'y');
      INSERT INTO song(id, album, data) VALUES(1, 'A', '{"related":[3,3]}'), (2, NULL, NULL),
        (3, 'a', '{"related":3}');
      INSERT INTO song_artist VALUES(1, 1), (1, 1), (2, 1), (2, 2);
      INSERT OR IGNORE INTO cascade_collection(name) VALUES('notes');
      INSERT INTO cascade_node(id, collection, key)
      SELECT 500, id, 'n' FROM cascade_collection WHERE name = 'notes';
      """)
    #expect(
      try findings(store) == [
        "missingMandatory: notes/n", "missingMandatory: songs/2", "notUnique: ",
        "notUnique: albums/A", "tooFew: songs/1", "tooMany: artists/1", "tooMany: songs/3",
      ])
    let two = try store.reader.checkReferences(limit: 2)
    #expect((two.list.count, two.total) == (2, 7))
    try store.storeEdge("owner", from: ("notes", "'n'"), to: ("artists", "1"))
    try store.storeEdge("featuring", from: ("songs", "1"), to: ("artists", "2"))
    #expect(
      try findings(store) == [
        "missingMandatory: songs/2", "notUnique: ", "notUnique: albums/A", "tooMany: artists/1",
        "tooMany: artists/2", "tooMany: songs/3",
      ])
  }

  @Test("A store without tables is checked too")
  func managed() throws {
    let store = try TestStore(
      model: StoreModel(
        "{ relationships: [{ name: 'a', from: 'songs', to: 'albums', optional: false }] }"))
    try store.bySQL(
      """
      INSERT INTO cascade_collection VALUES(77, 'songs', NULL);
      INSERT INTO cascade_node(id, collection, key) VALUES(1, 77, 'x');
      """)
    #expect(try findings(store) == ["missingMandatory: songs/x"])
  }
}
