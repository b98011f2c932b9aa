import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Fetched properties on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct FetchTests {
  private static let schema = """
    CREATE TABLE artist(id int PRIMARY KEY, name text, since int);
    INSERT INTO artist VALUES(1, 'nina', 1965), (2, 'O''Hara; --', NULL);
    CREATE TABLE song(id text PRIMARY KEY, artist_id int, year int, title text);
    INSERT INTO song VALUES('s1', 1, 1964, 'a'), ('s2', 1, 1965, 'b'), ('s3', 1, 1999, 'c'),
      ('s4', 1, 1999, 'B'), ('s5', 2, 1980, NULL);
    CREATE TABLE song_tag(song_id text, tag int, PRIMARY KEY(song_id, tag));
    INSERT INTO song_tag VALUES('s1', 7), ('s1', 8), ('s3', 7);
    """

  /// The properties of the artists, which are rows, and of the notes, which are objects.
  private func store(artists: String = "", notes: String = "") throws -> PostgresFixture {
    let store = try PostgresFixture(
      """
      { collections: {
          artists: { table: "artist", key: "id", fetched: { \(artists) } },
          songs: { table: "song", key: "id" },
          tags: { table: "song_tag", key: ["song_id", "tag"] },
          notes: { types: { photo: "photos" }, fetched: { \(notes) } } } }
      """, schema: Self.schema)
    func put(_ key: String, _ type: String?, _ value: JSON?) -> Change {
      .put(Node("notes", .text(key)), type: type, value: value.map { JSONText($0) }, edges: nil)
    }
    try store.apply([
      put("a", "photo", ["artist": 1, "year": 1990, "flag": true, "tags": ["x", "y"]]),
      put("b", "text", ["artist": 2, "text": "it's; --", "half": 0.5]),
      put("c", "photo", ["artist": 1, "year": 2001]), put("d", nil, nil),
    ])
    return store
  }

  private func fetch(
    _ store: PostgresFixture, _ node: Node, refresh: Bool = false,
    timeLimit: Duration = .seconds(5)
  ) throws -> Fetched {
    try store.reader.fetch("f", of: node, refresh: refresh, timeLimit: timeLimit)
  }

  private func keys(_ store: PostgresFixture, _ node: Node) throws -> String {
    try fetch(store, node).nodes.map { $0.node.key.json.string ?? $0.node.key.json.text }
      .joined(separator: " ")
  }

  private static let artist = Node("artists", .integer(1))
  private static func note(_ key: String) -> Node { Node("notes", .text(key)) }

  static let ofArtists: [(property: String, keys: String)] = [
    (#"from: "songs", where: "artist_id = $source.id""#, "s1 s2 s3 s4"),
    (#"from: "songs", where: "songs.artist_id = $source.key AND year > $source.since""#, "s3 s4"),
    (
      #"from: "songs", where: "year > $property.since", order: "year DESC, title", limit: 2, settings: { since: 1964 }"#,
      "s4 s3"
    ),
    (#"from: "songs", where: "$source.NAME = 'nina' AND title ILIKE 'B'""#, "s2 s4"),
    (#"from: "tags", where: "tag = 7""#, #"["s1",7] ["s3",7]"#),
    (#"from: "notes", where: "(value->>'artist')::int = $source.id""#, "a c"),
    (#"from: "photos", where: "photos.key <> 'c'""#, "a"),
    (
      #"from: "notes", where: "type IS NULL OR 's' || notes.key IN (SELECT id FROM song)""#, "d"
    ),
  ]

  @Test("The nodes that a row leads to", arguments: ofArtists)
  func rows(property: String, keys: String) throws {
    let store = try store(artists: "f: { \(property) }")
    #expect(try self.keys(store, Self.artist) == keys)
  }

  @Test("The nodes that an object leads to")
  func objects() throws {
    let store = try store(
      notes: #"f: { from: "songs", where: "artist_id = $source.artist AND year > $source.year" }"#)
    #expect(try keys(store, Self.note("a")) == "s3 s4")
    #expect(try keys(store, Self.note("b")).isEmpty)
    #expect(try keys(store, Self.note("d")).isEmpty)
    let found = try fetch(store, Self.note("a")).nodes[0]
    #expect(found.node == Node("songs", .text("s3")))
    #expect(found.value?.text.contains(#""title":"c""#) == true)
  }

  @Test("A text is bound, whatever is in it")
  func bound() throws {
    let store = try store(artists: #"f: { from: "artists", where: "name = $source.name" }"#)
    #expect(try keys(store, Node("artists", .integer(2))) == "2")
  }

  @Test("The second answer is the first, until somebody commits")
  func cached() throws {
    let store = try store(artists: #"f: { from: "songs", where: "artist_id = $source.id" }"#)
    #expect(try !fetch(store, Self.artist).isCached)
    // Other tests commit to the same server.
    try store.waitFor { _ in try fetch(store, Self.artist).isCached }
    try store.bySQL("DELETE FROM song WHERE id = 's2'")
    #expect(try keys(store, Self.artist) == "s1 s3 s4")
    #expect(try !fetch(store, Self.artist, refresh: true).isCached)
    let application = try store.database.session()
    try application.execute("BEGIN; DELETE FROM song")
    #expect(try keys(store, Self.artist) == "s1 s3 s4")
    try application.execute("COMMIT")
    #expect(try keys(store, Self.artist).isEmpty)
  }

  @Test("An unknown property names the nearest, an unknown node itself")
  func unknown() throws {
    let store = try store(artists: #"recent: { from: "songs", where: "true" }"#)
    func complaint(_ node: Node, _ name: String) -> String {
      do {
        let found = try store.reader.fetch(name, of: node, refresh: false, timeLimit: .seconds(5))
        return "\(found)"
      } catch { return "\(error)" }
    }
    #expect(
      complaint(Self.artist, "resent")
        == #"artists: unknown fetched property "resent"; did you mean "recent"?"#)
    #expect(complaint(Node("artists", .integer(9)), "recent") == "there is no node artists/9")
  }

  /// A condition, and a part of what is said of it.
  static let faults: [(condition: String, reason: String)] = [
    ("yeer = 1", "column \"yeer\" does not exist"),
    ("year = $source.sinse", #"unknown column "sinse"; did you mean "since"?"#),
    ("year = ", "syntax error"), ("true ORDER BY year", "syntax error"),
    ("title::int = 1", "invalid input syntax"),
    ("(DELETE FROM song)", "syntax error"),
    ("nextval('s') > 0", "read-only"), ("year = (SELECT bad())", "read-only"),
  ]

  @Test("What the model says wrong is told with the property's name", arguments: faults)
  func unusable(condition: String, reason: String) throws {
    let store = try store(
      artists: #"f: { from: "songs", where: \#(JSON.string(condition).text) }"#)
    try store.bySQL(
      """
      CREATE SEQUENCE s; GRANT USAGE ON s TO cascaded; CREATE FUNCTION bad() RETURNS int LANGUAGE sql
        AS 'UPDATE public.song SET year = 1 RETURNING year'
      """)
    let error = #expect(throws: FetchError.self) { try fetch(store, Self.artist) }
    #expect(error?.description.contains(#"fetched property "f" of artists"#) == true)
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    #expect(try store.exists(Self.note("a")), "the reader goes on")
  }

  @Test("A query that does not end is ended")
  func runaway() throws {
    let store = try store(
      artists: #"f: { from: "songs", where: "pg_sleep(100) IS NULL" }"#)
    let error = #expect(throws: FetchError.self) {
      try fetch(store, Self.artist, timeLimit: .milliseconds(20))
    }
    #expect(
      error?.description == #"fetched property "f" of artists took longer than 0.02 seconds"#)
  }
}
