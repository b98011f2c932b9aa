import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// Posts of a blog show photos, in lists; a photo that is in a list which somebody writes between
/// two steps stays.
@Suite("Lists in JSON columns hold what they name")
struct ListTrackingTests {
  private static let posts = [
    "(id TEXT PRIMARY KEY, blog INTEGER, doc)",
    "(id TEXT PRIMARY KEY, blog INTEGER, doc) WITHOUT ROWID",
    "(doc, id TEXT UNIQUE, blog INTEGER, number INTEGER PRIMARY KEY)",
    "(id TEXT PRIMARY KEY, blog INTEGER, data TEXT, doc TEXT AS (data))",
  ]

  private static let counted = """
    relationships: [
      { name: 'blog', from: 'posts', to: 'blogs', column: 'blog',
        rules: ['deleteSourceIfDestinationDeleted'] },
      { name: 'photos', from: 'posts', to: 'photos', property: 'doc.photos', toMany: true,
        rules: ['deleteDestinationIfAllSourcesDeleted'] },
    ]
    """

  private static let denied = """
    relationships: [
      { name: 'blog', from: 'photos', to: 'blogs', column: 'blog',
        rules: ['deleteSourceIfDestinationDeleted'] },
      { name: 'photos', from: 'posts', to: 'photos', property: 'doc.photos', toMany: true,
        rules: ['denyDestinationDeletion'] },
    ]
    """

  private static let reached = """
    roots: ['blogs', 'pages'],
    relationships: [
      { name: 'posts', from: 'blogs', to: 'posts', column: 'post' },
      { name: 'photos', from: 'posts', to: 'photos', property: 'doc.photos', toMany: true },
    ]
    """

  private static func model(_ relationships: String) -> String {
    """
    {
      collections: {
        blogs: { table: 'blog', key: 'id' }, photos: { table: 'photo', key: 'id' },
        posts: { table: 'post', key: 'id' }, pages: { table: 'page', key: 'id' },
      },
      \(relationships)
    }
    """
  }

  /// A hundred posts of blog 1, with a photo each; two others, with none.
  private func store(_ relationships: String, posts: String) throws -> TestStore {
    let doc = posts.contains("data") ? "data" : "doc"
    let isReached = relationships == ListTrackingTests.reached
    let schema = """
      CREATE TABLE blog(id INTEGER PRIMARY KEY, post TEXT);
      CREATE TABLE page(id INTEGER PRIMARY KEY);
      CREATE TABLE photo(id TEXT PRIMARY KEY, blog INTEGER);
      CREATE TABLE post\(posts);
      CREATE INDEX photo_blog ON photo(blog);
      CREATE INDEX post_blog ON post(blog);
      CREATE INDEX blog_post ON blog(post);
      INSERT INTO blog VALUES(1, 'p1'), (2, 's0');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO photo SELECT 'p' || i, 1 FROM n;
      INSERT INTO post(id, blog, \(doc))
      SELECT id, 1, json_object('photos', json_array(id)) FROM photo;
      INSERT INTO post(id, blog, \(doc)) VALUES('s0', 2, '{"photos": []}'), ('s1', NULL, '[]');
      """
    let store = try TestStore(
      model: StoreModel(ListTrackingTests.model(relationships)), schema: schema)
    _ = try store.writer.sweep(isReached ? [.trash] : [.all], at: 0)
    store.sweepsInSteps(of: 7)
    return store
  }

  private static let photos = "json_object('photos', (SELECT json_group_array(id) FROM photo))"

  /// Each holds all photos that there are at that moment.
  private static let writes = [
    "INSERT INTO post(id, blog, DOC) VALUES('new', 2, \(photos))",
    "UPDATE post SET DOC = \(photos) WHERE id = 's0'",
    "UPDATE post SET DOC = \(photos), id = 's77' WHERE id = 's0'; UPDATE blog SET post = 's77'",
    "REPLACE INTO post(id, blog, DOC) VALUES('s0', 2, \(photos))",
    """
    INSERT INTO post(id, blog, DOC) VALUES('s0', 2, '{}')
    ON CONFLICT(id) DO UPDATE SET DOC = \(photos)
    """,
    "UPDATE post SET DOC = \(photos) WHERE id = 's0'; VACUUM",
  ]

  /// Pauses, and which kind of table.
  private static let ways = [
    (pause: 1, posts: 0), (2, 0), (3, 1), (4, 2), (5, 3), (9, 0), (14, 0),
  ]

  @Test("What nobody held when the plan was made", arguments: writes, ways)
  func counted(write: String, way: (pause: Int, posts: Int)) throws {
    try expectHeld(ListTrackingTests.counted, write, way, [.all])
  }

  @Test("What nobody denied", arguments: writes, ways)
  func denied(write: String, way: (pause: Int, posts: Int)) throws {
    try expectHeld(ListTrackingTests.denied, write, way, [.all])
  }

  @Test("What was not reached", arguments: writes.dropFirst(), ways)
  func reached(write: String, way: (pause: Int, posts: Int)) throws {
    try expectHeld(ListTrackingTests.reached, write, way, [.unreachable])
  }

  private func expectHeld(
    _ relationships: String, _ write: String, _ way: (pause: Int, posts: Int), _ kinds: [SweepKind]
  ) throws {
    let posts = ListTrackingTests.posts[way.posts]
    let store = try store(relationships, posts: posts)
    if relationships == ListTrackingTests.denied {
      try store.bySQL("DELETE FROM post WHERE blog = 1")
    }
    try store.bySQL("DELETE FROM blog WHERE id = 1")
    var pauses = 0
    var held: [String] = []
    let manners = StepPolicy { _ in
      pauses += 1
      if pauses != way.pause { return }
      try store.bySQL(write.replacing("DOC", with: posts.contains("data") ? "data" : "doc"))
      held = try store.texts("SELECT id FROM photo ORDER BY id")
      if posts.contains("number") { try store.bySQL("UPDATE post SET number = number + 1000") }
    }
    _ = try store.writer.sweep(kinds, at: 1, manners: manners)
    #expect(pauses > way.pause)
    #expect(!held.isEmpty)
    #expect(try store.texts("SELECT id FROM photo ORDER BY id") == held)
    #expect(try store.texts("SELECT count(*) FROM cascade_list_write") == ["0"])
  }

  private static let triggers =
    "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'cascade_*list_*'"
  private static let written = "SELECT count(*) FROM cascade_list_write"

  @Test("Who writes is noted from the second plan on, and by nobody afterwards")
  func noting() throws {
    let store = try store(ListTrackingTests.counted, posts: ListTrackingTests.posts[0])
    try store.bySQL("DELETE FROM blog WHERE id = 1")
    var noted: [String] = []
    var triggers: [String] = []
    let manners = StepPolicy { _ in
      try store.bySQL("REPLACE INTO post(id, doc) VALUES('s1', '[]')")
      noted += try store.texts(ListTrackingTests.written)
      triggers += try store.texts(ListTrackingTests.triggers)
    }
    _ = try store.writer.sweep([.all], at: 1, manners: manners)
    #expect(noted.filter { $0 == "2" }.count > 20, "\(noted)")
    #expect(Set(triggers).count == 2)
    #expect(try store.texts(ListTrackingTests.triggers).isEmpty)
    #expect(try store.texts(ListTrackingTests.written) == ["0"])
  }

  @Test("A daemon that comes back notes nothing that a killed one wanted to know")
  func killed() throws {
    let store = try store(ListTrackingTests.counted, posts: ListTrackingTests.posts[0])
    let copy = store.path + ".killed"
    try store.bySQL("DELETE FROM blog WHERE id = 1")
    var pauses = 0
    let manners = StepPolicy { _ in
      pauses += 1
      try store.bySQL("REPLACE INTO post(id, doc) VALUES('s1', '[]')")
      if pauses == 9 { try store.bySQL("VACUUM INTO '\(copy)'") }
    }
    _ = try store.writer.sweep([.all], at: 1, manners: manners)
    func texts(_ sql: String) throws -> [String] {
      try Connection(path: copy, access: .readOnly).all(generated: sql) { $0.text(0) }
    }
    #expect(try texts(ListTrackingTests.triggers).count == 2)
    #expect(try texts(ListTrackingTests.written) != ["0"])
    let model = try StoreModel(ListTrackingTests.model(ListTrackingTests.counted))
    _ = try Writer(path: copy, model: model)
    #expect(try texts(ListTrackingTests.triggers).isEmpty)
    #expect(try texts(ListTrackingTests.written) == ["0"])
  }
}

extension String {
  fileprivate func replacing(_ text: String, with other: String) -> String {
    split(separator: text, omittingEmptySubsequences: false).joined(separator: other)
  }
}
