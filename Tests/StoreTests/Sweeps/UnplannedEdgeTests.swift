import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing
import SQLiteSweeps

/// What comes while a sweep is at work, next to what it will delete.
@Suite("What no plan has")
struct UnplannedEdgeTests {
  private static let follows = "rules: ['deleteSourceIfDestinationDeleted']"

  /// Songs go with their album; between two steps the first list, or tag, is joined to a song that
  /// is still there.
  private func store(_ rule: String, from source: String, to destination: String) throws
    -> TestStore
  {
    try TestStore(
      model: StoreModel(
        """
        { collections: { albums: { table: 'album', key: 'id' }, songs: { table: 'song', key: 'id' },
            others: { table: 'other', key: 'id' } },
          relationships: [
            { name: 'album', from: 'songs', to: 'albums', column: 'album', \(UnplannedEdgeTests.follows) },
            { name: 'with', from: '\(source)', to: '\(destination)', rules: ['\(rule)'],
              join: { table: 'pair', source: '\(source)', destination: '\(destination)' } } ] }
        """),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER);
        CREATE TABLE other(id INTEGER PRIMARY KEY);
        CREATE TABLE pair(songs INTEGER, others INTEGER, PRIMARY KEY(songs, others));
        INSERT INTO album VALUES(1), (2);
        INSERT INTO song VALUES(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 2);
        INSERT INTO other VALUES(1), (2), (3);
        INSERT INTO pair VALUES(7, 3);
        """)
  }

  @Test(
    "A join row that comes between two steps is followed, as far as nothing else holds its end",
    arguments: [
      ("deleteSourceIfDestinationDeleted", "others", "songs"),
      ("deleteSourceIfAllDestinationsDeleted", "others", "songs"),
      ("deleteDestinationIfSourceDeleted", "songs", "others"),
      ("deleteDestinationIfAllSourcesDeleted", "songs", "others"),
    ], [1, 3] as [Int64])
  func joined(_ place: (rule: String, source: String, destination: String), rows: Int64) throws {
    let store = try store(place.rule, from: place.source, to: place.destination)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: rows)
    try store.bySQL("DELETE FROM album WHERE id = 1")
    let disturbed = StepPolicy { _ in
      try store.bySQL(
        """
        INSERT INTO pair SELECT max(id), 1 FROM song WHERE album = 1
          AND (SELECT count(*) FROM song) BETWEEN 2 AND 6
          AND NOT EXISTS (SELECT 1 FROM pair WHERE others = 1) HAVING count(*);
        INSERT INTO pair SELECT max(songs), 3 FROM pair WHERE others = 1
          AND (SELECT count(*) FROM pair WHERE others = 3) = 1 HAVING count(*)
        """)
    }
    _ = try store.writer.sweep([.all], at: 1, manners: disturbed)
    _ = try store.writer.sweep([.cascade, .refcount], at: 2)
    #expect(try store.texts("SELECT id FROM song") == ["7"])
    let counts = place.rule.contains("All")
    #expect(try store.texts("SELECT id FROM other") == (counts ? ["2", "3"] : ["2"]))
    #expect(try store.texts("SELECT songs FROM pair") == (counts ? ["7"] : []))
  }

  @Test(
    "A table that is altered while a sweep looks through the tables loses nobody", arguments: 1...6)
  func altered(step: Int) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { artists: { table: 'artist', key: 'id' }, albums: { table: 'album', key: 'id' },
            photos: { table: 'photo', key: 'id' } },
          relationships: [
            { name: 'artist', from: 'albums', to: 'artists', column: 'artist',
              \(UnplannedEdgeTests.follows) },
            { name: 'photo', from: 'albums', to: 'photos', column: 'photo',
              rules: ['deleteDestinationIfAllSourcesDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY);
        CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER, photo INTEGER);
        CREATE TABLE photo(id INTEGER PRIMARY KEY);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL(
      """
      INSERT INTO photo VALUES(1), (2), (3), (4), (5), (6);
      INSERT INTO album SELECT id, 90 + id, id FROM photo
      """)
    store.sweepsInSteps(of: 1)
    var steps = 0
    let altering = StepPolicy { _ in
      steps += 1
      if steps == step { try store.bySQL("CREATE TABLE another(a)") }
    }
    _ = try store.writer.sweep([.dangling], at: 1, manners: altering)
    _ = try store.writer.sweep([.cascade, .refcount], at: 2)
    #expect(try store.texts("SELECT id FROM album UNION ALL SELECT id FROM photo") == [])
  }
}
