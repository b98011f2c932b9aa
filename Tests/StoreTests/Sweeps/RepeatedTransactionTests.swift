import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import Testing
import SQLiteSweeps

/// What comes with the nodes that go, or without any: there may be as much of it, and nobody waits
/// for all of it at once.
@Suite("Much of one kind, a little at a time")
struct RepeatedTransactionTests {
  private static let many: Int64 = 200
  private static let few: Int64 = 20

  private static let schema = """
    CREATE TABLE photo(id TEXT PRIMARY KEY);
    CREATE TABLE post(id TEXT PRIMARY KEY, photo TEXT, cover TEXT);
    CREATE INDEX post_photo ON post(photo);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(many))
    INSERT INTO post SELECT 'post ' || i, 'photo ' || i, i || '.jpg' FROM n;
    INSERT INTO photo SELECT photo FROM post;
    """

  private static let model = """
    {
      collections: {
        photos: { table: 'photo', key: 'id' }, posts: { table: 'post', key: 'id' }, notes: {},
      },
      files: { media: '/var/empty' },
      relationships: [
        { name: 'photo', from: 'posts', to: 'photos', column: 'photo', rules: [
          'deleteDestinationIfAllSourcesDeleted', 'notifyIfDestinationDeleted'] },
        { name: 'cover', from: 'posts', to: { files: 'media' }, column: 'cover', rules: [] },
        { name: 'about', from: 'notes', to: 'photos', property: 'about', toMany: true,
          rules: ['notifyIfSourceDeleted'] },
      ],
    }
    """

  private let store: TestStore

  init() throws {
    store = try TestStore(
      model: StoreModel(RepeatedTransactionTests.model), schema: RepeatedTransactionTests.schema)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: RepeatedTransactionTests.few)
  }

  /// Sweeps, and has a look at a table between any two transactions.
  private func sweep(
    _ kinds: [SweepKind], at time: Int64 = 1, watching table: String,
    changes: Int64 = many, by step: Int64 = few
  ) throws {
    let first = try store.count(table)
    var last = first
    let manners = StepPolicy { _ in
      let now = try store.count(table)
      #expect(abs(now - last) <= step, "\(table): \(last), then \(now)")
      last = now
    }
    _ = try store.writer.sweep(kinds, at: time, manners: manners)
    let now = try store.count(table)
    #expect(abs(now - last) <= step && abs(now - first) == changes)
  }

  private func photo(_ number: Int64) -> Destination {
    .node(Node("photos", .text("photo \(number)")))
  }

  @Test("Who let something go, and stays, is named")
  func reasons() throws {
    try store.bySQL("UPDATE post SET photo = NULL")
    try sweep([.all], watching: "cascade_trash_node")
    let why = try store.reader.why(Node("photos", .text("photo 7")))
    guard case .deleted(let deletion) = why else { return #expect(Bool(false)) }
    #expect(deletion.chain.last?.edge?.source == Node("posts", .text("post 7")))
  }

  @Test("Notices for one that very many referred to are written once", arguments: [0, 3, 7])
  func toldOnce(pauses: Int) throws {
    let model = """
      { collections: { photos: { table: 'photo', key: 'id' }, posts: { table: 'post', key: 'id' } },
        relationships: [ { name: 'photo', from: 'posts', to: 'photos', column: 'photo',
          rules: ['notifyIfSourceDeleted'] } ] }
      """
    let schema = RepeatedTransactionTests.schema + "UPDATE post SET photo = 'photo 1'"
    let store = try TestStore(model: StoreModel(model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: RepeatedTransactionTests.few)
    try store.bySQL("DELETE FROM post")
    if pauses > 0 {
      #expect(throws: Stopped.self) {
        try store.writer.sweep([.cascade], at: 1, manners: .stopping(after: pauses))
      }
      try store.reopen()
    }
    var last = try store.count("cascade_notice")
    let manners = StepPolicy { _ in
      let now = try store.count("cascade_notice")
      #expect(now - last <= RepeatedTransactionTests.few)
      last = now
    }
    _ = try store.writer.sweep([.cascade], at: 2, manners: manners)
    #expect(try store.count("cascade_notice") == RepeatedTransactionTests.many)
    #expect(try store.count("(SELECT DISTINCT source_key FROM cascade_notice)") == 200)
  }

  @Test("Files that lost an edge are remembered, and let go by the sweep of files")
  func files() throws {
    try store.bySQL("UPDATE post SET cover = NULL")
    try sweep([.cascade, .refcount], watching: "cascade_node")
    try sweep([.files], watching: "cascade_released_file")
    #expect(try store.count("cascade_node") == 0)
    let batches = "(SELECT DISTINCT batch FROM cascade_released_file)"
    #expect(try store.count(batches) == 1)
    #expect(try store.reader.batches(after: 0, limit: 10).count == 1)
  }

  @Test("What a lease spares is written down, and forgotten when it is over")
  func spared() throws {
    try store.bySQL(
      """
      INSERT INTO cascade_lease(collection, expires) VALUES('photos', 100);
      DELETE FROM post
      """)
    try sweep([.all], watching: "cascade_candidate")
    #expect(try store.count("photo") == RepeatedTransactionTests.many)
    try store.bySQL("UPDATE photo SET id = id || '!'; DELETE FROM cascade_lease")
    try sweep([.cascade, .refcount], at: 200_000, watching: "cascade_candidate")
  }

  @Test("Numbers of rows that no edge names any more are taken away")
  func unused() throws {
    let note = Node("notes", .text("n"))
    let numbers = 1...RepeatedTransactionTests.many
    try store.apply(
      [.put(note, type: nil, value: nil, edges: nil)]
        + numbers.map { .link(name: "of", from: note, to: photo($0), rules: []) })
    try store.apply(
      numbers.map { .unlink(name: "of", from: note, to: photo($0), as: .edgeDeleted) })
    try sweep([.dangling], watching: "cascade_node")
  }

  @Test("Rows that objects named before they were there get their edges")
  func tied() throws {
    let numbers = RepeatedTransactionTests.many + 1...2 * RepeatedTransactionTests.many
    try store.apply(
      numbers.map {
        let value = JSONText(valid: #"{"about": ["photo \#($0)", "all"]}"#)
        return .put(Node("notes", .text("\($0)")), type: nil, value: value, edges: nil)
      })
    try store.bySQL(
      """
      INSERT INTO photo SELECT replace(id, 'photo', 'other') FROM photo;
      UPDATE photo SET id = 'photo ' || (substr(id, 7) + \(RepeatedTransactionTests.many))
      WHERE id GLOB 'other *';
      INSERT INTO photo VALUES('all')
      """)
    #expect(try store.count("cascade_dangling_reference") == 2 * RepeatedTransactionTests.many)
    try sweep(
      [.cascade], watching: "cascade_dangling_reference", changes: 2 * RepeatedTransactionTests.many
    )
  }
}

extension TestStore {
  fileprivate func count(_ table: String) throws -> Int64 {
    try Connection(path: path, access: .readOnly)
      .integer(generated: "SELECT count(*) FROM \(table)", []) ?? 0
  }
}
