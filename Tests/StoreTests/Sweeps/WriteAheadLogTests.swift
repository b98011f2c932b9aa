import StoreDefinition
import StoreFixtures
import Glibc
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import CascadeSystem
import Testing
import CascadeEngine
import SQLiteSweeps
import SQLiteEdges

/// What a large sweep leaves in the write-ahead log comes into the database without keeping anybody
///, where SQLite's own checkpoints are not to be trusted.
@Suite("The log of a large sweep", .enabled(if: Connection.libraryVersion < 3_051_003))
struct WriteAheadLogTests {
  private static let most = 1_000

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
    try store.writer.copyLogIntoDatabase()
    try store.bySQL("DELETE FROM root WHERE id = 'gone'")
    // Nobody has written since then.
    try store.reopen()
    store.sweepsInSteps(of: 150)
    store.writer.lock.pace.mostFrames = most
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

  @Test("has nothing that an application's checkpoint could bring, and would wait for")
  func leavesNothing() throws {
    let store = try WriteAheadLogTests.store()
    let application = try Connection(path: store.path, access: .readWrite)
    try application.execute("PRAGMA wal_autocheckpoint = 0")
    let index = try FileDescriptor.open("\(store.path)-shm")
    var (begins, last) = (0, 0)
    let manners = StepPolicy { _ in
      let before = index.framesInDatabase
      let log = try WriteAheadLogTests.checkpoint(application)
      // What the sweep wrote before its first step is little.
      #expect(log.brought < Int(before) + 10)
      if log.frames < last { begins += 1 }
      last = log.frames
    }
    #expect(try store.writer.sweep([.all], at: 1, manners: manners).deletedCount == 18_000)
    #expect(begins > 2)
  }

  @Test("does not leave to an application's checkpoint what others wrote while it was planned")
  func keepsNews() throws {
    let store = try WriteAheadLogTests.store()
    let application = try Connection(path: store.path, access: .readWrite)
    try application.execute("PRAGMA wal_autocheckpoint = 0; CREATE TABLE note(id)")
    let index = try FileDescriptor.open("\(store.path)-shm")
    var (written, found): (Int, WriteAheadLogTests.Log?) = (0, nil)
    let manners = StepPolicy { _ in
      if found != nil { return }
      let before = Int(index.framesInDatabase)
      let log = try WriteAheadLogTests.checkpoint(application)
      found = log
      #expect(log.frames - before > 500)
      #expect(log.brought - before < 50)
    } shouldStop: {
      for _ in 0..<500 where written < 500 {
        try? application.execute("INSERT INTO note VALUES(1)")
        written += 1
      }
      return false
    }
    let result = try store.writer.sweep([.cascade, .refcount], at: 1, manners: manners)
    #expect(result.deletedCount == 18_000)
    #expect(written == 500 && found != nil)
  }

  @Test("is in the database when the sweep ends, and read as it is at every moment")
  func comesToAnEnd() throws {
    let store = try WriteAheadLogTests.store()
    let application = try Connection(path: store.path, access: .readOnly)
    var left: Int64 = 20_000
    let manners = StepPolicy { _ in
      let now = try application.integer("SELECT count(*) FROM leaf") ?? 0
      #expect(now <= left)
      left = now
    }
    #expect(try store.writer.sweep([.all], at: 1, manners: manners).outcome == .done)
    #expect(left == 2_000)
    let log = try WriteAheadLogTests.checkpoint(Connection(path: store.path, access: .readWrite))
    #expect(log.frames <= 1_000 && log.brought == log.frames)
    #expect(try application.first("PRAGMA integrity_check") { $0.text(0) } == "ok")
  }

  @Test("stays where somebody reads it, and the sweep goes on")
  func isRead() throws {
    let store = try WriteAheadLogTests.store()
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
    let store = try WriteAheadLogTests.store()
    #expect(throws: Stopped.self) {
      try store.writer.sweep([.all], at: 1, manners: .stopping(after: 40))
    }
    try store.writer.copyLogIntoDatabase()
    let log = try WriteAheadLogTests.checkpoint(Connection(path: store.path, access: .readWrite))
    #expect(log.frames == 0)
  }
}

extension FileDescriptor {
  /// Of the log whose index this is (https://sqlite.org/walformat.html).
  fileprivate var framesInDatabase: UInt32 {
    var frames: UInt32 = 0
    let count = unsafe withUnsafeMutableBytes(of: &frames) {
      unsafe pread(raw, $0.baseAddress, 4, 96)
    }
    #expect(count == 4)
    return frames
  }
}
