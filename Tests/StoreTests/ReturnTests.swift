import Model
import SQLite
import Store
import Testing

/// Rows that come back under the key of one that went, between the steps of a sweep: what they refer
/// to is held by them.
///
/// An author takes the posts along, and a photo goes with its last post, which names it in a column or
/// in a list.
@Suite("Rows that come back between the steps of a sweep")
struct ReturnTests {
  private static let model = """
    {
      collections: {
        authors: { table: 'author', key: 'id' }, posts: { table: 'post', key: 'id' },
        photos: { table: 'photo', key: 'id' },
      },
      relationships: [
        { name: 'author', from: 'posts', to: 'authors', column: 'author',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'photo', from: 'posts', to: 'photos', column: 'photo',
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'photo', from: 'posts', to: 'photos', property: 'body.photos', toMany: true,
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
      ],
    }
    """

  private static func schema(key: String) -> String {
    """
    CREATE TABLE author(id INTEGER PRIMARY KEY);
    CREATE TABLE post(id \(key), author INTEGER, photo TEXT, body TEXT);
    CREATE TABLE photo(id TEXT PRIMARY KEY);
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
  enum Cause: String, CaseIterable {
    case swept = "DELETE FROM author WHERE id = 1"
    case gone = "DELETE FROM post WHERE author = 1"
  }

  @Test(
    "What refers to it keeps it", arguments: ["INTEGER PRIMARY KEY", "TEXT PRIMARY KEY"],
    Cause.allCases)
  func holds(key: String, cause: Cause) throws {
    for sql in ReturnTests.returns {
      for stops in [false, true] {
        for step in 1...8 { try check(sql, after: step, key, cause, stops: stops) }
      }
    }
  }

  /// Where it `stops`, the sweep that goes on afterwards is the one that is disturbed.
  private func check(
    _ sql: String, after step: Int, _ key: String, _ cause: Cause, stops: Bool
  ) throws {
    let store = try TestStore(
      model: StoreModel(ReturnTests.model), schema: ReturnTests.schema(key: key))
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: 1)
    try store.bySQL(cause.rawValue)
    if stops { #expect(throws: CancellationError.self) { try stopEarly(store) } }
    var count = 0
    let manners = Manners { _ in
      count += 1
      // Its key may be taken still.
      if count >= step && count < 100, (try? store.bySQL(sql)) != nil { count = 100 }
    }
    _ = try store.writer.sweep([.all], at: 1, manners: manners)
    let missing = try Connection(path: store.path, access: .readOnly).all(
      """
      SELECT photo FROM post WHERE photo NOT IN (SELECT id FROM photo)
      UNION ALL SELECT y.value FROM post, json_each(post.body, '$.photos') AS y
      WHERE y.value NOT IN (SELECT id FROM photo)
      """
    ) { $0.text(0) }
    #expect(missing == [], "\(sql) after \(step), \(key), \(cause), stopped: \(stops)")
  }

  private func stopEarly(_ store: TestStore) throws {
    var count = 0
    let manners = Manners { _ in
      count += 1
      if count == 2 { throw CancellationError() }
    }
    _ = try store.writer.sweep([.all], at: 1, manners: manners)
  }
}
