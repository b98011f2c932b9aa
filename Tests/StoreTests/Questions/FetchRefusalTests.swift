import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing

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
        == #"artists: unknown fetched property "resent"; did you mean "recent"?"#)
    #expect(
      complaint(Node("songs", .text("s1")), "recent")
        == #"songs: unknown fetched property "recent""#)
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
