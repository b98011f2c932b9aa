import CascadeInspect
import CascadeModel
import CascadeSQLite
import SQLiteBinding
import Testing

/// Rows that an application moved to another table, with their keys: what refers to them dangles, as
/// orphans do, and a rule that deletes orphans would lose what belongs to them.
@Suite struct MovedRowsTests {
  /// Of 60 albums the application moved some to an archive. Songs refer to both by `album_id`.
  private static func music(_ archive: String, _ key: String, isDeclared: Bool = false) -> String {
    """
    CREATE TABLE album(id INTEGER PRIMARY KEY, title TEXT, year INTEGER);
    CREATE TABLE song(id INTEGER PRIMARY KEY,
      album_id INTEGER \(isDeclared ? "REFERENCES album ON DELETE CASCADE" : ""), title TEXT);
    CREATE TABLE genre(id INTEGER PRIMARY KEY, title TEXT, year INTEGER);
    CREATE TABLE "\(archive)"(\(key), title TEXT, year INTEGER);
    \(rows(60, into: "album", "i, 'x', 1900 + i"))
    \(rows(9, into: "genre", "i, 'x', 1900 + i"))
    \(rows(300, into: "song", "i, i % 60 + 1, 'x'"))
    INSERT INTO "\(archive)" SELECT id, title, year FROM album WHERE id % 15 = 4;
    DELETE FROM album WHERE id % 15 = 4;
    """
  }

  private static func model(_ database: TestDatabase) throws -> StoreModel {
    try StoreModel(json5: Array(SuggestedModel(database.inspect()).text.utf8))
  }

  @Test(arguments: ["album_archive", "archived_albums", "deleted_albums", "archive", "closed"])
  func areSaid(_ archive: String) throws {
    let database = try TestDatabase(MovedRowsTests.music(archive, "id INTEGER PRIMARY KEY"))
    let inspection = try database.inspect()
    let found = inspection.found("song", "album_id")
    #expect(found.map(\.to) == ["album", archive] && found.allSatisfy(\.isLikely))
    #expect(found.map(\.rows) == [280, 20] && found.map(\.orphans) == [0, 0])
    #expect(found[0].evidence.mentions("the 4 values that are missing are all in \(archive).id"))
    #expect(inspection.sum == "0 orphaned rows in 0 relationships")
    #expect(inspection.text(width: 120).mentions("rows were moved to \(archive).id"))
    let model = try MovedRowsTests.model(database)
    let album = try #require(model.relationships.first { $0.from == "song" })
    #expect(album.to == .either(["album", archive]) && album.rules == [])
  }

  /// Others were deleted: those alone are orphans.
  @Test func areToldFromOrphans() throws {
    let database = try TestDatabase(
      MovedRowsTests.music("album_archive", "id INTEGER PRIMARY KEY")
        + "DELETE FROM album WHERE id IN (7, 8);")
    let inspection = try database.inspect(examples: true)
    let found = inspection.found("song", "album_id")
    #expect(found.map(\.to) == ["album", "album_archive"])
    #expect(found.map(\.rows) == [280, 20] && found.map(\.orphans) == [10, 0])
    #expect(
      found[0].evidence.mentions("4 of the 6 values that are missing are in album_archive.id"))
    #expect(found[0].examples.count == 5)
    #expect(
      found[0].examples.allSatisfy { row in
        row.contains { $0.column == "album_id" && [.integer(7), .integer(8)].contains($0.value) }
      })
    #expect(inspection.sum == "10 orphaned rows in 1 relationship")
  }

  /// MediaWiki's names: each column has the prefix of its table.
  @Test func areSaidOfAKeyWithAnotherName() throws {
    let database = try TestDatabase(
      """
      CREATE TABLE revision(rev_id INTEGER PRIMARY KEY, rev_page INTEGER, rev_len INTEGER);
      CREATE TABLE archive(ar_id INTEGER PRIMARY KEY, ar_title TEXT, ar_len INTEGER,
        ar_rev_id INTEGER NOT NULL UNIQUE);
      CREATE TABLE slots(slot_revision_id INTEGER, slot_role_id INTEGER,
        PRIMARY KEY(slot_revision_id, slot_role_id));
      \(rows(200, into: "revision", "i, i % 40, i"))
      INSERT INTO slots SELECT rev_id, 1 FROM revision;
      INSERT INTO archive SELECT NULL, 'x', rev_len, rev_id FROM revision WHERE rev_page = 7;
      DELETE FROM revision WHERE rev_page = 7;
      """)
    let model = try MovedRowsTests.model(database)
    let revision = try #require(model.relationships.first { $0.from == "slots" })
    #expect(revision.to == .either(["revision", "archive"]))
    guard case .mapped("archive", ["ar_rev_id"], _) = model.collections["archive"] else {
      Issue.record("the key of the archive: \(String(describing: model.collections["archive"]))")
      return
    }
  }

  /// What the schema declares stays an orphan, but the rule deletes it only where both tables lack it.
  @Test func keepWhatADeclaredKeyWouldDelete() throws {
    let database = try TestDatabase(
      MovedRowsTests.music("album_archive", "id INTEGER PRIMARY KEY", isDeclared: true))
    let inspection = try database.inspect()
    #expect(inspection.found("song", "album_id").map(\.orphans) == [20, 0])
    let model = try MovedRowsTests.model(database)
    let album = try #require(model.relationships.first { $0.from == "song" })
    #expect(album.to == .either(["album", "album_archive"]))
    #expect(album.rules == .deleteSourceIfDestinationDeleted)
  }

  /// A model cannot name a column that is no key: then it says nothing of the reference.
  @Test func areNoDestinationWithoutAKey() throws {
    let database = try TestDatabase(
      MovedRowsTests.music("album_archive", "album_id INTEGER NOT NULL"))
    let inspection = try database.inspect()
    #expect(inspection.found("song", "album_id").map(\.to) == ["album", "album_archive"])
    let text = SuggestedModel(inspection).text
    #expect(!text.mentions("deleteSourceIfDestinationDeleted") && text.mentions("Not in the model"))
    #expect(try MovedRowsTests.model(database).relationships.isEmpty)
  }

  @Test func areSaidOfAPairOfKeyAndType() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE posts(id INTEGER PRIMARY KEY, text TEXT);
      CREATE TABLE old_posts(id INTEGER PRIMARY KEY, text TEXT);
      CREATE TABLE comments(id INTEGER PRIMARY KEY, subject_id INTEGER, subject_type TEXT);
      \(rows(60, into: "posts", "i, 'x'"))
      \(rows(60, into: "comments", "i, i, 'Post'"))
      INSERT INTO old_posts SELECT * FROM posts WHERE id % 9 = 0;
      DELETE FROM posts WHERE id % 9 = 0;
      """
    ).inspect()
    let found = try #require(inspection.found("comments", "subject_id", "subject_type").first)
    #expect(found.evidence.mentions("are all in old_posts.id"))
    #expect(inspection.text(width: 120).mentions("rows were moved to old_posts.id"))
    #expect(!SuggestedModel(inspection).text.mentions("deleteSourceIfDestinationDeleted"))
  }

  /// Orphans: some of the keys are in the other table by accident, or because it has the key, too.
  @Test(arguments: [
    "CREATE TABLE cover(album_id INTEGER PRIMARY KEY, path TEXT); INSERT INTO cover VALUES(4, 'x');",
    "CREATE TABLE label(id INTEGER PRIMARY KEY, title TEXT);"
      + rows(60, into: "label", "i, 'x'"),
    "CREATE TABLE old_album(id INTEGER PRIMARY KEY, title TEXT); INSERT INTO old_album VALUES(4, '');",
    "CREATE TABLE album_tag(id INTEGER PRIMARY KEY, album_id INTEGER, tag TEXT);"
      + rows(60, into: "album_tag", "i, i, 'x'"),
  ]) func areNotOrphans(_ other: String) throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE album(id INTEGER PRIMARY KEY, title TEXT);
      CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER);
      \(rows(60, into: "album", "i, 'x'")) \(rows(300, into: "song", "i, i % 60 + 1"))
      \(other) DELETE FROM album WHERE id % 15 = 4;
      """
    ).inspect()
    #expect(inspection.found("song", "album_id").map(\.to) == ["album"])
    #expect(inspection.likely("song", "album_id")?.orphans == 20)
  }
}
