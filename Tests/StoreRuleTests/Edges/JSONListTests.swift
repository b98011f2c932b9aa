import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteUndo
import SQLiteSweeps

/// What JSON lists of the application refer to goes in steps: they are looked through in the plan.
@Suite("Lists in JSON columns")
struct JSONListTests {
  private static let model = """
    {
      collections: {
        albums: { table: 'album', key: 'id' }, photos: { table: 'photo', key: 'id' },
        posts: { table: 'post', key: 'id' },
      },
      relationships: [
        { name: 'album', from: 'photos', to: 'albums', column: 'album',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'photos', from: 'posts', to: 'photos', property: 'doc.photos', toMany: true,
          rules: ['nullifySourceIfDestinationDeleted', 'notifyIfDestinationDeleted'] },
      ],
    }
    """

  /// Post n shows the photos n and n + 100, of which the first hundred are in album 1.
  private func store(posts: String) throws -> TestStore {
    let schema = """
      CREATE TABLE album(id INTEGER PRIMARY KEY);
      CREATE TABLE photo(id TEXT PRIMARY KEY, album INTEGER);
      CREATE INDEX photo_album ON photo(album);
      CREATE TABLE post\(posts);
      INSERT INTO album VALUES(1), (2);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO photo SELECT 'p' || i, 1 + (i > 100) FROM n;
      INSERT INTO post(id, doc) SELECT id, json_object('photos', json_array(id, 'p'
        || (100 + substr(id, 2)))) FROM photo WHERE album = 1;
      """
    let store = try TestStore(model: StoreModel(JSONListTests.model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: 7)
    return store
  }

  private func shown(_ store: TestStore) throws -> [String] {
    try store.texts(
      """
      SELECT value FROM post, json_each(doc, '$.photos')
      WHERE value NOT IN (SELECT id FROM photo) OR substr(value, 2) > 100 ORDER BY value
      """)
  }

  @Test(
    "They lose what goes, are told, and come back bit for bit",
    arguments: [
      "(id TEXT PRIMARY KEY, doc)", "(id TEXT PRIMARY KEY, doc) WITHOUT ROWID",
      "(doc CHECK(json_valid(doc)), id TEXT UNIQUE)",
    ])
  func lose(posts: String) throws {
    let store = try store(posts: posts)
    let before = try store.dump()
    try store.bySQL("DELETE FROM album WHERE id = 1")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.deletedCount == 100)
    #expect(try shown(store).count == 100)
    #expect(try store.texts("SELECT count(*) FROM post WHERE doc GLOB '*\"p1\"*'") == ["0"])
    let receivers = try store.texts("SELECT DISTINCT receiver_key FROM cascade_notice")
    #expect(receivers.count == 100)
    #expect(try store.lastNotice() == 100)
    try store.bySQL("INSERT INTO album VALUES(1)")
    let batch = try #require(result.batch)
    #expect(try store.writer.undo(batch, by: "me", at: 2).leftCount == 0)
    #expect(try store.dump() == before)
  }

  @Test(
    "What very many lists have is taken out of them in steps", arguments: [true, false],
    ["(id TEXT PRIMARY KEY, doc)", "(id TEXT PRIMARY KEY, doc TEXT CHECK (json_valid(doc)))"])
  func popular(isThere: Bool, posts: String) throws {
    let store = try store(posts: posts)
    try store.bySQL(
      """
      INSERT INTO album VALUES(3);
      INSERT INTO photo VALUES('x', 3);
      UPDATE post SET doc = json_insert(doc, '$.photos[#]', 'x', '$.photos[#]', 'x')
      """)
    let before = try store.dump()
    try store.bySQL(isThere ? "DELETE FROM album WHERE id = 3" : "DELETE FROM photo WHERE id = 'x'")
    let holding = "SELECT count(*) FROM post WHERE doc GLOB '*\"x\"*'"
    var left = Int(try store.texts(holding)[0])!
    #expect(left == 100)
    let manners = StepPolicy { _ in
      let now = Int(try store.texts(holding)[0])!
      #expect(left - now <= 7)
      left = now
    }
    let result = try store.writer.sweep([.cascade], at: 1, manners: manners)
    #expect(left == 0)
    #expect(try store.lastNotice() == 100)
    try store.bySQL(
      isThere ? "INSERT INTO album VALUES(3)" : "INSERT INTO photo VALUES('x', 3)")
    let batch = try #require(result.batch)
    #expect(try store.writer.undo(batch, by: "me", at: 2).leftCount == 0)
    #expect(try store.dump() == before)
  }

  @Test("Who loses several from one list is told of each")
  func several() throws {
    let store = try store(posts: "(id TEXT PRIMARY KEY, doc)")
    try store.bySQL(
      """
      INSERT INTO photo VALUES('x', 1);
      UPDATE post SET doc = json_insert(doc, '$.photos[#]', 'x');
      DELETE FROM album WHERE id = 1
      """)
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try store.lastNotice() == 200)
    #expect(try shown(store).count == 100)
  }

  @Test("What is written into one between two steps is lost too", arguments: 1...6)
  func meanwhile(pause: Int) throws {
    let store = try store(posts: "(id TEXT PRIMARY KEY, doc)")
    try store.bySQL("DELETE FROM album WHERE id = 1")
    var pauses = 0
    let manners = StepPolicy { _ in
      pauses += 1
      if pauses != pause { return }
      try store.bySQL(
        """
        INSERT INTO post VALUES('new', '{"photos": ["p200", "p99", "p100"]}');
        UPDATE post SET doc = '{"photos": ["p98", "p150"]}' WHERE id = 'p3'
        """)
    }
    _ = try store.writer.sweep([.all], at: 1, manners: manners)
    #expect(pauses > pause)
    let missing = "SELECT value FROM post, json_each(doc, '$.photos') EXCEPT SELECT id FROM photo"
    #expect(try store.texts(missing).isEmpty)
    #expect(try store.texts("SELECT doc FROM post WHERE id = 'new'") == [#"{"photos":["p200"]}"#])
    #expect(try store.texts("SELECT doc FROM post WHERE id = 'p3'") == [#"{"photos":["p150"]}"#])
  }
}
