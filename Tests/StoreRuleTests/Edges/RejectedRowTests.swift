import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteBinding
import Testing
import SQLiteSweeps

@Suite("Refusals of changed rows")
struct RejectedRowTests {
  let store: TestStore

  init() throws { store = try Music.store() }

  @Test("Members that are no columns, or not to be written, are refused by name")
  func columns() throws {
    #expect(
      try store.refusal(put("songs/1", #"{"titel": 1}"#))
        == #"songs/1: the table "song" has no column "titel"; did you mean "title"?"#)
    #expect(
      try store.refusal(put("albums/1", #"{"length": 1}"#))
        == #"albums/1: "length" is a generated column"#)
    #expect(
      try store.refusal(put("songs/1", #"{"title": 1, "TITLE": 2}"#))
        == #"songs/1: "title" is given twice"#)
    #expect(
      try store.refusal(put("songs/1", "[1]"))
        == "songs/1: the value of a row must be an object whose members are columns")
    #expect(
      try store.refusal(put("songs/1", type: "t"))
        == #"songs/1: a row of a table has no "type""#)
  }

  @Test("A value may repeat the key, and may not have another")
  func keys() throws {
    try store.apply([put("songs/1", #"{"id": 1}"#), put("songs/2", #"{"ID": "2"}"#)])
    for other in [#"{"id": 2}"#, #"{"id": null}"#, #"{"id": "x"}"#] {
      #expect(
        try store.refusal(put("songs/1", other))
          == #"songs/1: "id" is part of its key, but its value has another one"#)
    }
    #expect(
      try store.refusal(patch("songs/1", #"{"id": 1}"#))
        == #"songs/1: "id" is part of its key and cannot change"#)
    #expect(
      try store.refusal(patch("songs/1", "{}", unset: ["id"]))
        == #"songs/1: "id" is part of its key and cannot change"#)
  }

  @Test("What SQLite refuses is refused in its words")
  func bySQLite() throws {
    try store.apply([put("artists/a"), put("songs/1", #"{"title": "x"}"#), put("songs/2")])
    #expect(
      try store.refusal(patch("artists/a", "{}", unset: ["name"]))
        == "artists/a: NOT NULL constraint failed: artist.name")
    #expect(
      try store.refusal(put("songs/9", #"{"stars": 6}"#))
        == "songs/9: CHECK constraint failed: stars <= 5")
    #expect(
      try store.refusal(put("songs/2", #"{"title": "x"}"#))
        == "songs/2: UNIQUE constraint failed: song.title")
    #expect(
      try store.refusal(put("songs/word"))
        == "songs/word: datatype mismatch")
    let reason = try store.reasons([put("songs/9", #"{"stars": 6}"#)])[0]
    #expect(reason.code == .invalid && reason.node == node("songs/9"))
    #expect(reason.path == "changes[0]")
  }

  @Test("A conflict displaces nothing, whatever the table says")
  func conflictClauses() throws {
    let store = try TestStore(
      model: StoreModel(#"{ collections: { t: { table: "t", key: "k" } } }"#),
      schema: """
        CREATE TABLE t(k TEXT PRIMARY KEY ON CONFLICT REPLACE, u UNIQUE ON CONFLICT REPLACE,
          i UNIQUE ON CONFLICT IGNORE, r UNIQUE ON CONFLICT ROLLBACK)
        """)
    try store.apply([put("t/a", #"{"u": 1, "i": 1, "r": 1}"#)])
    for column in ["u", "i", "r"] {
      #expect(
        try store.refusal(put("t/b", #"{"\#(column)": 1}"#))
          == "t/b: UNIQUE constraint failed: t.\(column)")
    }
    #expect(try store.value("t/a") == #"{"k":"a","u":1,"i":1,"r":1}"#)
  }

  @Test("Where a deleted row still has the value, the remedy is named, and helps")
  func flushBetween() throws {
    try store.apply([put("songs/1", #"{"title": "x"}"#)])
    let again = put("songs/2", #"{"title": "x"}"#)
    #expect(
      try store.refusal(delete("songs/1"), again)
        == "songs/2: UNIQUE constraint failed: song.title; the rows that this transaction deletes "
        + #"stay until its next flush, {"flush": true} between the changes removes them earlier"#)
  }

  @Test("Triggers of the application have their say")
  func triggers() throws {
    try store.bySQL(
      """
      CREATE TRIGGER no BEFORE INSERT ON song WHEN new.title = 'no'
      BEGIN SELECT RAISE(ABORT, 'not this one'); END;
      CREATE TRIGGER hush BEFORE INSERT ON song WHEN new.title = 'hush'
      BEGIN SELECT RAISE(IGNORE); END;
      CREATE TRIGGER gone AFTER INSERT ON song WHEN new.title = 'gone'
      BEGIN DELETE FROM song WHERE id = new.id; END;
      CREATE TRIGGER json AFTER INSERT ON song WHEN new.title = 'json'
      BEGIN UPDATE song SET likes = json_extract(new.likes, '$') WHERE id = new.id; END
      """)
    #expect(try store.refusal(put("songs/1", #"{"title": "no"}"#)) == "songs/1: not this one")
    #expect(
      try store.refusal(put("songs/1", #"{"title": "hush"}"#))
        == #"songs/1: a trigger of "song" prevents this"#)
    #expect(
      try store.refusal(put("songs/1", #"{"title": "gone"}"#))
        == #"songs/1: a trigger of "song" deleted the row"#)
    #expect(
      try store.refusal(put("songs/1", #"{"title": "json", "likes": "{"}"#))
        == "songs/1: malformed JSON")
    #expect(try !store.exists(node("songs/1")))
  }

  @Test("What is not there cannot be patched; its deletion is passed over")
  func absent() throws {
    #expect(
      try store.refusal(patch("songs/1", "{}")) == "songs/1 cannot be patched: it does not exist")
    #expect(try store.apply([delete("songs/1")]).skippedChanges == 1)
    try store.apply([put("songs/1")])
    #expect(
      try store.refusal(delete("songs/1"), patch("songs/1", "{}"))
        == "songs/1 cannot be patched: it does not exist")
  }

  @Test("Foreign keys are asked for at the end, behind a sweep in steps too")
  func foreignKeys() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: "a", key: "k" }, b: { table: "b", key: "k" } },
          relationships: [ { name: "a", from: "b", to: "a", column: "a" } ] }
        """),
      schema: """
        CREATE TABLE a(k INTEGER PRIMARY KEY); CREATE TABLE b(k INTEGER PRIMARY KEY, a REFERENCES a);
        INSERT INTO a VALUES(1); INSERT INTO b VALUES(1, 1)
        """)
    store.sweepsInSteps(of: 1)
    try store.bySQL("PRAGMA foreign_keys = OFF; DELETE FROM a")
    #expect(try store.writer.sweep([.all], at: 1).outcome != .blocked)
    try store.apply([put("b/2", #"{"a": 2}"#), put("a/2")])
    #expect(try store.alive(in: "b") == "b/1 b/2")
    #expect(try store.refusal(put("b/3", #"{"a": 3}"#)).hasPrefix("FOREIGN KEY constraint failed"))
  }
}
