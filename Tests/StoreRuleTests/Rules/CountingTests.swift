import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// Photos that go with the last post that shows them, where nothing that goes is kept: then the
/// journal is asked for the photos alone.
@Suite("Counted references of rows")
struct CountingTests {
  private static let schema = """
    CREATE TABLE photo(id TEXT PRIMARY KEY COLLATE NOCASE);
    CREATE TABLE post(id INTEGER PRIMARY KEY, photo TEXT);
    CREATE INDEX post_photo ON post(photo COLLATE NOCASE);
    CREATE TABLE shown(post INTEGER, photo TEXT, PRIMARY KEY(post, photo)) WITHOUT ROWID;
    CREATE INDEX shown_photo ON shown(photo);
    INSERT INTO photo VALUES('a'), ('b'), ('c'), ('unused');
    INSERT INTO post VALUES(1, 'a'), (2, 'A'), (3, 'b'), (4, NULL), (5, 'c');
    """

  private func store(_ relationships: String, trash: String = "0") throws -> TestStore {
    let model = """
      {
        collections: {
          photos: { table: 'photo', key: 'id' }, posts: { table: 'post', key: 'id' }, notes: {},
        },
        relationships: [\(relationships)], trash: '\(trash)',
      }
      """
    let store = try TestStore(model: StoreModel(model), schema: CountingTests.schema)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  private static let photo =
    "{ name: 'photo', from: 'posts', to: 'photos', column: 'photo', rules: ['\(rule)'] }"
  private static let rule = "deleteDestinationIfAllSourcesDeleted"

  private func photos(_ store: TestStore) throws -> String {
    try Connection(path: store.path, access: .readOnly)
      .all("SELECT id FROM photo ORDER BY id") { $0.text(0) }.joined(separator: " ")
  }

  @Test("A photo goes with its last post, however it is spelt", arguments: [0, 500], ["0", "1d"])
  func last(few: Int64, trash: String) throws {
    let store = try store(CountingTests.photo, trash: trash)
    store.writer.lock.fewNodes = few
    try store.bySQL("DELETE FROM post WHERE id IN (1, 3)")
    let result = try store.writer.sweep([.refcount], at: 1)
    #expect(try photos(store) == "a c unused")
    #expect(result.byCollection == ["photos": 1])
    #expect(result.byRule == [CountingTests.rule: 1])
    #expect(result.deleted.letters == "photos/b")
    try store.bySQL("DELETE FROM post WHERE id = 2")
    #expect(try store.writer.sweep([.all], at: 2).deletedCount == 1)
    #expect(try photos(store) == "c unused")
    #expect(try store.writer.sweep([.all], at: 3).outcome == .nothing)
  }

  @Test("A photo stays where a post shows it again, or by another place under the name")
  func again() throws {
    let store = try store(CountingTests.photo)
    try store.bySQL("DELETE FROM post WHERE id = 3; INSERT INTO post VALUES(9, 'b')")
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 0)
    try store.run("notes/n notes/n-0photo>photos/c")
    try store.bySQL("DELETE FROM post WHERE id = 5")
    #expect(try store.writer.sweep([.all], at: 2).deletedCount == 0)
    #expect(try photos(store) == "a b c unused")
  }

  @Test("What is gone is missed where something follows from its end")
  func missed() throws {
    let cascading = """
      , { name: 'cover', from: 'photos', to: 'posts', column: 'cover',
          rules: ['deleteSourceIfDestinationDeleted'] }
      """
    let schema =
      CountingTests.schema + """
        ALTER TABLE photo ADD COLUMN cover INTEGER; CREATE INDEX photo_cover ON photo(cover);
        UPDATE photo SET cover = 4 WHERE id = 'unused';
        """
    let model = """
      { collections: { photos: { table: 'photo', key: 'id' }, posts: { table: 'post', key: 'id' } },
        relationships: [\(CountingTests.photo)\(cascading)], trash: '0' }
      """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM post WHERE id IN (3, 4)")
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 2)
    #expect(try photos(store) == "a c")
  }

  @Test("What lost an edge and keeps one goes with that, levels later", arguments: ["0", "1d"])
  func later(trash: String) throws {
    let model = """
      {
        collections: {
          photos: { table: 'photo', key: 'id' }, posts: { table: 'post', key: 'id' },
          albums: { table: 'album', key: 'id' }, songs: { table: 'song', key: 'id' },
        },
        relationships: [
          { name: 'photo', from: 'posts', to: 'photos', column: 'photo',
            rules: ['notifyIfSourceDeleted', '\(CountingTests.rule)'] },
          { name: 'album', from: 'posts', to: 'albums', column: 'album',
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'song', from: 'songs', to: 'albums', column: 'album',
            rules: ['\(CountingTests.rule)'] },
        ],
        trash: '\(trash)',
      }
      """
    let schema =
      CountingTests.schema + """
        ALTER TABLE post ADD COLUMN album INTEGER; CREATE INDEX post_album ON post(album);
        CREATE TABLE album(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER);
        CREATE INDEX song_album ON song(album);
        INSERT INTO album VALUES(1); INSERT INTO song VALUES(1, 1);
        UPDATE post SET album = 1 WHERE id = 2;
        """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL(
      "UPDATE post SET photo = NULL WHERE id = 1; UPDATE song SET album = NULL WHERE id = 1")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.byCollection == ["albums": 1, "photos": 1, "posts": 1])
    #expect(try photos(store) == "b c unused")
  }

  @Test("Join rows are counted, the row and both ends whichever goes")
  func joined() throws {
    let store = try store(
      """
      { name: 'shown', from: 'posts', to: 'photos', toMany: true, rules: ['\(CountingTests.rule)'],
        join: { table: 'shown', source: 'post', destination: 'photo' } }
      """)
    try store.bySQL("INSERT INTO shown VALUES(1, 'a'), (2, 'a'), (3, 'b'), (4, 'c'), (5, 'c')")
    try store.bySQL("DELETE FROM shown WHERE post = 1; DELETE FROM post WHERE id = 3")
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 1)
    #expect(try photos(store) == "a c unused")
    try store.bySQL("DELETE FROM post WHERE id = 4; DELETE FROM shown WHERE post = 5")
    #expect(try store.writer.sweep([.all], at: 2).deletedCount == 1)
    #expect(try photos(store) == "a unused")
  }
}
