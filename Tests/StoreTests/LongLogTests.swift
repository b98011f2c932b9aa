import Glibc
import Model
import SQLite
import Store
import Testing

/// What a large sweep leaves in the write-ahead log comes into the database a part after the other
/// (DESIGN 8.3), where a checkpoint holds the write lock.
@Suite("The log of a large sweep", .enabled(if: Connection.libraryVersion < 3_051_003))
struct LongLogTests {
  private static let part = 300

  /// Each step changes more than a hundred pages.
  private static func store() throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { roots: { table: "root", key: "id" }, leaves: { table: "leaf", key: "id" } },
          relationships: [{ name: "root", from: "leaves", to: "roots", column: "root",
            rules: ["deleteSourceIfDestinationDeleted"] }], trash: "0" }
        """),
      schema: """
        CREATE TABLE root(id TEXT PRIMARY KEY);
        CREATE TABLE leaf(id TEXT PRIMARY KEY, root TEXT);
        CREATE INDEX leaf_root ON leaf(root);
        INSERT INTO root VALUES('gone'), ('there');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO leaf SELECT hex(randomblob(18)), iif(i % 10, 'gone', 'there') FROM n;
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.writer.finish()
    try store.bySQL("DELETE FROM root WHERE id = 'gone'")
    // Nobody has written since then.
    try store.reopen()
    store.sweepsInSteps(of: 150)
    store.writer.pace.framesToAPart = part
    return store
  }

  private struct Log {
    let frames: Int
    /// Of them, in the database.
    let brought: Int
  }

  /// What an application's own checkpoint finds, and brings.
  private static func checkpoint(_ db: borrowing Connection) throws -> Log {
    try db.first("PRAGMA wal_checkpoint(PASSIVE)") {
      Log(frames: Int($0.integer(1)), brought: Int($0.integer(2)))
    }!
  }

  @Test("is longer than a part, and the application's checkpoint never brings much more than one")
  func boundsOthers() throws {
    let store = try LongLogTests.store()
    let application = try Connection(path: store.path, access: .readWrite)
    try application.execute("PRAGMA wal_autocheckpoint = 0")
    var found: Log?
    let manners = Manners { _ in
      if found == nil && store.logPages > 2 * LongLogTests.part {
        found = try LongLogTests.checkpoint(application)
      }
    }
    #expect(try store.writer.sweep([.all], at: 1, manners: manners).deletedCount == 18_000)
    let log = try #require(found)
    // A part is as long as it is at the end of a step.
    #expect(log.brought < 2 * LongLogTests.part && log.frames > 2 * LongLogTests.part)
  }

  @Test("is never brought whole by the application, which would have to sync the database")
  func leavesSyncs() throws {
    let store = try LongLogTests.store()
    let application = try Connection(path: store.path, access: .readWrite)
    try application.execute("PRAGMA wal_autocheckpoint = 0")
    var (begins, last) = (0, 0)
    let manners = Manners { _ in
      let log = try LongLogTests.checkpoint(application)
      let isWhole = log.brought == log.frames
      if log.frames < last { begins += 1 }
      // What a step left there, from the first one on; a small commit the sweep brings itself.
      #expect(!isWhole || log.frames <= last + 1)
      last = log.frames
    }
    #expect(try store.writer.sweep([.all], at: 1, manners: manners).deletedCount == 18_000)
    #expect(begins > 2)
  }

  @Test("is in the database when the sweep ends, and read as it is at every moment")
  func comesToAnEnd() throws {
    let store = try LongLogTests.store()
    let application = try Connection(path: store.path, access: .readOnly)
    var left: Int64 = 20_000
    let manners = Manners { _ in
      let now = try application.integer("SELECT count(*) FROM leaf") ?? 0
      #expect(now <= left)
      left = now
    }
    #expect(try store.writer.sweep([.all], at: 1, manners: manners).outcome == .done)
    #expect(left == 2_000)
    let log = try LongLogTests.checkpoint(Connection(path: store.path, access: .readWrite))
    #expect(log.frames <= 1_000 && log.brought == log.frames)
    #expect(try application.first("PRAGMA integrity_check") { $0.text(0) } == "ok")
  }

  @Test("stays where somebody reads it, and the sweep goes on")
  func isRead() throws {
    let store = try LongLogTests.store()
    let application = try Connection(path: store.path, access: .readOnly)
    try application.execute("BEGIN")
    #expect(try application.integer("SELECT count(*) FROM leaf") == 20_000)
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 18_000)
    #expect(try application.integer("SELECT count(*) FROM leaf") == 20_000)
    try application.execute("COMMIT")
    #expect(try application.integer("SELECT count(*) FROM leaf") == 2_000)
  }

  @Test("is let go of where the sweep is stopped")
  func isStopped() throws {
    let store = try LongLogTests.store()
    #expect(throws: Stopped.self) {
      try store.writer.sweep([.all], at: 1, manners: .stopping(after: 40))
    }
    try store.writer.finish()
    let log = try LongLogTests.checkpoint(Connection(path: store.path, access: .readWrite))
    #expect(log.frames == 0)
  }
}

extension TestStore {
  /// As its file has room for.
  fileprivate var logPages: Int {
    var status = stat()
    return unsafe stat("\(path)-wal", &status) == 0 ? Int(status.st_size) / 4120 : 0
  }
}
