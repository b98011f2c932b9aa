import CascadeInspect
import Testing

/// Names of columns and tables, as people make them.
@Suite struct NameTests {
  struct Naming: Sendable {
    let table: String
    let key: String
    let column: String
  }

  static let namings = [
    Naming(table: "album", key: "id", column: "album_id"),
    Naming(table: "albums", key: "id", column: "album_id"),
    Naming(table: "albums", key: "id", column: "albumId"),
    Naming(table: "Album", key: "AlbumId", column: "AlbumId"),
    Naming(table: "albums", key: "id", column: "albumid"),
    Naming(table: "albums", key: "id", column: "AlbumID"),
    Naming(table: "albums", key: "id", column: "fk_album"),
    Naming(table: "albums", key: "id", column: "idAlbum"),
    Naming(table: "albums", key: "id", column: "album"),
    Naming(table: "categories", key: "id", column: "category_id"),
    Naming(table: "boxes", key: "id", column: "box_id"),
    Naming(table: "people", key: "id", column: "person_id"),
    Naming(table: "tbl_album", key: "id", column: "album_id"),
    Naming(table: "moz_places", key: "id", column: "place_id"),
    Naming(table: "users", key: "id", column: "owner_id"),
    Naming(table: "users", key: "uuid", column: "created_by_user_uuid"),
    Naming(table: "addresses", key: "id", column: "billing_address_id"),
    Naming(table: "media_items", key: "id", column: "mediaItemId"),
  ]

  @Test(arguments: namings) func findsAReferenceByItsName(_ naming: Naming) throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE "\(naming.table)"("\(naming.key)" INTEGER PRIMARY KEY, x);
      CREATE TABLE notes(id INTEGER PRIMARY KEY, "\(naming.column)" INTEGER, text TEXT);
      \(rows(50, into: "\"\(naming.table)\"", "i, 'x'"))
      \(rows(80, into: "notes", "i, i % 50 + 1, 'text'"))
      """
    ).inspect()
    let found = inspection.likely("notes", naming.column)
    #expect(found?.to == naming.table, "\(inspection.relationships)")
    #expect(found?.orphans == 0 && found?.rows == 80)
  }

  @Test(arguments: ["parent", "parent_id", "parentId", "parent_uuid"])
  func findsParentsInTheSameTable(_ column: String) throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE folders(uuid TEXT PRIMARY KEY, \(column) TEXT);
      \(rows(20, into: "folders", "'folder-' || i, iif(i > 1, 'folder-' || (i / 2), NULL)"))
      """
    ).inspect()
    #expect(inspection.likely("folders", column)?.to == "folders")
  }

  /// Numbers from 1 to 12 are in every table with a counted key.
  @Test(arguments: ["track", "trackNumber", "track_no", "rating", "position", "count", "year"])
  func takesNoSmallNumbersForReferences(_ column: String) throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE tracks(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE songs(id INTEGER PRIMARY KEY, \(column) INTEGER);
      \(rows(500, into: "tracks", "i, 'x'"))
      \(rows(300, into: "songs", "i, i % 12 + 1"))
      """
    ).inspect()
    #expect(inspection.likely("songs", column) == nil)
  }

  /// A UUID that is there is no accident, whatever the column is called.
  @Test func findsLongValuesWhateverTheName() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE things(guid TEXT PRIMARY KEY, x);
      CREATE TABLE facts(id INTEGER PRIMARY KEY, about TEXT);
      \(rows(40, into: "things", "lower(hex(randomblob(16))), i"))
      INSERT INTO facts SELECT rowid, guid FROM things;
      """
    ).inspect()
    #expect(inspection.likely("facts", "about")?.to == "things")
  }

  @Test func takesNoNameForAReferenceIfTheKindsDiffer() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE artists(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE songs(id INTEGER PRIMARY KEY, artist TEXT);
      \(rows(40, into: "artists", "i, 'Artist ' || i"))
      \(rows(40, into: "songs", "i, 'Artist ' || i"))
      """
    ).inspect()
    #expect(inspection.likely("songs", "artist") == nil)
  }
}
