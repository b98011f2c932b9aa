import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteJournal
import SQLiteSweeps

/// What the applications' own statements leave in the journal.
@Suite("The journal's triggers")
struct JournalTriggerTests {
  static let model = """
    { collections: { albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" } },
      relationships: [ { name: "album", from: "songs", to: "albums", column: "album_id",
        rules: ["deleteDestinationIfAllSourcesDeleted"] } ] }
    """
  static let tables = """
    CREATE TABLE album(id TEXT PRIMARY KEY, title TEXT);
    CREATE TABLE song(id TEXT PRIMARY KEY, album_id TEXT, title TEXT, isrc TEXT UNIQUE);
    INSERT INTO album VALUES('a', 'A'), ('b', 'B');
    INSERT INTO song VALUES('s', 'a', 'S', 'x'), ('t', 'a', 'T', 'y'), ('u', NULL, 'U', NULL);
    """

  private func store(_ model: String = model, _ schema: String = tables) throws -> TestStore {
    try TestStore(model: StoreModel(model), schema: schema)
  }

  @Test(
    "REPLACE puts a default in the place of NULL",
    arguments: [
      "INSERT OR REPLACE INTO song VALUES('v', 'b', NULL)", "UPDATE OR REPLACE song SET u = NULL",
    ])
  func replacingDefault(statement: String) throws {
    for rule in ["deleteDestinationIfAllSourcesDeleted", "denySourceDeletion"] {
      let store = try store(
        JournalTriggerTests.model.replacing("deleteDestinationIfAllSourcesDeleted", with: rule),
        """
        CREATE TABLE album(id TEXT PRIMARY KEY);
        CREATE TABLE song(id TEXT PRIMARY KEY, album_id TEXT, u TEXT NOT NULL DEFAULT 'x' UNIQUE);
        INSERT INTO album VALUES('a'), ('b'); INSERT INTO song VALUES('s', 'a', 'x'), ('t', 'b', 'y');
        """)
      if rule == "denySourceDeletion" {
        #expect(throws: SQLiteError.self) { try store.bySQL(statement) }
      } else {
        try store.bySQL(statement)
        #expect(try store.writer.sweep([.all], at: 1).deletedCount == 1)
        #expect(try store.texts("SELECT id FROM album") == ["b"])
      }
    }
  }

  @Test(
    "A row that is gone, or has another key or reference, is journaled as it was",
    arguments: [
      ("DELETE FROM song WHERE id = 's'", "songs s a"),
      ("DELETE FROM song", "songs s a, songs t a, songs u ∅"),
      ("DELETE FROM album WHERE id = 'a'", "albums a"),
      ("UPDATE song SET id = 'v' WHERE id = 's'", "songs s a"),
      ("UPDATE song SET album_id = 'b' WHERE id = 's'", "songs s a"),
      ("UPDATE song SET album_id = NULL WHERE id = 's'", "songs s a"),
      ("UPDATE song SET album_id = 'b' WHERE id = 'u'", "songs u ∅"),
      ("UPDATE song SET album_id = 'a', id = id, title = 'Z'", "songs u ∅"),
      ("UPDATE song SET title = 'Z'", ""),
      ("UPDATE album SET id = 'A' WHERE id = 'a'", "albums a"),
      ("INSERT INTO song VALUES('v', 'a', 'V', 'z')", ""),
      ("INSERT INTO album VALUES('c', 'C')", ""),
    ])
  func plain(sql: String, journal: String) throws {
    let store = try store()
    try store.bySQL(sql)
    #expect(try store.journal() == journal)
  }

  @Test(
    "And where only stored edges name it", arguments: ["INSERT", "UPDATE"], [true, false])
  func linked(verb: String, isNew: Bool) throws {
    let store = try TestStore(
      model: StoreModel("{ collections: { rows: { table: 'r', key: 'id' }, notes: {} } }"),
      schema: "CREATE TABLE r(id INTEGER PRIMARY KEY, u UNIQUE); INSERT INTO r VALUES(6, 4), (7, 5)"
    )
    _ = try store.writer.sweep([.all], at: 0)
    let note = Node("notes", .text("n"))
    try store.apply([
      .put(note, type: nil, value: nil, edges: nil),
      .link(
        name: "of", from: note, to: .node(Node("rows", .integer(6))),
        rules: .deleteSourceIfDestinationDeleted),
    ])
    #expect(try store.writer.rescanReason == nil)
    if !isNew { try store.reopen() }
    try store.bySQL(
      verb == "INSERT"
        ? "INSERT OR REPLACE INTO r VALUES(4, 4)" : "UPDATE OR REPLACE r SET u = 4 WHERE id = 7")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1).deleted == [note])
    try store.writer.detach()
    #expect(try store.texts("SELECT name FROM sqlite_schema WHERE name GLOB 'cascade_*'") == [])
  }

  @Test(
    "A row that REPLACE displaces is journaled, by whichever key it is displaced",
    arguments: [
      ("INSERT OR REPLACE INTO song VALUES('s', 'b', 'S', 'x')", "songs s a"),
      ("REPLACE INTO song VALUES('s', NULL, 'S', 'z')", "songs s a"),
      ("INSERT OR REPLACE INTO song VALUES('v', 'b', 'V', 'x')", "songs s a"),
      ("INSERT OR REPLACE INTO song VALUES('s', 'b', 'V', 'y')", "songs s a, songs t a"),
      ("INSERT OR REPLACE INTO song VALUES('s', 'a', 'Z', 'x')", ""),
      ("INSERT OR REPLACE INTO album VALUES('a', 'Z')", ""),
      ("UPDATE OR REPLACE song SET isrc = 'y' WHERE id = 's'", "songs t a"),
      ("UPDATE OR REPLACE song SET isrc = 'x' WHERE id = 's'", ""),
      ("UPDATE OR REPLACE song SET id = 't' WHERE id = 'u'", "songs t a, songs u ∅"),
      (
        "INSERT INTO song VALUES('s', 'b', 'S', 'x') ON CONFLICT(id) DO UPDATE SET album_id = 'b'",
        "songs s a, songs s a"
      ),
      ("INSERT OR IGNORE INTO song VALUES('v', 'a', 'V', 'z')", ""),
    ])
  func replaced(sql: String, journal: String) throws {
    let store = try store()
    try store.bySQL(sql)
    #expect(try store.journal() == journal)
    let recursive = try self.store()
    try recursive.bySQL("PRAGMA recursive_triggers = ON; \(sql)")
    let expected = Set(journal.split(separator: ", "))
    #expect(Set(try recursive.journal().split(separator: ", ")).isSuperset(of: expected))
  }

  @Test(
    "Only a row that is displaced counts as gone",
    arguments: [
      ("REPLACE INTO song VALUES('v', 'b', 'V', 'x')", ["s gone"]),
      ("UPDATE OR REPLACE song SET isrc = 'x' WHERE id = 't'", ["s gone"]),
      (
        "INSERT INTO song VALUES('v', 'b', 'V', 'x') ON CONFLICT(isrc) DO UPDATE SET title = 'Z'",
        ["s there"]
      ),
      (
        "INSERT OR IGNORE INTO song VALUES('v', 'b', 'V', 'x'); INSERT INTO song(id) VALUES('w')",
        ["s there"]
      ),
    ])
  func marked(sql: String, marks: [String]) throws {
    for recursive in ["OFF", "ON"] {
      let store = try store()
      try store.bySQL("PRAGMA recursive_triggers = \(recursive); \(sql)")
      let found = try store.texts(
        "SELECT DISTINCT key || iif(gone IN (1, 2), ' gone', ' there') FROM cascade_journal WHERE gone NOTNULL"
      )
      #expect(found == marks)
    }
  }

  @Test("Where the model says so, nobody looks for what is replaced")
  func ignored() throws {
    let model = JournalTriggerTests.model.replacing(
      #"table: "song", key: "id""#, with: #"table: "song", key: "id", replace: "ignore""#)
    let store = try store(model)
    try store.bySQL("INSERT OR REPLACE INTO song VALUES('v', 'b', 'V', 'x')")
    #expect(try store.journal() == "")
  }

  @Test("What was rolled back was never journaled")
  func rolledBack() throws {
    let store = try store()
    try store.bySQL(
      """
      BEGIN; SAVEPOINT one; DELETE FROM song; ROLLBACK TO one; DELETE FROM album WHERE id = 'b';
      COMMIT; BEGIN; DELETE FROM album; ROLLBACK
      """)
    #expect(try store.journal() == "albums b")
  }

  @Test("A foreign-key action's rows come behind their parent")
  func foreignKeyAction() throws {
    let tables = """
      CREATE TABLE album(id TEXT PRIMARY KEY);
      CREATE TABLE song(id TEXT PRIMARY KEY,
        album_id TEXT REFERENCES album ON DELETE CASCADE ON UPDATE CASCADE);
      INSERT INTO album VALUES('a'); INSERT INTO song VALUES('s', 'a'), ('t', 'a');
      """
    let store = try store(JournalTriggerTests.model, tables)
    try store.bySQL("PRAGMA foreign_keys = ON; UPDATE album SET id = 'b'")
    #expect(try store.journal(clear: true) == "songs s a, songs t a, albums a")
    try store.bySQL("PRAGMA foreign_keys = ON; DELETE FROM album")
    #expect(try store.journal() == "albums b, songs s b, songs t b")
  }

  @Test("A trigger of the application's is seen like anybody")
  func applicationTrigger() throws {
    let store = try store()
    try store.bySQL(
      """
      CREATE TRIGGER mine AFTER DELETE ON album
      BEGIN DELETE FROM song WHERE album_id = OLD.id; END;
      DELETE FROM album WHERE id = 'a'
      """)
    #expect(try store.journal() == "albums a, songs s a, songs t a")
  }

  @Test("Nothing is journaled while the daemon itself writes")
  func quiet() throws {
    let store = try store()
    try store.bySQL(
      "INSERT INTO cascade_muted VALUES(1); DELETE FROM song; DELETE FROM album;"
        + "DELETE FROM cascade_muted")
    #expect(try store.journal() == "")
  }

  @Test(
    "Any name will do",
    arguments: ["select", "a b", "it's", #"quo"te"#, "größe", "日本", "x]y", "`z`", "OLD", "new"])
  func names(name: String) throws {
    let quoted = quoted(name)
    let json = JSON.string(name).text
    let model = """
      { collections: { \(json): { table: \(json), key: \(json) } },
        relationships: [ { name: "up", from: \(json), to: \(json), column: \(
          JSON.string(name + " 2").text), rules: ["deleteDestinationIfSourceDeleted"] } ] }
      """
    let store = try store(
      model,
      """
      CREATE TABLE \(quoted)(\(quoted) TEXT PRIMARY KEY, \(CascadeSQLite.quoted(name + " 2")) TEXT);
      INSERT INTO \(quoted) VALUES('k', 'r')
      """)
    #expect(store.writer.bindingProblems == [])
    try store.bySQL("INSERT OR REPLACE INTO \(quoted) VALUES('k', 'q'); DELETE FROM \(quoted)")
    #expect(try store.journal() == "\(name) k r, \(name) k q")
  }

  @Test("Composite, blob and missing keys; tables WITHOUT ROWID")
  func keys() throws {
    let model = """
      { collections: { tags: { table: "tag", key: ["song", "tag"] },
        blobs: { table: "data", key: "hash" } },
        relationships: [ { name: "hash", from: "tags", to: "blobs", column: "hash",
          rules: ["notifyIfSourceDeleted"] } ] }
      """
    let store = try store(
      model,
      """
      CREATE TABLE tag(song INTEGER, tag, hash BLOB, PRIMARY KEY(tag, song)) WITHOUT ROWID;
      CREATE TABLE data(hash BLOB UNIQUE);
      INSERT INTO tag VALUES(1, 'x', x'0a'), (2, x'00ff', NULL);
      INSERT INTO data VALUES(x'0a'), (NULL)
      """)
    try store.bySQL("UPDATE tag SET tag = 'y' WHERE song = 1; DELETE FROM tag; DELETE FROM data")
    #expect(
      try store.journal()
        == """
        tags [1,"x"] \n, tags [1,"y"] \n, tags [2,"x'00FF'"] ∅, blobs \n, blobs ∅
        """.replacing("\\n", with: "\n"))
  }

  @Test("A key of a rowid table may be changed by any name of the rowid")
  func rowid() throws {
    let model = #"{ collections: { rows: { table: "t", key: "id" } } }"#
    let store = try store(model, "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES(1)")
    try store.bySQL("UPDATE t SET rowid = 2; UPDATE t SET oid = 3; UPDATE t SET _rowid_ = 4")
    #expect(try store.journal() == "rows 1, rows 2, rows 3")
  }

  @Test("A generated key or reference changes with what it is made of")
  func generated() throws {
    let store = try store(
      JournalTriggerTests.model,
      """
      CREATE TABLE album(id TEXT PRIMARY KEY, title TEXT);
      CREATE TABLE song(id TEXT PRIMARY KEY, doc TEXT,
        album_id TEXT GENERATED ALWAYS AS (doc ->> 'album'),
        code TEXT GENERATED ALWAYS AS (doc ->> 'code') STORED UNIQUE);
      INSERT INTO song(id, doc) VALUES('s', '{"album":"a","code":"1"}')
      """)
    try store.bySQL(#"UPDATE song SET doc = '{"album":"b","code":"1"}'"#)
    try store.bySQL(#"INSERT OR REPLACE INTO song(id, doc) VALUES('t', '{"code":"1"}')"#)
    #expect(try store.journal() == "songs s a, songs s b")
  }

  @Test("Malformed JSON is no reference, and no hindrance")
  func malformed() throws {
    let model = """
      { collections: { songs: { table: "song", key: "id" }, albums: { table: "album", key: "id" } },
        relationships: [ { name: "albums", from: "songs", to: "albums", property: "doc.albums",
          toMany: true, rules: ["deleteDestinationIfAllSourcesDeleted"] } ] }
      """
    let store = try store(
      model,
      """
      CREATE TABLE album(id TEXT PRIMARY KEY); CREATE TABLE song(id TEXT PRIMARY KEY, doc, n);
      INSERT INTO song(id, doc) VALUES('s', '{"albums":["a","b"]}'), ('t', '{"albums":'), ('u', 5),
        ('v', x'00'), ('w', NULL), ('x', '{"albums":"c"}')
      """)
    try store.bySQL(#"UPDATE song SET doc = '{"albums":["a","b"],"n":1}' WHERE id = 's'"#)
    #expect(try store.journal() == "")
    try store.bySQL("UPDATE song SET doc = '{' WHERE id = 's'; DELETE FROM song")
    #expect(
      try store.journal() == """
        songs s ["a","b"], songs s ∅, songs t ∅, songs u ∅, songs v ∅, songs w ∅, songs x "c"
        """)
  }

  @Test("Join rows are journaled with the source that they name")
  func joins() throws {
    let model = """
      { collections: { songs: { table: "song", key: "id" }, artists: { table: "artist", key: "id" },
          rows: { table: "song_artist", key: "id" } },
        relationships: [ { name: "by", from: "songs", to: "artists", toMany: true,
          join: { table: "song_artist", source: "song", destination: "artist" },
          rules: ["deleteDestinationIfAllSourcesDeleted"] } ] }
      """
    let store = try store(
      model,
      """
      CREATE TABLE song(id TEXT PRIMARY KEY); CREATE TABLE artist(id TEXT PRIMARY KEY);
      CREATE TABLE song_artist(id INTEGER PRIMARY KEY, song TEXT, artist TEXT, place,
        UNIQUE(song, artist), UNIQUE(song, place));
      INSERT INTO song_artist VALUES(1, 's', 'a', 1), (2, 's', 'b', 2), (3, 't', 'a', 1)
      """)
    try store.bySQL("UPDATE song_artist SET artist = 'c' WHERE id = 1")
    #expect(try store.journal(clear: true) == "song_artist s a")
    try store.bySQL("INSERT OR REPLACE INTO song_artist VALUES(1, 's', 'd', 2)")
    #expect(try store.journal(clear: true) == "song_artist s c, song_artist s b")
    try store.bySQL("DELETE FROM song_artist WHERE id = 3")
    #expect(
      Set(try store.journal().split(separator: ", ")) == ["song_artist t a", "rows 3"])
  }

  @Test("More values than a row holds make rows of several watches; a pair stays together")
  func manyValues() throws {
    let columns = ["a", "b", "c"].map {
      """
      { name: "\($0)", from: "n", to: "n", column: "\($0)", rules: ["notifyIfSourceDeleted"] }
      """
    }
    let model = """
      { collections: { n: { table: "n", key: "id" } }, relationships: [ \(
        columns.joined(separator: ", ")), { name: "p", from: "n", to: { N: "n", M: "n" },
        column: "p", typeColumn: "q", rules: ["notifyIfSourceDeleted"] } ] }
      """
    let store = try store(
      model,
      "CREATE TABLE n(id PRIMARY KEY, a, b, c, p, q); INSERT INTO n VALUES(0, 1, 2, 3, 4, 'N')")
    try store.bySQL("DELETE FROM n")
    #expect(try store.journal() == "n 0 1 2 3, n 0 4 N")
  }
}
