import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps
import SQLiteJournal

/// A row of the journal has all watched values of its row, also those that nobody changed. Behind a
/// relationship that has another place since, these are no edges that were removed.
@Suite("What a row says as before is not lost where the model looks elsewhere")
struct MovedReferenceTests {
  private static let schema = """
    CREATE TABLE album(id INTEGER PRIMARY KEY); CREATE TABLE tag(id INTEGER PRIMARY KEY);
    CREATE TABLE song(id INTEGER PRIMARY KEY, title TEXT, tag_id INTEGER,
      album_id INTEGER, kind TEXT, list TEXT, other INTEGER, other_list TEXT);
    CREATE TABLE song_album(song INTEGER, album_id INTEGER, note TEXT, PRIMARY KEY(song, album_id));
    CREATE TABLE other_album(song INTEGER, album_id INTEGER);
    CREATE INDEX song_album_id ON song(album_id);
    INSERT INTO album VALUES(1), (2), (3); INSERT INTO tag VALUES(1), (2);
    INSERT INTO song(id, tag_id, album_id, kind, list) VALUES
      (1, 1, 1, 'albums', '[1]'), (2, 1, 2, 'albums', '[2]'), (3, 2, 3, 'albums', '[3]');
    INSERT INTO song_album VALUES(1, 1, ''), (2, 2, ''), (3, 3, '');
    """

  private static let before = [
    "to: 'albums', column: 'album_id'", "to: 'albums', property: 'list', toMany: true",
    "to: { albums: 'albums' }, column: 'album_id', typeColumn: 'kind'",
    "to: 'albums', toMany: true, join: { table: 'song_album', source: 'song', destination: 'album_id' }",
  ]
  private static let after = [
    "to: 'albums', column: 'other'", "to: 'albums', property: 'other_list', toMany: true",
    "to: 'albums', toMany: true, join: { table: 'other_album', source: 'song', destination: 'album_id' }",
    "to: { other: 'albums' }, column: 'album_id', typeColumn: 'kind'",
  ]
  /// What leaves all references to albums as they are.
  private static let writes = [
    "UPDATE song SET tag_id = 2 WHERE id = 1",
    "INSERT OR IGNORE INTO song(id, album_id) VALUES(1, 2)",
    """
    INSERT INTO song(id, album_id) VALUES(1, 2) ON CONFLICT(id) DO UPDATE SET title = 'new';
    INSERT INTO song_album VALUES(1, 1, '') ON CONFLICT DO UPDATE SET note = 'new';
    REPLACE INTO song_album VALUES(1, 1, 'newer')
    """,
  ]
  private static let rules = [
    "deleteDestinationIfAllSourcesDeleted", "deleteDestinationIfSourceDeleted",
  ]

  private func model(_ album: String, _ rule: String) throws -> StoreModel {
    try StoreModel(
      """
      { collections: { songs: { table: 'song', key: 'id' }, albums: { table: 'album', key: 'id' },
          tags: { table: 'tag', key: 'id' } },
        relationships: [
          { name: 'tag', from: 'songs', to: 'tags', column: 'tag_id' , rules: ['\(rule)'] },
          { name: 'album', from: 'songs', \(album), rules: ['\(rule)'] }] }
      """)
  }

  private func albums(
    _ before: String, _ write: String, _ after: String, _ rule: String
  ) throws -> [String] {
    let store = try TestStore(model: model(before, rule), schema: Self.schema)
    _ = try store.writer.sweep([.all], at: 1)
    try store.bySQL(write)
    let writer = try Writer(path: store.path, model: model(after, rule))
    #expect(writer.bindingProblems.isEmpty)
    _ = try writer.sweep([.cascade, .refcount], at: 2)
    return try store.texts("SELECT id FROM album")
  }

  @Test("It is not lost", arguments: before, after)
  func unchanged(before: String, after: String) throws {
    for write in Self.writes {
      for rule in Self.rules {
        let left = try albums(before, write, after, rule)
        #expect(left == ["1", "2", "3"], "\(write), \(rule)")
      }
    }
  }

  @Test("What was removed is, by the rules of today", arguments: before, after)
  func removed(before: String, after: String) throws {
    let write = """
      UPDATE song SET album_id = NULL, list = '[]' WHERE id = 1; DELETE FROM song_album WHERE song = 1
      """
    let gone = "DELETE FROM song WHERE id = 2; DELETE FROM song_album WHERE song = 2"
    for rule in Self.rules {
      #expect(try albums(before, write, after, rule) == ["2", "3"], "\(rule)")
      #expect(
        try albums(before, gone, after, rule) == ["1", "3"], "\(rule)")
    }
  }

  @Test("Nor is a file let go of", arguments: [SweepKind.refcount, .files, .all])
  func file(kind: SweepKind) throws {
    let files = try FileFixture()
    try files.write("1", "2")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL)")
    _ = try files.store.writer.sweep([.all], at: 1)
    try files.store.bySQL(
      """
      UPDATE album SET cover = NULL WHERE id = 2; UPDATE album SET extra = '[]' WHERE id = 1;
      ALTER TABLE album ADD COLUMN sleeve TEXT
      """)
    let moved = files.model.replacing(#"column: "cover""#, with: #"column: "sleeve""#)
    let writer = try Writer(path: files.store.path, model: StoreModel(moved))
    let swept = try writer.sweep([kind], at: 2)
    #expect(swept.files == 1)
    #expect(
      try files.store.texts("SELECT path FROM cascade_released_file").allSatisfy { $0 == "2" })
  }
}
