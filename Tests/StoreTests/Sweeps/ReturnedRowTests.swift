import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import Testing
import SQLiteSweeps

/// Rows that come back under the key of one that went, between the steps of a sweep: what they
/// refer to is held by them.
///
/// An author takes the posts along, and a photo goes with its last post, which names it in a column
/// or in a list. A tag goes with its author too: lists lose it, and drafts are told.
@Suite("Rows that come back between the steps of a sweep")
struct ReturnedRowTests {
  private static let model = """
    {
      collections: {
        authors: { table: 'author', key: 'id' }, posts: { table: 'post', key: 'id' },
        photos: { table: 'photo', key: 'id' }, drafts: { table: 'draft', key: 'id' },
        tags: { table: 'tag', key: 'id' },
      },
      relationships: [
        { name: 'author', from: 'posts', to: 'authors', column: 'author',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'photo', from: 'posts', to: 'photos', column: 'photo',
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'photo', from: 'posts', to: 'photos', property: 'body.photos', toMany: true,
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'author', from: 'drafts', to: 'authors', column: 'author',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'author', from: 'tags', to: 'authors', column: 'author',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'tag', from: 'drafts', to: 'tags', column: 'tag',
          rules: ['notifyIfDestinationDeleted'] },
        { name: 'tags', from: 'posts', to: 'tags', property: 'body.tags', toMany: true,
          rules: ['nullifySourceIfDestinationDeleted'] },
      ],
    }
    """

  private static func schema(key: String) -> String {
    """
    CREATE TABLE author(id INTEGER PRIMARY KEY);
    CREATE TABLE post(id \(key), author INTEGER, photo TEXT, body TEXT);
    CREATE TABLE photo(id TEXT PRIMARY KEY);
    CREATE TABLE tag(id \(key), author INTEGER);
    CREATE TABLE draft(id \(key), author INTEGER, tag INTEGER);
    INSERT INTO author VALUES(1), (2);
    INSERT INTO photo VALUES('p'), ('q'), ('r');
    INSERT INTO post VALUES(1, 1, 'p', NULL), (2, 1, 'q', NULL), (3, 1, NULL, '{"photos": ["r"]}');
    """
  }

  /// Nobody refers to a photo that is not there.
  private static let returns = [
    "INSERT INTO post SELECT 1, 2, 'p', NULL FROM photo WHERE id = 'p'",
    #"INSERT INTO post SELECT 2, 2, NULL, '{"photos": ["p"]}' FROM photo WHERE id = 'p'"#,
    #"INSERT INTO post SELECT 3, 2, NULL, '{"photos": ["r"]}' FROM photo WHERE id = 'r'"#,
  ]

  /// How the posts go: the sweep takes them, or the application did.
  enum Cause: String {
    case swept = "DELETE FROM author WHERE id = 1"
    case gone = "DELETE FROM post WHERE author = 1"
  }

  /// Each with one kind of key; in long runs, with both.
  private static let causes: [(String, Cause)] =
    [("INTEGER PRIMARY KEY", .swept), ("TEXT PRIMARY KEY", .gone)]
    + (Histories.isLong ? [("INTEGER PRIMARY KEY", .gone), ("TEXT PRIMARY KEY", .swept)] : [])

  @Test("What refers to it keeps it", arguments: causes)
  func holds(key: String, cause: Cause) throws {
    for sql in ReturnedRowTests.returns {
      for stops in [false, true] {
        for step in 1...8 { try check(sql, after: step, key, cause, stops: stops) }
      }
    }
  }

  @Test(
    "A list that names it anew keeps it", arguments: ["INTEGER PRIMARY KEY", "TEXT PRIMARY KEY"])
  func isListed(key: String) throws {
    for step in 1...8 {
      let store = try store(key, "INSERT INTO tag VALUES(1, 1), (2, 1), (3, 1)")
      let post = #"INSERT INTO post VALUES(9, 2, NULL, '{"tags": [1, 2, 3]}')"#
      try store.bySQL("DELETE FROM author WHERE id = 1")
      try sweep(store, after: step, "INSERT INTO tag VALUES(1, 2)", post)
      let kept = try store.texts("SELECT body ->> '$.tags[0]' FROM post WHERE id = 9")
      #expect(kept == (try store.texts("SELECT id FROM tag WHERE author = 2")))
    }
  }

  @Test(
    "It is told of what it loses", arguments: ["INTEGER PRIMARY KEY", "TEXT PRIMARY KEY"])
  func isTold(key: String) throws {
    var told = 0
    for step in 1...8 {
      let store = try store(
        key, "INSERT INTO tag VALUES(1, 1), (2, 1); INSERT INTO draft VALUES(1, 1, 2), (2, 1, 1)")
      try store.bySQL("DELETE FROM author WHERE id = 1")
      try sweep(store, after: step, "INSERT INTO draft SELECT 1, 2, id FROM tag WHERE id = 2")
      let returned = try store.texts("SELECT 'drafts/' || id FROM draft")
      let receivers = try store.reader.notices(after: 0).map(\.node.description)
      #expect(returned == receivers, "after \(step), \(key)")
      told += receivers.count
    }
    #expect(told > 0)
  }

  private func store(_ key: String, _ rows: String = "") throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(ReturnedRowTests.model), schema: ReturnedRowTests.schema(key: key) + rows)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: 1)
    return store
  }

  /// Where it `stops`, the sweep that goes on afterwards is the one that is disturbed.
  private func check(
    _ sql: String, after step: Int, _ key: String, _ cause: Cause, stops: Bool
  ) throws {
    let store = try store(key)
    try store.bySQL(cause.rawValue)
    if stops { #expect(throws: CancellationError.self) { try stopEarly(store) } }
    try sweep(store, after: step, sql)
    let missing = try store.texts(
      """
      SELECT photo FROM post WHERE photo NOT IN (SELECT id FROM photo)
      UNION ALL SELECT y.value FROM post, json_each(post.body, '$.photos') AS y
      WHERE y.value NOT IN (SELECT id FROM photo)
      """)
    #expect(missing == [], "\(sql) after \(step), \(key), \(cause), stopped: \(stops)")
  }

  /// Others do this as soon as they can, from that step on.
  private func sweep(_ store: TestStore, after step: Int, _ sql: String...) throws {
    var (count, done) = (0, 0)
    let manners = StepPolicy { _ in
      count += 1
      // Its key may be taken still.
      while count >= step && done < sql.count, (try? store.bySQL(sql[done])) != nil { done += 1 }
    }
    _ = try store.writer.sweep([.all], at: 1, manners: manners)
  }

  private func stopEarly(_ store: TestStore) throws {
    var count = 0
    let manners = StepPolicy { _ in
      count += 1
      if count == 2 { throw CancellationError() }
    }
    _ = try store.writer.sweep([.all], at: 1, manners: manners)
  }
}
