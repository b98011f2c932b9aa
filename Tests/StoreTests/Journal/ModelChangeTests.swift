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

/// What the journal says was said under the model of its time.
@Suite("What the journal means under another model")
struct ModelChangeTests {
  private static let schema = """
    CREATE TABLE album(id INTEGER PRIMARY KEY, code INTEGER UNIQUE);
    CREATE TABLE artist(id INTEGER PRIMARY KEY);
    CREATE TABLE tag(id INTEGER PRIMARY KEY);
    CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER);
    CREATE TABLE song_tag(song INTEGER, tag INTEGER, PRIMARY KEY(song, tag));
    CREATE TABLE track(id INTEGER PRIMARY KEY, album_id INTEGER);
    INSERT INTO album VALUES(1, 2), (2, 1), (3, 3);
    INSERT INTO artist VALUES(1), (2); INSERT INTO tag VALUES(1), (2);
    INSERT INTO song VALUES(1, 1), (2, 2), (3, 3), (4, 3); INSERT INTO track VALUES(11, 3);
    INSERT INTO song_tag VALUES(1, 1), (2, 2);
    """

  private func album(
    of songs: String = "songs", to albums: String = "albums", by column: String = "album_id"
  ) -> String {
    """
    { name: 'album', from: '\(songs)', to: '\(albums)', column: '\(column)',
      rules: ['deleteDestinationIfAllSourcesDeleted'] },
    """
  }

  private func tags(by join: String) -> String {
    """
    { name: 'tags', from: 'songs', to: 'tags', toMany: true,
      join: { table: '\(join)', source: 'song', destination: 'tag' },
      rules: ['deleteDestinationIfAllSourcesDeleted'] }
    """
  }

  private func model(_ relationships: String) throws -> StoreModel {
    try model("albums: { table: 'album', key: 'id' }", relationships)
  }

  private func model(_ collections: String, _ relationships: String) throws -> StoreModel {
    try StoreModel(
      """
      { collections: { songs: { table: 'song', key: 'id' }, tags: { table: 'tag', key: 'id' },
          \(collections) }, relationships: [\(relationships)] }
      """)
  }

  private func store(_ model: StoreModel) throws -> TestStore {
    let store = try TestStore(model: model, schema: Self.schema)
    _ = try store.writer.sweep([.all], at: 1)
    return store
  }

  private func sweep(_ store: TestStore, _ model: StoreModel) throws -> [String: Int] {
    let writer = try Writer(path: store.path, model: model)
    #expect(writer.bindingProblems.isEmpty)
    return try writer.sweep([.cascade, .refcount], at: 2).byCollection
  }

  @Test("A reference that led elsewhere is not lost by what it leads to now")
  func otherDestination() throws {
    let both = "albums: { table: 'album', key: 'id' }, artists: { table: 'artist', key: 'id' }"
    let store = try store(model(both, album(to: "artists")))
    try store.bySQL("DELETE FROM song WHERE id IN (1, 2)")
    #expect(try sweep(store, model(both, album())).isEmpty)
    #expect(try store.texts("SELECT id FROM album") == ["1", "2", "3"])
  }

  @Test(
    "Nor by a row that has the same key in another table, or by another column",
    arguments: ["{ table: 'artist', key: 'id' }", "{ table: 'album', key: 'code' }"])
  func otherRows(albums: String) throws {
    let store = try store(model(album()))
    try store.bySQL("DELETE FROM song WHERE id IN (1, 2); DELETE FROM album WHERE id = 2")
    #expect(try sweep(store, model("albums: \(albums)", album())).isEmpty)
  }

  @Test("A column and a join table may have another name")
  func renamedColumn() throws {
    let store = try store(model(album() + tags(by: "song_tag")))
    try store.bySQL(
      """
      ALTER TABLE song RENAME COLUMN album_id TO of_album;
      ALTER TABLE song_tag RENAME TO tagged;
      DELETE FROM tagged WHERE song = 1; UPDATE song SET of_album = 2 WHERE id = 1
      """)
    let renamed = try model(album(by: "of_album") + tags(by: "tagged"))
    #expect(try sweep(store, renamed) == ["albums": 1, "tags": 1])
    #expect(try store.texts("SELECT id FROM album") == ["2", "3"])
    // Another step deletes rows of a table that had another column once.
    try store.bySQL("DELETE FROM song WHERE id IN (1, 2)")
    #expect(try sweep(store, renamed) == ["albums": 1, "tags": 1])
  }

  @Test("What one end says is written down while the other has no table", arguments: [false, true])
  func halfView(isFollowed: Bool) throws {
    let store = try store(model(album()))
    try store.bySQL("ALTER TABLE album RENAME TO record")
    _ = try store.writer.sweep([.cascade], at: 1)
    #expect(store.writer.isPartlyBound)
    try store.bySQL("DELETE FROM song WHERE id = 1; UPDATE song SET album_id = 3 WHERE id = 2")
    if !isFollowed { try store.bySQL("ALTER TABLE record RENAME TO album") }
    let table = isFollowed ? "record" : "album"
    #expect(
      try sweep(store, model("albums: { table: '\(table)', key: 'id' }", album())) == ["albums": 2])
    #expect(try store.texts("SELECT id FROM \(table)") == ["3"])
  }

  @Test("A collection that takes another's name keeps what the journal says of it")
  func takenName() throws {
    let tracks = ", tracks: { table: 'track', key: 'id' }"
    let albums = "albums: { table: 'album', key: 'id' }"
    let store = try store(model(albums + tracks, album() + album(of: "tracks")))
    try store.bySQL("DELETE FROM song WHERE id = 1; DELETE FROM track")
    let renamed = try StoreModel(
      """
      { collections: { tracks: { table: 'song', key: 'id' }, \(albums) },
        relationships: [\(album(of: "tracks"))] }
      """)
    #expect(try sweep(store, renamed) == ["albums": 1])
    #expect(try store.texts("SELECT id FROM album") == ["2", "3"])
  }

  @Test("A name is not taken from rows that stored edges name")
  func displaced() throws {
    let before = try StoreModel(
      """
      { collections: { tracks: { table: 'track', key: 'id' }, songs: { table: 'song', key: 'id' },
          pics: {} }, roots: ['songs'] }
      """)
    let store = try TestStore(model: before, schema: Self.schema)
    try store.apply(changes("tracks/11-8>pics/1 pics/1"))
    let after = try StoreModel(
      "{ collections: { tracks: { table: 'song', key: 'id' }, pics: {} }, roots: ['tracks'] }")
    let writer = try Writer(path: store.path, model: after)
    #expect(writer.bindingProblems.map(\.path) == ["collections.tracks"])
    #expect(try writer.sweep([.all], at: 1).outcome == .blocked)
    #expect(try store.exists(node("pics/1")))
    #expect(try Writer(path: store.path, model: before).bindingProblems.isEmpty)
  }

  @Test("What another column of the same name lost is judged by its own rules")
  func namesakes() throws {
    func two(_ column: String) -> String {
      album(by: column) + """
        { name: 'album', from: 'songs', to: 'albums', column: 'other',
          rules: ['notifyIfSourceDeleted'] }
        """
    }
    let store = try TestStore(
      model: model(two("album_id")),
      schema: Self.schema
        + "ALTER TABLE song ADD COLUMN other INTEGER; UPDATE song SET other = 2 WHERE id = 1;"
        + "UPDATE song SET album_id = 1 WHERE id = 2")
    _ = try store.writer.sweep([.all], at: 1)
    try store.bySQL(
      "ALTER TABLE song RENAME COLUMN album_id TO of_album; UPDATE song SET other = NULL WHERE id = 1"
    )
    #expect(try sweep(store, model(two("of_album"))).isEmpty)
    #expect(try store.texts("SELECT id FROM album") == ["1", "2", "3"])
  }

  @Test("A mistake in the model that is put right loses nothing of the journal", arguments: [0, 1])
  func mistake(end: Int) throws {
    let store = try store(model(album()))
    try store.bySQL("DELETE FROM song WHERE id = 1")
    let albums = "albums: { table: '\(end == 0 ? "albun" : "album")', key: 'id' }"
    let wrong = try StoreModel(
      """
      { collections: { songs: { table: '\(end == 1 ? "sogn" : "song")', key: 'id' }, \(albums),
          tags: { table: 'tag', key: 'id' } }, relationships: [\(album())] }
      """)
    let writer = try Writer(path: store.path, model: wrong)
    #expect(writer.bindingProblems.count > 0)
    try store.bySQL("DELETE FROM song WHERE id = 2")
    #expect(try sweep(store, model(album())) == ["albums": 2])
  }

  @Test("What a model wants that fits in part is watched beside what was watched before")
  func wantedMeanwhile() throws {
    let store = try store(model(tags(by: "song_tag")))
    try store.bySQL("ALTER TABLE tag RENAME TO label")
    let more = try model(album() + tags(by: "song_tag"))
    let writer = try Writer(path: store.path, model: more)
    #expect(writer.bindingProblems.count > 0)
    try store.bySQL("DELETE FROM song WHERE id = 1; DELETE FROM song_tag WHERE song = 1")
    try store.bySQL("ALTER TABLE label RENAME TO tag")
    #expect(try sweep(store, more) == ["albums": 1, "tags": 1])
    let left = "SELECT name FROM sqlite_schema WHERE name GLOB 'cascade_*~*'"
    #expect(try store.texts(left).isEmpty)
  }

  @Test("Another table that has the name of a renamed one is not taken for it", arguments: [0, 1])
  func otherTable(way: Int) throws {
    let before = try StoreModel(
      """
      { collections: { songs: { table: 'song', key: 'id' }, tracks: { table: 'track', key: 'id' },
          pics: {} } }
      """)
    let store = try TestStore(model: before, schema: Self.schema)
    try store.apply(changes("songs/1-8>pics/1 pics/1"))
    try store.bySQL(
      """
      ALTER TABLE song RENAME TO tune;
      \(way == 0 ? "CREATE TABLE song(id INTEGER PRIMARY KEY)" : "ALTER TABLE track RENAME TO song")
      """)
    let others = ["hits: { table: 'song', key: 'id' }", "tracks: { table: 'song', key: 'id' }"]
    let after = try StoreModel(
      """
      { collections: { songs: { table: 'tune', key: 'id' }, \(others[way]), pics: {} } }
      """)
    let writer = try Writer(path: store.path, model: after)
    #expect(writer.bindingProblems.isEmpty)
    _ = try writer.sweep([.all], at: 1)
    #expect(try store.edges().map(\.letters) == ["songs/1-8>pics/1"])
    #expect(try store.exists(node("pics/1")))
  }

  @Test(
    "Join rows that a sweep removed are no edges of a relationship that left",
    arguments: [false, true])
  func relationshipThatLeft(leaves: Bool) throws {
    let collections = "albums: { table: 'album', key: 'id' }, pics: {}"
    let before = try model(collections, album() + tags(by: "song_tag"))
    let store = try store(before)
    try store.apply(changes("pics/1 pics/1-32tags>songs/3"))
    try store.bySQL("DELETE FROM song WHERE id = 1")
    _ = try store.writer.sweep([.cascade], at: 1)
    #expect(try store.texts("SELECT song FROM song_tag") == ["2"])
    let after = leaves ? try model(collections, album()) : before
    let swept = try sweep(store, after)
    #expect(swept == (leaves ? ["albums": 1] : ["albums": 1, "tags": 1]))
  }
}
