import CascadeInspect
import CascadeSQLite
import CascadeSystem
import SQLiteBinding
import Testing

/// What refers to what, and what is broken.
@Suite struct FindingTests {
  @Test func countsOrphansOfDeclaredAndImpliedReferences() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE album(id INTEGER PRIMARY KEY,
        artist_id INTEGER REFERENCES artist ON DELETE CASCADE);
      CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER, artist_id INTEGER);
      CREATE INDEX song_album ON song(album_id);
      \(rows(10, into: "artist", "i, 'x'"))
      \(rows(20, into: "album", "i, i % 10 + 1"))
      \(rows(200, into: "song", "i, i % 20 + 1, i % 10 + 1"))
      DELETE FROM artist WHERE id = 3;
      DELETE FROM album WHERE id IN (7, 8);
      """
    ).inspect()
    let declared = try #require(inspection.likely("album", "artist_id"))
    #expect(declared.found == .foreignKey && declared.onDelete == .cascade)
    #expect(declared.rows == 18 && declared.orphans == 2 && !declared.isIndexed)
    #expect(declared.toColumns == ["id"])
    let implied = try #require(inspection.likely("song", "album_id"))
    #expect(implied.found == .name && implied.isIndexed)
    #expect(implied.rows == 200 && implied.orphans == 20)
    #expect(inspection.likely("song", "artist_id")?.orphans == 20)
    // Songs without an album and an artist are counted once.
    #expect(inspection.orphans == 2 + 40)
    #expect(inspection.sum == "42 orphaned rows in 3 relationships")
  }

  @Test func countsARowWithTwoLostReferencesOnce() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY);
      CREATE TABLE b(id INTEGER PRIMARY KEY, a1 INTEGER REFERENCES a, a2 INTEGER REFERENCES a);
      INSERT INTO a VALUES(1);
      INSERT INTO b VALUES(1, 5, 6), (2, 1, 6), (3, 1, 1), (4, NULL, NULL);
      """
    ).inspect()
    #expect(inspection.sum == "2 orphaned rows in 2 relationships")
  }

  @Test func readsTablesWhoseCollationOnlyTheApplicationHas() throws {
    let database = try TestDatabase(
      """
      CREATE TABLE deck(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE card(id INTEGER PRIMARY KEY, deck_id INTEGER);
      CREATE TABLE tag(name TEXT PRIMARY KEY) WITHOUT ROWID;
      INSERT INTO tag VALUES('a'), ('B');
      \(rows(10, into: "deck", "i, 'x'"))
      \(rows(50, into: "card", "i, i % 11 + 1"))
      """)
    try database.hideCollation("unicase", of: "tag", column: "name TEXT")
    try database.hideCollation("unicase", of: "deck", column: "name TEXT")
    let inspection = try database.inspect(examples: true)
    #expect(inspection.likely("card", "deck_id")?.orphans == 4)
    #expect(inspection.tables.first { $0.table == "tag" }?.rows == 2)
  }

  @Test func takesOneRandomIdentifierForAReference() throws {
    let identifiers = "'0f8fad5bd9cb469fa16570867728950e', '7c9e6679f7424de5944b00d1d2b1e4a1'"
    let inspection = try TestDatabase(
      """
      CREATE TABLE commodity(guid TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE payment(guid TEXT PRIMARY KEY, currency TEXT, note TEXT);
      INSERT INTO commodity SELECT value, 'EUR' FROM json_each(json_array(\(identifiers)));
      \(rows(5, into: "payment", "hex(randomblob(16)), '0f8fad5bd9cb469fa16570867728950e', 'x'"))
      """
    ).inspect()
    #expect(inspection.likely("payment", "currency")?.to == "commodity")
    #expect(inspection.relationships.count == 1)
  }

  @Test func findsAColumnThatRefersToOneOfSeveralTables() throws {
    let inspection = try TestDatabase(slots).inspect()
    let found = inspection.found("slot", "obj")
    #expect(found.map(\.to) == ["payment", "account"] && found.allSatisfy(\.isLikely))
    #expect(found.map(\.rows) == [22, 10] && found.map(\.orphans) == [2, 0])
    #expect(inspection.orphans == 2)
    #expect(found[0].evidence.mentions("others are in account"))
  }

  @Test func takesNoAccidentForSuchAColumn() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, x); CREATE TABLE b(id INTEGER PRIMARY KEY, x);
      CREATE TABLE note(id INTEGER PRIMARY KEY, page INTEGER, hash TEXT);
      \(rows(20, into: "a", "i, 'x'")) \(rows(40, into: "b", "i + 10, 'x'"))
      \(rows(40, into: "note", "i, i, hex(randomblob(16))"))
      """
    ).inspect()
    #expect(inspection.relationships.filter(\.isLikely).isEmpty)
  }

  @Test(arguments: ["0", "-1", "''", "'00000000-0000-0000-0000-000000000000'"])
  func knowsValuesThatMeanNone(_ none: String) throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE artist(id PRIMARY KEY, name TEXT);
      CREATE TABLE album(id INTEGER PRIMARY KEY, artist_id);
      \(rows(10, into: "artist", "i, 'x'"))
      \(rows(30, into: "album", "i, iif(i % 3 = 0, \(none), i % 10 + 1)"))
      INSERT INTO album VALUES(31, 99);
      """
    ).inspect()
    let found = try #require(inspection.likely("album", "artist_id"))
    #expect(found.none.count == 1)
    #expect(found.rows == 21 && found.orphans == 1)
  }

  @Test func tellsAValueThatManyRowsShareAndStillCountsIt() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE album(id INTEGER PRIMARY KEY, artist_id INTEGER);
      \(rows(10, into: "artist", "i, 'x'"))
      \(rows(30, into: "album", "i, iif(i % 2 = 0, 999, i % 10 + 1)"))
      """
    ).inspect()
    let found = try #require(inspection.likely("album", "artist_id"))
    #expect(found.none == [.integer(999)])
    #expect(found.orphans == 15 && found.evidence.mentions("15 rows have the same value"))
  }

  @Test func findsJoinTables() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE song(id INTEGER PRIMARY KEY, title TEXT);
      CREATE TABLE tag(id INTEGER PRIMARY KEY, label TEXT);
      CREATE TABLE song_tag(song_id INTEGER, tag_id INTEGER, position INTEGER,
        PRIMARY KEY(song_id, tag_id));
      \(rows(40, into: "song", "i, 'x'"))
      \(rows(5, into: "tag", "i, 'x'"))
      \(rows(40, into: "song_tag", "i, i % 5 + 1, i"))
      DELETE FROM tag WHERE id = 2;
      """
    ).inspect()
    let join = try #require(inspection.relationships.first { $0.found == .join })
    #expect(join.from == "song" && join.to == "tag" && join.join?.table == "song_tag")
    #expect(join.join?.source == ["song_id"] && join.join?.destination == ["tag_id"])
    #expect(join.rows == 40 && join.orphans == 8)
    #expect(inspection.sum == "8 orphaned rows in 1 relationship")
  }

  @Test func findsPairsOfKeyAndType() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE posts(id INTEGER PRIMARY KEY, text TEXT);
      CREATE TABLE photos(id INTEGER PRIMARY KEY, text TEXT);
      CREATE TABLE comments(id INTEGER PRIMARY KEY, subject_id INTEGER, subject_type TEXT);
      \(rows(20, into: "posts", "i, 'x'"))
      \(rows(5, into: "photos", "i, 'x'"))
      \(rows(20, into: "comments", "i, i, 'App\\Models\\Post'"))
      INSERT INTO comments VALUES(30, 4, 'Photo'), (31, 6, 'Photo'), (32, 3, 'Photo');
      """
    ).inspect()
    let found = inspection.found("comments", "subject_id", "subject_type")
    #expect(found.map(\.found) == [.typed, .typed])
    let photos = try #require(found.first { $0.to == "photos" })
    #expect(photos.rows == 3 && photos.orphans == 1 && photos.isLikely)
    #expect(found.first { $0.to == "posts" }?.rows == 20)
  }

  @Test func findsListsOfKeys() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE tags(id TEXT PRIMARY KEY, label TEXT);
      CREATE TABLE notes(id INTEGER PRIMARY KEY, tagIds TEXT);
      \(rows(20, into: "tags", "'tag-' || i, 'x'"))
      \(rows(20, into: "notes", "i, json_array('tag-' || i, 'tag-' || (i % 7 + 1))"))
      INSERT INTO notes VALUES(30, '[]'), (31, NULL), (32, '["tag-1", "gone"]');
      """
    ).inspect()
    let found = try #require(inspection.likely("notes", "tagIds"))
    #expect(found.found == .list && found.to == "tags")
    #expect(found.rows == 21 && found.orphans == 1)
  }

  @Test func findsKeysOfTwoColumns() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE entries(feed TEXT, id TEXT, title TEXT, PRIMARY KEY(feed, id));
      CREATE TABLE entry_tags(feed TEXT, id TEXT, tag TEXT);
      \(rows(30, into: "entries", "'feed-' || (i % 3), 'entry-' || i, 'x'"))
      INSERT INTO entry_tags SELECT feed, id, 'x' FROM entries;
      INSERT INTO entry_tags VALUES('feed-9', 'entry-1', 'x');
      """
    ).inspect()
    let found = try #require(inspection.likely("entry_tags", "feed", "id"))
    #expect(found.to == "entries" && found.toColumns == ["feed", "id"])
    #expect(found.rows == 31 && found.orphans == 1)
  }

  @Test func findsPathsBelowTheRoot() throws {
    let database = try TestDatabase(
      """
      CREATE TABLE album(id INTEGER PRIMARY KEY, title TEXT, cover TEXT);
      INSERT INTO album VALUES(1, 'A', 'one.jpg'), (2, 'B', 'gone.jpg'), (3, 'C', NULL);
      """)
    let root = try database.makeDirectory("media")
    try database.write("one.jpg", "x")
    try database.copy("one.jpg", to: "media/one.jpg")
    let found = try #require(database.inspect(root: root).likely("album", "cover"))
    #expect(found.found == .path && found.rows == 2 && found.orphans == 1)
    #expect(try database.inspect().likely("album", "cover") == nil)
  }

  @Test func tellsWhatNothingRefersTo() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE image(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE page(id INTEGER PRIMARY KEY, image_id INTEGER);
      \(rows(30, into: "image", "i, 'x'"))
      \(rows(60, into: "page", "i, i % 28 + 1"))
      """
    ).inspect()
    #expect(inspection.unreferenced.map(\.table) == ["image"])
    #expect(inspection.unreferenced.first?.rows == 2)
  }

  @Test func findsWhatReferredToATableThatWasEmptied() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE album(id INTEGER PRIMARY KEY, artist_id INTEGER);
      \(rows(30, into: "album", "i, i % 10 + 1"))
      """
    ).inspect()
    #expect(inspection.sum == "30 orphaned rows in 1 relationship")
  }

  @Test func reportsADeclaredKeyWhoseTableIsGone() throws {
    let inspection = try TestDatabase(
      "CREATE TABLE b(id INTEGER PRIMARY KEY, a_id REFERENCES a(id)); INSERT INTO b VALUES(1, 1);"
    ).inspect()
    let found = try #require(inspection.likely("b", "a_id"))
    #expect(found.orphans == 1 && found.evidence.mentions("no such table"))
  }

  @Test func comparesAsForeignKeysDo() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE a(id TEXT PRIMARY KEY COLLATE NOCASE);
      CREATE TABLE b(id INTEGER PRIMARY KEY, a_id REFERENCES a(id));
      INSERT INTO a VALUES('12'), ('X');
      INSERT INTO b VALUES(1, 12), (2, 'x'), (3, 13);
      """
    ).inspect()
    #expect(inspection.likely("b", "a_id")?.orphans == 1)
  }

  @Test func readsTablesThatOnlyTheApplicationCanSort() throws {
    let database = try TestDatabase(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE b(id INTEGER PRIMARY KEY, a_id INTEGER, name TEXT);
      CREATE VIEW c AS SELECT * FROM a;
      INSERT INTO a VALUES(1, 'x'); INSERT INTO b VALUES(1, 1, 'x');
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'name TEXT', 'name TEXT UNIQUE COLLATE unicase')
        WHERE name = 'never';
      UPDATE sqlite_schema SET sql = replace(sql, 'name TEXT', 'name TEXT COLLATE unicase')
        WHERE name IN ('a', 'b');
      """)
    #expect(try database.inspect().likely("b", "a_id")?.orphans == 0)
  }
}
