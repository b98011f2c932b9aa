import Model
import SQLite
import Store
import Testing

/// Tables and objects that fetched properties lead from and to.
struct FetchFixture {
  let store: TestStore
  /// Those that its properties search.
  let others: [TestStore]

  /// The properties of the artists, which are rows, and of the notes, which are objects.
  init(artists: String = "", notes: String = "", others: [TestStore] = []) throws {
    self.others = others
    store = try TestStore(
      model: StoreModel(
        """
        { collections: {
          artists: { table: "artist", key: "id", fetched: { \(artists) } },
          songs: { table: "song", key: "id" },
          tags: { table: "song_tag", key: ["song_id", "tag"] },
          blobs: { table: "odd \\"table", key: "k\\"ey", fetched: {
            same: { from: "blobs", where: "num = $source.num" } } },
          notes: { types: { photo: "photos" }, fetched: { \(notes) } } } }
        """))
    try store.bySQL(FetchFixture.tables)
    try put("a", ["artist": 1, "year": 1990, "flag": true, "tags": ["x", "y"]], type: "photo")
    try put("b", ["artist": 2, "text": "it's; --", "none": nil, "half": 0.5], type: "text")
    try put("c", ["artist": 1, "year": 2001], type: "photo")
    try store.apply([.put(Node("notes", .text("d")), type: nil, value: nil, edges: nil)])
  }

  private static let tables = """
    CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT, since INTEGER);
    INSERT INTO artist VALUES(1, 'nina', 1965), (2, 'O''Hara; --', NULL), (3, 'none', 2050);
    CREATE TABLE song(id TEXT PRIMARY KEY, artist_id INTEGER, year INTEGER, title TEXT);
    INSERT INTO song VALUES('s1', 1, 1964, 'a'), ('s2', 1, 1965, 'b'), ('s3', 1, 1999, 'c'),
      ('s4', 1, 1999, 'B'), ('s5', 2, 1980, NULL), (NULL, 1, 1999, 'no node');
    CREATE TABLE song_tag(song_id TEXT, tag INTEGER, PRIMARY KEY(song_id, tag));
    INSERT INTO song_tag VALUES('s1', 7), ('s1', 8), ('s3', 7);
    CREATE TABLE "odd ""table"("k""ey" BLOB PRIMARY KEY, num REAL, data);
    INSERT INTO "odd ""table" VALUES(x'0AFF', 1.5, x''), (x'00', 1.5, 9e999);
    """

  func put(_ key: String, _ value: JSON, type: String? = nil) throws {
    try store.apply(
      [.put(Node("notes", .text(key)), type: type, value: JSONText(value), edges: nil)])
  }

  func fetch(_ node: Node, _ name: String = "f", refresh: Bool = false) throws -> Fetched {
    try store.reader.fetch(name, of: node, refresh: refresh)
  }

  /// The keys that are found, with spaces between.
  func keys(_ node: Node, _ name: String = "f") throws -> String {
    try fetch(node, name).nodes.map(\.node.key.json.plain).joined(separator: " ")
  }

  /// What a failing property says.
  func complaint(_ node: Node = artist(1), timeLimit: Duration = .seconds(5)) -> String {
    do {
      let found = try store.reader.fetch("f", of: node, timeLimit: timeLimit)
      return "found \(found.nodes.count)"
    } catch {
      return "\(error)"
    }
  }
}

func artist(_ id: Int64) -> Node { Node("artists", .integer(id)) }
func note(_ key: String) -> Node { Node("notes", .text(key)) }

extension JSON {
  fileprivate var plain: String { string ?? text }
}

@Suite("Fetched properties")
struct FetchTests {
  /// A condition and more, for artist 1, and what it leads to.
  static let fromRows: [(property: String, keys: String)] = [
    (#"from: "songs", where: "artist_id = $source.id""#, "s1 s2 s3 s4"),
    (#"from: "songs", where: "artist_id = $source.key AND year > $source.since""#, "s3 s4"),
    (#"from: "songs", where: "artist_id = $source.ID", limit: 2"#, "s1 s2"),
    (#"from: "songs", where: "artist_id = $source.id", order: "year DESC""#, "s3 s4 s2 s1"),
    (#"from: "songs", where: "1", order: "year DESC, title COLLATE NOCASE""#, "s4 s3 s5 s2 s1"),
    (
      #"from: "songs", where: "1", order: "abs(year - $property.near)", settings: { near: 1981 }"#,
      "s5 s2 s1 s3 s4"
    ),
    (
      #"""
      from: "songs", where: "year BETWEEN $property.a AND $property.b AND title <> $property.c",
      settings: { a: 1964.5, b: 1990, c: "x" }
      """#, "s2"
    ),
    (#"from: "songs", where: "title = '$source.name' OR id = 's1'""#, "s1"),
    (#"from: "songs", where: "songs.year = 1980""#, "s5"),
    (#"from: "songs", where: "id IN (SELECT song_id FROM song_tag WHERE tag = 7)""#, "s1 s3"),
    (
      """
      from: "songs", where: "EXISTS (SELECT 1 FROM song_tag AS t WHERE t.song_id = songs.id \
      AND t.tag = 8)"
      """, "s1"
    ),
    (#"from: "tags", where: "tag < 8", order: "song_id DESC""#, #"["s3",7] ["s1",7]"#),
    (#"from: "tags", where: "song_id = 'none'""#, ""),
    (#"from: "notes", where: "value->>'$.artist' = $source.id""#, "a c"),
    (#"from: "photos", where: "1", order: "key DESC""#, "c a"),
    (#"from: "notes", where: "type = 'text' OR type IS NULL""#, "b d"),
    (#"from: "unheard", where: "1""#, ""),
  ]

  @Test("A row's property leads to rows and objects", arguments: fromRows)
  func rows(property: String, keys: String) throws {
    let fixture = try FetchFixture(artists: "f: { \(property) }")
    #expect(try fixture.keys(artist(1)) == keys)
  }

  /// The same, for an object.
  static let fromObjects: [(key: String, property: String, keys: String)] = [
    ("a", #"from: "songs", where: "artist_id = $source.artist AND year < 1999""#, "s1 s2"),
    ("a", #"from: "notes", where: "value->>'$.artist' = $source.artist""#, "a c"),
    ("a", #"from: "notes", where: "key > $source.key AND type = $source.type""#, "c"),
    ("a", #"from: "songs", where: "$source.flag = 1 AND id = 's1'""#, "s1"),
    ("a", #"from: "songs", where: "$source.tags ->> 1 = 'y' AND id = 's1'""#, "s1"),
    ("b", #"from: "notes", where: "value->>'$.text' = $source.text""#, "b"),
    ("b", #"from: "notes", where: "value->>'$.half' < $source.half + 0.1""#, "b"),
    ("b", #"from: "songs", where: "title IS $source.none""#, "s5"),
    ("b", #"from: "songs", where: "title = $source.none""#, ""),
    ("b", #"from: "songs", where: "title IS $source.nowhere""#, "s5"),
    ("d", #"from: "songs", where: "title IS $source.type AND title IS $source.value""#, "s5"),
  ]

  @Test("An object's property leads to rows and objects", arguments: fromObjects)
  func objects(key: String, property: String, keys: String) throws {
    let fixture = try FetchFixture(notes: "f: { \(property) }")
    #expect(try fixture.keys(note(key)) == keys)
  }

  static let settingKinds: [(setting: String, sql: String)] = [
    ("null", "NULL"), ("true", "1"), ("2", "2"), ("1.5", "1.5"), ("\"it's; --\"", "'it''s; --'"),
  ]

  @Test("A setting of any kind is bound", arguments: settingKinds)
  func settings(setting: String, sql: String) throws {
    let fixture = try FetchFixture(
      artists: """
        f: { from: "artists", settings: { k: \(setting) },
          where: "id = 1 AND $property.k IS \(sql)" }
        """)
    #expect(try fixture.keys(artist(1)) == "1")
  }

  @Test("What a member says is a value, whatever it looks like")
  func neverSpliced() throws {
    let fixture = try FetchFixture(
      artists: #"f: { from: "artists", where: "name = $source.name" }"#)
    try fixture.store.bySQL("UPDATE artist SET name = ''' OR 1 --' WHERE id = 3")
    #expect(try fixture.keys(artist(2)) == "2")
    #expect(try fixture.keys(artist(3)) == "3")
  }

  @Test("A member called key or type comes before the node's own")
  func ownNames() throws {
    let fixture = try FetchFixture(
      notes: #"f: { from: "notes", where: "key = $source.key OR type = $source.type" }"#)
    try fixture.put("e", ["key": "b", "type": "photo"])
    #expect(try fixture.keys(note("e")) == "a b c")
  }

  @Test("A row is an object of its columns, and its key is what the key columns hold")
  func values() throws {
    let fixture = try FetchFixture(artists: #"f: { from: "songs", where: "id = 's5'" }"#)
    let song = try #require(fixture.fetch(artist(2)).nodes.first)
    #expect(song.node == Node("songs", .text("s5")))
    #expect(song.exists && song.type == nil)
    #expect(song.value?.text == #"{"id":"s5","artist_id":2,"year":1980,"title":null}"#)
    let odd = try fixture.fetch(Node("blobs", .text("x'0AFF'")), "same").nodes
    #expect(odd.map(\.node.key) == [.text("x'00'"), .text("x'0AFF'")])
    #expect(odd[0].value?.text == #"{"k\"ey":"x'00'","num":1.5,"data":null}"#)
    #expect(odd[1].value?.text == #"{"k\"ey":"x'0AFF'","num":1.5,"data":"x''"}"#)
  }

  @Test("A row is found by its key as the column compares it")
  func keysOfSources() throws {
    let fixture = try FetchFixture(artists: #"f: { from: "artists", where: "id = $source.id" }"#)
    #expect(try fixture.keys(Node("artists", .text("1"))) == "1")
    for key: Key in [.text("x"), .integer(9), .composite([.integer(1), .integer(1)])] {
      #expect(throws: FetchError.self) { try fixture.fetch(Node("artists", key)) }
    }
  }
}

@Suite("Fetched properties that cannot be")
struct FetchRefusalTests {
  @Test("An unknown property names the nearest, an unknown node itself")
  func unknown() throws {
    let fixture = try FetchFixture(artists: #"recent: { from: "songs", where: "1" }"#)
    func complaint(_ node: Node, _ name: String) -> String {
      do { return "\(try fixture.fetch(node, name))" } catch { return "\(error)" }
    }
    #expect(
      complaint(artist(1), "resent")
        == #"artists has no "resent": unknown fetched property "resent"; did you mean "recent"?"#)
    #expect(
      complaint(Node("songs", .text("s1")), "recent")
        == #"songs has no "recent": unknown fetched property "recent""#)
    #expect(complaint(artist(9), "recent") == "there is no node artists/9")
  }

  /// A condition, and a part of what is said of it.
  static let faults: [(condition: String, reason: String)] = [
    ("yeer = 1", "no such column: yeer"),
    ("year = $source.sinse", #"unknown column "sinse"; did you mean "since"?"#),
    ("year = ", "syntax error"),
    ("1 ORDER BY year", "syntax error"),
    ("value->>'$.a' = 1", "no such column: value"),
    ("json(title) = 1", "malformed JSON"),
    ("load_extension('x')", "not authorized to use function: load_extension"),
    ("1 IN (SELECT LOAD_EXTENSION('x', 'y'))", "not authorized"),
    ("fts3_tokenizer('x')", "fts3_tokenizer"),
    ("EXISTS (SELECT 1 FROM pragma_journal_mode('delete'))", "unknown database"),
    ("EXISTS (SELECT 1 FROM pragma_table_info('song'))", "not authorized"),
    ("(DELETE FROM song)", "syntax error"),
    ("id IN (DELETE FROM song RETURNING id)", "syntax error"),
  ]

  @Test("What the model says wrong is told with the property's name", arguments: faults)
  func unusable(condition: String, reason: String) throws {
    let fixture = try FetchFixture(
      artists: #"f: { from: "songs", where: \#(JSON.string(condition).text) }"#)
    let complaint = fixture.complaint()
    #expect(complaint.contains(#"fetched property "f" of artists"#))
    #expect(complaint.contains(reason))
    #expect(try fixture.store.reader.node(note("a")).exists, "the reader goes on")
  }

  @Test("A missing table or key column is told")
  func missingTable() throws {
    let fixture = try FetchFixture(artists: #"f: { from: "songs", where: "1" }"#)
    try fixture.store.bySQL("ALTER TABLE song RENAME COLUMN id TO number")
    #expect(fixture.complaint().contains("no such column: songs.id"))
    try fixture.store.bySQL("DROP TABLE song")
    #expect(fixture.complaint().contains("no such table: main.song"))
  }

  @Test("After a search the connection does again what it did before")
  func freeAgain() throws {
    let fixture = try FetchFixture(artists: #"f: { from: "songs", where: "1" }"#)
    for _ in 0..<2 {
      #expect(try fixture.fetch(artist(1), refresh: true).nodes.count == 5)
      #expect(try fixture.store.reader.plan(deleting: [note("a")]).deletedCount == 1)
    }
  }

  @Test("Lists in JSON, views and full-text indexes can be searched")
  func virtualTables() throws {
    let fixture = try FetchFixture(
      artists: """
        json: { from: "notes",
          where: "EXISTS (SELECT 1 FROM json_each(notes.value->'$.tags') AS t WHERE t.value = 'y')" },
        text: { from: "songs",
          where: "songs.rowid IN (SELECT rowid FROM words WHERE words MATCH $source.name)" },
        view: { from: "songs", where: "id IN (SELECT id FROM old)" },
        """)
    try fixture.store.bySQL(
      """
      CREATE VIRTUAL TABLE words USING fts5(t); CREATE VIEW old AS SELECT * FROM song WHERE year < 1965;
      INSERT INTO words(rowid, t) VALUES(2, 'to nina'), (3, 'to nobody');
      """)
    #expect(try fixture.keys(artist(1), "json") == "a")
    #expect(try fixture.keys(artist(1), "text") == "s2")
    #expect(try fixture.keys(artist(1), "view") == "s1")
  }

  @Test("A query that does not end is ended")
  func runaway() throws {
    let endless = """
      f: { from: "songs", where: "EXISTS (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL \
      SELECT i + 1 FROM n) SELECT 1 FROM n WHERE i < 0)" }
      """
    let fixture = try FetchFixture(artists: endless)
    #expect(
      fixture.complaint(timeLimit: .milliseconds(20))
        == #"fetched property "f" of artists took longer than 0.02 seconds"#)
    #expect(try fixture.store.reader.nodes(in: "notes", after: nil, limit: 9).count == 4)
  }

  @Test("A recursive query that ends is answered")
  func recursive() throws {
    let fixture = try FetchFixture(
      artists: """
        f: { from: "songs", where: "1965 IN (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL \
        SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n WHERE i = year)" }
        """)
    #expect(try fixture.keys(artist(1)) == "s2")
  }

  @Test("An answer that memory should not hold is refused")
  func tooMuch() throws {
    let fixture = try FetchFixture(artists: #"f: { from: "heaps", where: "1" }"#)
    try fixture.store.apply([
      .put(
        Node("heaps", .text("1")), type: nil,
        value: JSONText(.string(String(repeating: "x", count: 33 << 20))), edges: nil)
    ])
    #expect(fixture.complaint().contains("give it a \"limit\""))
  }
}
