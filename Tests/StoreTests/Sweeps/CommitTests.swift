import StoreDefinition
import Glibc
import CascadeSQLite
import CascadeSystem
import Testing

/// A commit writes to the log in large pieces.
@Suite("A commit of many pages")
struct CommitTests {
  @Test("is whole for everybody", arguments: [512, 4096, 65536])
  func isWhole(pageSize: Int) throws {
    let file = try TestFile(pageSize: pageSize)
    let db = try file.open(cache: 10_000)
    let other = try file.open()
    for round in 1...3 {
      try db.begin()
      try db.add(500)
      #expect(try other.rows == Int64(500 * (round - 1)))
      try db.commit()
      #expect(try other.rows == Int64(500 * round))
    }
    try file.check(rows: 1_500)
  }

  @Test("is whole where they were in the log before, and changed again", arguments: [512, 4096])
  func rewritesPages(pageSize: Int) throws {
    let file = try TestFile(pageSize: pageSize)
    let db = try file.open(cache: 10)
    try db.begin()
    try db.add(2_000)
    for _ in 1...3 { try db.execute("UPDATE t SET b = randomblob(900) WHERE a % 3 = 0") }
    try db.commit()
    try file.check(rows: 2_000)
    // As it is read behind a crash, from the log alone.
    try file.forgetIndex(of: db)
    try file.check(rows: 2_000)
  }

  @Test("leaves alone what others wrote where one that was undone had its own")
  func isUndone() throws {
    let file = try TestFile()
    let db = try file.open(cache: 10)
    let other = try file.open()
    for round in 1...3 {
      try db.begin()
      try db.add(1_000)
      db.rollback()
      try other.begin()
      try other.add(100)
      try other.commit()
      #expect(try db.rows == Int64(100 * round))
    }
    try db.begin()
    try db.add(1_000)
    try db.commit()
    try file.check(rows: 1_300)
  }

  @Test("keeps the log's length in its limit")
  func truncates() throws {
    let file = try TestFile()
    let db = try file.open(cache: 10_000)
    try db.execute("PRAGMA journal_size_limit = 0")
    let other = try file.open()
    try db.add(3_000)
    #expect(try db.checkpoint(keptBy: other, at: file.path)?.brought.isWhole == true)
    let long = file.size("-wal")
    try db.begin()
    try db.execute("DELETE FROM t WHERE a > 2900")
    try db.commit()
    #expect(file.size("-wal") < long / 4)
    try file.check(rows: 2_900)
  }

  @Test("is whole where there is no log", arguments: ["DELETE", "TRUNCATE", "PERSIST"])
  func hasAnotherJournal(mode: String) throws {
    let file = try TestFile(journal: mode)
    let db = try file.open(cache: 10)
    for _ in 1...3 {
      try db.begin()
      try db.add(500)
      try db.execute("UPDATE t SET b = randomblob(900)")
      try db.commit()
    }
    try file.check(rows: 1_500)
  }

  @Test("takes few calls of the system", .enabled(if: callsOfThisThread != nil))
  func takesFewCalls() throws {
    let file = try TestFile()
    let db = try file.open(cache: 10_000)
    try db.begin()
    try db.add(3_000)
    let before = callsOfThisThread!
    try db.commit()
    let calls = callsOfThisThread! - before
    let pages = file.size("-wal") / 4_120
    #expect(pages > 700 && calls < pages / 10)
  }
}

/// How often this thread wrote to a file, where the kernel counts that.
private var callsOfThisThread: Int? {
  let text = try? FileDescriptor.open("/proc/thread-self/io").readWhole(limit: 4_096)
  let lines = text.map { String(decoding: $0, as: UTF8.self).split(separator: "\n") } ?? []
  return lines.first { $0.hasPrefix("syscw: ") }.flatMap { Int($0.dropFirst(7)) }
}

/// A database with one table, gone with the test.
private final class TestFile {
  let path = "/var/tmp/cascade-test-\(getpid())-\(UInt64.random(in: 0 ... .max)).db"

  init(pageSize: Int = 4_096, journal: String = "WAL") throws {
    try Connection(path: path, access: .create).execute(
      """
      PRAGMA page_size = \(pageSize); PRAGMA journal_mode = \(journal);
      CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)
      """)
  }

  deinit { for suffix in ["", "-wal", "-shm", "-journal"] { unsafe unlink(path + suffix) } }

  /// Keeps so many pages in memory.
  func open(cache: Int = 100) throws -> Connection {
    let db = try Connection(path: path, access: .readWrite)
    try db.execute(
      "PRAGMA cache_size = \(cache); PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
    return db
  }

  func size(_ suffix: String) -> Int {
    var status = stat()
    return unsafe stat(path + suffix, &status) == 0 ? Int(status.st_size) : 0
  }

  func check(rows: Int64) throws {
    let db = try open()
    #expect(try db.rows == rows)
    #expect(try db.first("PRAGMA integrity_check") { $0.text(0) } == "ok")
  }

  /// The next connection reads the log from its beginning.
  func forgetIndex(of db: consuming Connection) throws {
    db.keepLogOnClose()
    _ = consume db
    #expect(size("-wal") > 0)
    unsafe unlink("\(path)-shm")
  }
}

extension Connection {
  fileprivate var rows: Int64 {
    get throws { try integer("SELECT count(*) FROM t") ?? 0 }
  }

  fileprivate func add(_ count: Int) throws {
    try execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO t(b) SELECT randomblob(1000) FROM n
      """)
  }
}
