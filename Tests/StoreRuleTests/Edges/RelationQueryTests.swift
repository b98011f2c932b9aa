import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing

/// Questions about edges that live in the application's tables.
@Suite("Querying for edges in places")
struct RelationQueryTests {
  let store: TestStore

  init() throws { store = try Library.store() }

  private func lines(
    _ name: String? = nil, from: Node? = nil, to: Node? = nil
  ) throws -> [String] {
    let query = EdgeQuery(name: name, from: from, to: to.map { .node($0) })
    let lines = try store.reader.lines(query)
    #expect(try store.reader.count(query) == lines.count)
    return lines
  }

  // MARK: - Kinds of places

  @Test("A column is an edge as long as its destination is there")
  func column() throws {
    try store.bySQL(
      """
      INSERT INTO album(id) VALUES('A'), ('B');
      INSERT INTO song(id, album) VALUES(1, 'A'), (2, 'A'), (3, 'Z'), (4, NULL), (10, 'b');
      """)
    #expect(
      try lines()
        == ["album songs/1>albums/A", "album songs/2>albums/A", "album songs/10>albums/B"])
    #expect(try lines(to: node("albums/A")).count == 2)
    #expect(try lines(from: node("songs/2")) == ["album songs/2>albums/A"])
    #expect(try lines(from: Node("songs", .integer(2)), to: node("albums/a")).count == 1)
    #expect(try lines(from: node("songs/3")).isEmpty)
    #expect(try lines(to: node("albums/Z")).isEmpty)
    #expect(try lines("artist", from: node("songs/2")).isEmpty)
  }

  @Test("An edge says what the model says of it, and has the keys of both rows")
  func whole() throws {
    try store.bySQL(
      "INSERT INTO album(id) VALUES('Abba'); INSERT INTO song(id, album) VALUES(7, 'ABBA')")
    let edge = Edge(
      name: "album", source: Node("songs", .integer(7)),
      destination: .node(Node("albums", .text("Abba"))), rules: 32, origin: .declared,
      kind: .column)
    #expect(try store.edges() == [edge])
    #expect(try store.reader.edges(EdgeQuery(to: .node(node("albums/aBBA")))).edges == [edge])
  }

  @Test("Rows of a join table that say the same are one edge, read from both sides")
  func join() throws {
    try store.bySQL(
      """
      INSERT INTO artist(id) VALUES(1), (2); INSERT INTO song(id) VALUES(5), (6);
      INSERT INTO song_artist VALUES(5, 1), (5, 1), (6, 2), (5, 2), (6, 9), (9, 1), (NULL, 1),
        (5, NULL);
      """)
    let edges = ["featuring songs/5>artists/1", "featuring songs/5>artists/2"]
    #expect(try lines("featuring") == edges + ["featuring songs/6>artists/2"])
    #expect(
      try lines("songs")
        == ["songs artists/1>songs/5", "songs artists/2>songs/5", "songs artists/2>songs/6"])
    #expect(try lines(from: node("songs/5")) == edges)
    #expect(
      try lines(to: node("artists/1")) == ["featuring songs/5>artists/1"])
    #expect(try store.reader.edges(EdgeQuery(name: "songs")).edges[0].kind == .join)
  }

  @Test("A list in a JSON column has an edge for each node in it, once")
  func json() throws {
    try store.bySQL(
      """
      INSERT INTO song(id, data) VALUES(1, '{"related":[2,3,2,"3",9,null,1]}'), (2, '{"related":1}'),
        (3, 'no json'), (4, NULL), (5, '[]');
      """)
    let edges = [
      "related songs/1>songs/1", "related songs/1>songs/2", "related songs/1>songs/3",
      "related songs/2>songs/1",
    ]
    #expect(try lines() == edges)
    #expect(try lines(to: node("songs/1")) == [edges[0], edges[3]])
    #expect(try lines(from: node("songs/1"), to: node("songs/3")) == [edges[2]])
  }

  @Test("A polymorphic pair leads where its type says, to a managed object too")
  func polymorphic() throws {
    try store.apply([.put(node("notes/7"), type: nil, value: nil, edges: nil)])
    try store.bySQL(
      """
      INSERT INTO album(id) VALUES('7'), ('8');
      INSERT INTO song(id, about, about_type) VALUES(1, '7', 'Album'), (2, '7', 'Note'),
        (3, '7', 'Song'), (4, '7', NULL), (5, '8', 'Note'), (6, '8', 'Album');
      """)
    #expect(
      try lines().sorted()
        == ["about songs/1>albums/7", "about songs/2>notes/7", "about songs/6>albums/8"])
    #expect(try lines(to: node("notes/7")) == ["about songs/2>notes/7"])
    #expect(try lines("about", to: node("albums/7")) == ["about songs/1>albums/7"])
  }

  @Test("A file counts as there, and is found by its path")
  func files() throws {
    try store.bySQL("INSERT INTO album(id, cover) VALUES('A', 'a/1.jpg'), ('B', 'b.jpg')")
    #expect(try lines() == ["cover albums/A>a/1.jpg", "cover albums/B>b.jpg"])
    let query = EdgeQuery(to: .file(root: "media", path: "b.jpg"))
    #expect(try store.reader.edges(query).edges.map(\.kind) == [.file])
    #expect(try store.reader.count(EdgeQuery(to: .file(root: "other", path: "b.jpg"))) == 0)
  }

  @Test("Several relationships between two collections, and within one, are told apart")
  func several() throws {
    try store.bySQL(
      """
      INSERT INTO artist(id) VALUES(1), (2);
      INSERT INTO album(id, artist, "other artist", parent) VALUES('A', 1, 1, 'A'), ('B', 2, 1, 'a');
      """)
    #expect(
      try lines(to: node("artists/1"))
        == ["artist albums/A>artists/1", "second albums/A>artists/1", "second albums/B>artists/1"])
    #expect(
      try lines(to: node("albums/A")) == ["parent albums/A>albums/A", "parent albums/B>albums/A"])
    #expect(try lines(from: node("albums/A"), to: node("albums/A")).count == 1)
  }

  @Test("Composite keys are found by all of their parts")
  func composite() throws {
    try store.bySQL(
      """
      INSERT INTO album(id) VALUES('A');
      INSERT INTO tag VALUES(1, 'x', 'A'), (1, 'y"', 'A'), (2, 'x', 'A');
      """)
    let quote = Node("tags", .composite([.integer(1), .text("y\"")]))
    #expect(try lines(from: quote) == [#"album ["tags",[1,"y\""]]>albums/A"#])
    #expect(try lines(from: Node("tags", .integer(1))).isEmpty)
    #expect(try store.reader.lines(limit: 1) == lines())
    #expect(try lines().count == 3)
  }

  @Test("Names that need quotes get them")
  func odd() throws {
    try store.bySQL(
      #"""
      INSERT INTO "we're ""odd""" VALUES('a', 'b'), ('b', 'it''s'), ('it''s', NULL), (NULL, 'a')
      """#)
    #expect(try lines() == ["select odd/a>odd/b", "select odd/b>odd/it's"])
    #expect(try lines(to: node("odd/it's")) == ["select odd/b>odd/it's"])
  }

  // MARK: - With stored edges

  @Test("Stored edges come first, and those of a row that is gone are no edges")
  func stored() throws {
    try store.bySQL(
      """
      INSERT INTO album(id) VALUES('A'); INSERT INTO song(id, album) VALUES(1, 'A'), (2, NULL);
      """)
    try store.apply([.put(node("notes/n"), type: nil, value: nil, edges: nil)])
    try store.storeEdge("likes", from: ("notes", "'n'"), to: ("songs", "1"))
    try store.storeEdge("likes", from: ("notes", "'n'"), to: ("songs", "2"))
    let stored = ["likes notes/n>songs/1", "likes notes/n>songs/2"]
    #expect(try lines() == stored + ["album songs/1>albums/A"])
    #expect(try lines(to: node("songs/2")) == [stored[1]])
    try store.bySQL("DELETE FROM song WHERE id = 2")
    #expect(try lines() == [stored[0], "album songs/1>albums/A"])
    #expect(try lines(to: node("songs/2")).isEmpty)
  }

  // MARK: - Everything at random

  @Test(
    "Every question has the same answer in pages as at once",
    arguments: 1...12 as ClosedRange<UInt64>)
  func random(seed: UInt64) throws {
    var world = RandomLibrary(seed)
    try world.fill(store)
    #expect(try store.reader.lines().sorted() == world.edges.sorted(), "seed \(seed)")
    for query in world.queries {
      let all = try store.reader.lines(query).sorted()
      #expect(all == world.edges.filter { world.matches($0, query) }.sorted(), "\(seed) \(query)")
      #expect(try store.reader.count(query) == all.count, "seed \(seed) \(query)")
      for limit in 1...3 {
        #expect(try store.reader.lines(query, limit: limit).sorted() == all, "\(seed) \(query)")
      }
    }
  }

  // MARK: - Why

  @Test("Who points at a row holds it, wherever it says so")
  func why() throws {
    try store.bySQL(
      """
      INSERT INTO artist(id) VALUES(1);
      INSERT INTO album(id, artist, parent) VALUES('A', 1, 'A'), ('B', NULL, 'A');
      INSERT INTO song(id, album, about, about_type)
      VALUES(1, 'A', 'a', 'Album'), (2, 'B', 'B', 'x')
      """)
    guard case .alive(let holders, let total, _) = try store.reader.why(node("albums/a")) else {
      Issue.record("not alive")
      return
    }
    #expect(
      holders.map(\.line) == [
        "album songs/1>albums/A", "parent albums/A>albums/A", "parent albums/B>albums/A",
        "about songs/1>albums/A", "artist albums/A>artists/1",
      ])
    #expect(total == 5)
    guard case .unknown = try store.reader.why(node("albums/Z")) else {
      Issue.record("known")
      return
    }
  }

  @Test("What went is found by its key, a number or a text, with its chain")
  func deleted() throws {
    try store.apply([.put(node("notes/x"), type: nil, value: nil, edges: nil)], id: "one")
    try store.bySQL(
      """
      INSERT OR IGNORE INTO cascade_collection(name) VALUES('songs'), ('albums');
      INSERT OR IGNORE INTO cascade_name(name) VALUES('album');
      INSERT INTO cascade_trash_layout
      SELECT 1, iif(name = 'songs', 1, 2), 'name', id, '', '[]', 1, 1, 0, '[]'
      FROM cascade_collection WHERE name IN ('songs', 'albums');
      INSERT INTO cascade_trash(batch, id, part, layout, via, name, rule, c0)
      SELECT 1, 1 << 62, 0, 1, (1 << 62) + 1, id, 4, 5 FROM cascade_name WHERE name = 'album';
      INSERT INTO cascade_trash(batch, id, part, layout, rule, c0)
      VALUES(1, (1 << 62) + 1, 0, 2, 0, 'A');
      """)
    for key in [Key.integer(5), .text("5")] {
      guard case .deleted(let deletion) = try store.reader.why(Node("songs", key)) else {
        Issue.record("not deleted")
        return
      }
      #expect(deletion.chain.map(\.node) == [Node("songs", .integer(5)), node("albums/A")])
      #expect(deletion.chain[0].edge?.line == "album songs/5>albums/A")
    }
  }
}
