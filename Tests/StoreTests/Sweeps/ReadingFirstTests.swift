import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import CascadeSystem
import SQLiteDeletion
import SQLiteStore
import SQLiteSweeps
import SQLiteTables
import Testing

/// What others do while a small sweep that runs by itself reads.
@Suite("A small sweep reads before it takes the write lock")
struct ReadingFirstTests {
  private static let patient = "limits: { lock: '1m', patience: '1m' }"

  private static func model(_ more: String) throws -> StoreModel {
    try StoreModel(
      """
      {
        \(more), trash: '1d',
        collections: {
          artists: { table: 'artist', key: 'id' }, albums: { table: 'album', key: 'id' } },
        relationships: [ { name: 'artist', from: 'albums', to: 'artists', column: 'artist',
          rules: ['deleteSourceIfDestinationDeleted'] } ],
      }
      """)
  }

  /// The first artist is gone, to whom the albums 1 to 3 refer.
  private func store(_ more: String = patient) throws -> TestStore {
    let store = try TestStore(
      model: Self.model(more),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY);
        CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER);
        CREATE INDEX album_artist ON album(artist);
        CREATE TABLE other(x);
        INSERT INTO artist VALUES(1), (2);
        INSERT INTO album VALUES(1, 1), (2, 1), (3, 1), (4, 2);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    return store
  }

  /// Another connection, which does not wait for locks.
  private final class Other {
    let db: Connection
    /// How many of its statements took effect, and how many met a lock.
    private(set) var (done, refused) = (0, 0)

    init(_ store: TestStore) throws { db = try Connection(path: store.path, access: .readWrite) }

    func write(_ sql: String) {
      do {
        try db.execute(sql)
        done += 1
      } catch {
        refused += 1
      }
    }
  }

  /// Calls `body` when an attempt at a sweep has found the first node that has to go.
  private func whileReading(_ store: TestStore, _ body: @escaping () -> Void) throws {
    try store.writer.db.define("meddle") { _ in
      body()
      return .null
    }
    try store.writer.db.execute(
      """
      CREATE TEMP TRIGGER meddling AFTER INSERT ON gone WHEN NEW.rule = 0
      BEGIN SELECT meddle(NEW.id); END
      """)
  }

  private func sweep(_ store: TestStore, bySelf: Bool = true) throws -> SweepResult {
    var policy = StepPolicy { SystemClock.sleep(for: $0) }
    policy.waitsForTransactions = bySelf
    return try store.writer.sweep([.cascade, .refcount], at: 1, manners: policy)
  }

  @Test("Another connection commits meanwhile, and the sweep follows what it wrote")
  func isRepeated() throws {
    let store = try store()
    let other = try Other(store)
    var attempts = 0
    try whileReading(store) {
      attempts += 1
      if attempts == 1 { other.write("UPDATE album SET artist = 2 WHERE id = 2") }
    }
    let result = try sweep(store)
    #expect(other.done == 1 && other.refused == 0 && attempts == 2)
    #expect(result.deletedCount == 2 && result.lockMilliseconds.count == 1)
    #expect(try store.texts("SELECT id FROM album") == ["2", "4"])
    try expectOrder(in: store, batches: 1)
  }

  @Test("What another connection deletes meanwhile is followed in the same sweep")
  func followsMore() throws {
    let store = try store()
    let other = try Other(store)
    try whileReading(store) { if other.done == 0 { other.write("DELETE FROM artist") } }
    #expect(try sweep(store).deletedCount == 4)
    try expectOrder(in: store, batches: 1)
  }

  @Test("A writer that commits again and again delays the sweep until its patience is over")
  func endsInTime() throws {
    let store = try store("limits: { lock: '1m', patience: '200ms' }")
    let other = try Other(store)
    try whileReading(store) { other.write("INSERT INTO other VALUES(1)") }
    let start = ContinuousClock.now
    #expect(try sweep(store).deletedCount == 3)
    #expect(.now - start < .seconds(20))
    #expect(other.done > 2 && other.refused == 1)
    try expectOrder(in: store, batches: 1)
  }

  @Test(
    "Otherwise a sweep takes the lock first",
    arguments: [
      ("limits: { lock: '1m', patience: '0' }", true), (patient, false),
      ("limits: { lock: '1m' }, exclusive: true", true),
    ])
  func locksFirst(more: String, bySelf: Bool) throws {
    let store = try store(more)
    let other = try Other(store)
    try whileReading(store) { other.write("INSERT INTO other VALUES(1)") }
    #expect(try sweep(store, bySelf: bySelf).deletedCount == 3)
    #expect(other.done == 0 && other.refused == 1)
    try expectOrder(in: store, batches: 1)
  }

  @Test("Of an attempt that was given up nothing is left")
  func leavesNothing() throws {
    let hold = "hold: { deletes: 1, share: 0.1 }"
    let store = try store("limits: { lock: '1m', patience: '1m', \(hold) }")
    let other = try Other(store)
    try whileReading(store) { if other.done < 3 { other.write("INSERT INTO other VALUES(1)") } }
    let held = try sweep(store)
    #expect(held.outcome == .held && held.heldCount == 3)
    #expect(try store.texts("SELECT count(*) FROM cascade_plan") == ["1"])
    _ = try store.writer.approve(plan: #require(held.plan))
    #expect(try sweep(store).deletedCount == 3)
    try expectOrder(in: store, batches: 1)
  }

  @Test("A daemon that ends between two attempts has changed nothing, and the next one goes on")
  func endsBetweenAttempts() throws {
    let store = try store()
    let other = try Other(store)
    try whileReading(store) { other.write("INSERT INTO other VALUES(1)") }
    var policy = StepPolicy { _ in throw CancellationError() }
    policy.waitsForTransactions = true
    #expect(throws: CancellationError.self) {
      try store.writer.sweep([.cascade, .refcount], at: 1, manners: policy)
    }
    #expect(try store.texts("SELECT count(*) FROM cascade_journal") == ["1"])
    #expect(try store.texts("SELECT count(*) FROM album") == ["4"])
    try store.reopen()
    #expect(try sweep(store).deletedCount == 3)
    try expectOrder(in: store, batches: 1)
  }

  /// The journal is read, and what the sweep did comes back.
  private func expectOrder(in store: TestStore, batches: Int) throws {
    #expect(try store.texts("SELECT count(*) FROM cascade_journal") == ["0"])
    #expect(try store.texts("SELECT count(*) FROM cascade_muted") == ["0"])
    let done = "SELECT seq FROM cascade_ledger WHERE deleted > 0"
    #expect(try store.texts(done).count == batches)
    #expect(try store.reader.checkReferences().total == 0)
  }
}
