import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// Leases of an application's rows, in one transaction and in steps.
@Suite("Leases of rows")
struct RowLeaseTests {
  private static let schema = tables()
  private static let schemaWithForeignKey = tables("REFERENCES album ON DELETE CASCADE")

  private static func tables(_ constraint: String = "") -> String {
    """
    CREATE TABLE album(id TEXT PRIMARY KEY COLLATE NOCASE);
    CREATE TABLE song(id INTEGER PRIMARY KEY, album TEXT \(constraint), data TEXT);
    CREATE INDEX song_album ON song(album);
    CREATE TABLE tag(song INTEGER, tag TEXT, PRIMARY KEY(song, tag)) WITHOUT ROWID;
    """
  }

  private static let model = """
    { collections: {
        albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" },
        tags: { table: "tag", key: ["song", "tag"] } },
      relationships: [
        { name: "album", from: "songs", to: "albums", column: "album",
          rules: ["deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"] },
        { name: "song", from: "tags", to: "songs", column: "song",
          rules: ["deleteSourceIfDestinationDeleted"] },
      ] }
    """

  private func store(_ rows: String, schema: String = schema) throws -> TestStore {
    let store = try TestStore(model: StoreModel(RowLeaseTests.model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL(rows)
    return store
  }

  private func count(_ table: String, _ store: TestStore) throws -> Int64? {
    try Connection(path: store.path, access: .readOnly)
      .integer(generated: "SELECT count(*) FROM \(table)")
  }

  private let rows = """
    INSERT INTO album VALUES('One'), ('Two');
    INSERT INTO song VALUES(1, 'one', NULL), (2, 'One', NULL), (3, 'Two', NULL);
    INSERT INTO tag VALUES(1, 'x'), (1, 'y'), (2, 'x');
    """

  @Test("A row whose key is a text is held by a number, too", arguments: ["5", "'5'"])
  func textIsHeld(key: String) throws {
    let store = try store("INSERT INTO album VALUES('5'); INSERT INTO song VALUES(1, '5', NULL)")
    try store.lease(key, in: "albums", until: 1_000)
    try store.bySQL("DELETE FROM song")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1).deletedCount == 0)
    guard case .alive(_, _, let leases) = try store.reader.why(node("albums/5"), at: 1) else {
      Issue.record("it is there")
      return
    }
    #expect(leases.count == 1)
    #expect(try store.writer.sweep([.refcount], at: 1_000_000).deletedCount == 1)
  }

  @Test("A row is held by its key, however the lease writes it", arguments: ["1", "'1'", "1.0"])
  func rowIsHeld(key: String) throws {
    let store = try store(rows)
    try store.lease(key, in: "songs", until: 1_000)
    try store.bySQL("DELETE FROM album WHERE id = 'ONE'")
    let result = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(Set(result.deleted.map(\.letters)) == ["songs/2", "tags/"])
    #expect(try (count("song", store), count("tag", store)) == (2, 2))
    let later = try store.writer.sweep([.cascade, .refcount], at: 1_000_000)
    #expect(later.deletedCount == 3)
    let chain = try #require(try store.deletion(of: "songs/1")).chain
    #expect(chain.map(\.node.letters) == ["songs/1", "albums/One"])
  }

  @Test(
    "A key of several columns is a JSON list, and anything else is no key",
    arguments: ["'x'", "'x''ab'''"])
  func composite(tag: String) throws {
    let store = try store(rows + "UPDATE tag SET tag = \(tag) WHERE song = 1 AND tag = 'x';")
    try store.lease("json_array(1, \(tag))", in: "tags", until: 1_000)
    for key in ["'{'", "7", "x'00'", "'[1]'"] { try store.lease(key, in: "tags", until: 1_000) }
    try store.bySQL("DELETE FROM song WHERE id = 1")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1).deletedCount == 1)
    #expect(try count("tag", store) == 2)
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1_000_000).deletedCount == 1)
    #expect(try count("tag", store) == 1)
  }

  @Test(
    "What lost its edge while it was leased goes when the lease ends", arguments: [false, true])
  func edgeRemoved(isBack: Bool) throws {
    let model = """
      { collections: { songs: { table: 'song', key: 'id' }, tags: { table: 'tag', key: 'id' } },
        relationships: [ { name: 'tag', from: 'songs', to: 'tags', column: 'tag',
          rules: ['deleteDestinationIfSourceDeleted'] } ] }
      """
    let schema = """
      CREATE TABLE song(id TEXT PRIMARY KEY, tag TEXT); CREATE TABLE tag(id TEXT PRIMARY KEY);
      INSERT INTO song VALUES('s', 't'); INSERT INTO tag VALUES('t')
      """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    try store.lease("'t'", in: "tags", until: 1_000)
    try store.bySQL("UPDATE song SET tag = NULL")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1).deletedCount == 0)
    if isBack { try store.bySQL("UPDATE song SET tag = 't'") }
    let later = try store.writer.sweep([.cascade, .refcount], at: 1_000_000)
    #expect(later.deletedCount == (isBack ? 0 : 1))
  }

  @Test("A leased row that refers to something else when its lease ends stays")
  func movedOn() throws {
    let store = try store(rows)
    try store.lease("NULL", in: "songs", until: 1_000)
    try store.apply([.delete(node("albums/One"))])
    try store.bySQL("UPDATE song SET album = 'Two' WHERE id = 1")
    _ = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(try count("song", store) == 3)
    let later = try store.writer.sweep([.cascade, .refcount], at: 1_000_000)
    #expect(later.deleted.map(\.letters).sorted() == ["songs/2", "tags/"])
  }

  @Test("What is leased stays where the rest goes at once")
  func atOnce() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { blogs: { table: 'blog', key: 'id' }, posts: { table: 'post', key: 'id' },
            photos: { table: 'photo', key: 'id' }, pins: { table: 'pin', key: 'id' } },
          relationships: [
            { name: 'blog', from: 'posts', to: 'blogs', column: 'blog',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'photo', from: 'posts', to: 'photos', column: 'photo',
              rules: ['deleteDestinationIfAllSourcesDeleted'] },
            { name: 'held', from: 'pins', to: 'photos', column: 'held',
              rules: ['denyDestinationDeletion'] },
            { name: 'own', from: 'pins', to: 'photos', column: 'own',
              rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE blog(id TEXT PRIMARY KEY); CREATE TABLE photo(id TEXT PRIMARY KEY);
        CREATE TABLE post(id TEXT PRIMARY KEY, blog TEXT, photo TEXT);
        CREATE TABLE pin(id TEXT PRIMARY KEY, held TEXT, own TEXT); CREATE TABLE noise(x);
        CREATE INDEX post_blog ON post(blog); CREATE INDEX post_photo ON post(photo);
        CREATE INDEX pin_held ON pin(held); CREATE INDEX pin_own ON pin(own);
        INSERT INTO blog VALUES('b'); INSERT INTO photo VALUES('1'), ('2'), ('leased');
        INSERT INTO post SELECT id, 'b', id FROM photo;
        INSERT INTO pin SELECT id, id, id FROM photo WHERE id <> 'leased';
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.lease("'leased'", in: "photos", until: 1_000)
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM blog")
    let disturbed = StepPolicy { _ in try store.bySQL("INSERT INTO noise VALUES(1)") }
    for _ in 1...3 {
      _ = try store.writer.sweep([.cascade, .refcount], at: 1, manners: disturbed)
    }
    _ = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(try store.texts("SELECT id FROM photo") == ["leased"])
  }

  @Test("Why tells of a lease, and of one of the collection")
  func why() throws {
    let store = try store(rows)
    try store.lease("'ONE'", in: "albums", until: 1_000)
    try store.lease("NULL", in: "albums", until: 2_000)
    guard
      case .alive(let holders, _, let leases) = try store.reader.why(
        Node("albums", .text("one")), at: 1)
    else { return #expect(Bool(false), "it is alive") }
    #expect((holders.count, leases.count) == (2, 2))
  }

  @Test("What a foreign key would take along stays with what it refers to")
  func foreignKey() throws {
    let store = try store(rows, schema: RowLeaseTests.schemaWithForeignKey)
    try store.lease("1", in: "songs", until: 1_000)
    let reasons = try store.reasons([.delete(node("albums/One"))])
    #expect(reasons.map(\.code) == [.denied])
    #expect(reasons.first?.message.contains("is leased") == true)
    #expect(try count("song", store) == 3)
  }

  // MARK: - In steps

  private func many(_ count: Int) -> String {
    """
    INSERT INTO album VALUES('One'), ('Two'); INSERT INTO song VALUES(0, 'Two', NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
    INSERT INTO song SELECT i, 'One', NULL FROM n;
    INSERT INTO tag SELECT id, 'x' FROM song;
    """
  }

  @Test("A lease of many rows is one of many rows")
  func manyRows() throws {
    let store = try store(many(3_000))
    try store.lease("NULL", in: "songs", until: 1_000)
    try store.bySQL("DELETE FROM album WHERE id = 'One'")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1).deletedCount == 0)
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1_000_000).deletedCount == 6_000)
    #expect(try (count("song", store), count("cascade_candidate", store)) == (1, 0))
  }

  @Test("Who is leased between two steps stays, and goes when that ends")
  func betweenSteps() throws {
    let store = try store(many(5_000))
    try store.bySQL("DELETE FROM album WHERE id = 'One'")
    var isLeased = false
    let manners = StepPolicy { _ in
      if isLeased { return }
      isLeased = true
      try store.lease("5000", in: "songs", until: 1_000)
    }
    let result = try store.writer.sweep([.cascade, .refcount], at: 1, manners: manners)
    #expect(isLeased)
    #expect(result.deletedCount == 9_998)
    #expect(try (count("song", store), count("tag", store)) == (2, 2))
    #expect(try store.writer.hasReleasedCandidate(at: 1_000_000))
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1_000_000).deletedCount == 2)
    #expect(try count("cascade_journal", store) == 0)
  }
}
