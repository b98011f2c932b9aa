import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteJournal
import CascadePlanning

#if canImport(Glibc)
  import Glibc
#endif

/// A store in memory-backed files, gone with the test.
final class TestStore {
  let path: String
  private let model: StoreModel
  private(set) var writer: Writer
  let reader: Reader
  private var count: Int64 = 0

  /// The application's tables are there first.
  init(model: StoreModel = .lenient, schema: String = "") throws {
    path = "\(TestStore.directory)/cascade-test-\(getpid())-\(UInt64.random(in: 0 ... .max)).db"
    if !schema.isEmpty { try Connection(path: path, access: .create).execute(schema) }
    self.model = model
    writer = try Writer(path: path, model: model)
    reader = try Reader(path: path, model: model)
  }

  deinit { for suffix in ["", "-wal", "-shm"] { unsafe unlink(path + suffix) } }

  /// Syncing costs nothing there, so that a test may commit as often as it likes.
  private static let directory = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/var/tmp"

  /// As the next daemon does.
  func reopen() throws {
    let last = writer
    writer = try Writer(path: path, model: model)
    writer.fewNodes = last.fewNodes
    writer.pace.rowsToAStep = last.pace.rowsToAStep
  }

  /// As the daemon does when nobody needs it for a while.
  func rest() throws {
    try writer.releaseMemoryUntilWakeUp()
    try writer.wakeUp()
  }

  @discardableResult
  func apply(_ changes: [Change], id: String? = nil) throws -> Receipt {
    count += 1
    let submission = Submission(
      id: id ?? "test-\(count)", author: "test", fingerprint: count, at: count)
    var rest = changes[...]
    return try writer.group { try writer.apply(submission) { rest.popFirst() } }
  }

  /// What another program might do to the file.
  func bySQL(_ sql: String) throws {
    let connection = try Connection(path: path, access: .readWrite)
    connection.setBusyTimeout(milliseconds: 5_000)
    try connection.execute(sql)
  }

  /// The first column of what another program would read.
  func texts(_ sql: String) throws -> [String] {
    try Connection(path: path, access: .readOnly).all(generated: sql) { $0.text(0) }
  }

  func reasons(_ changes: some Sequence<Change>) throws -> [Reason] {
    let changes = Array(changes)
    do {
      try apply(changes)
      return []
    } catch let rejection as Rejection {
      return rejection.reasons
    }
  }

  func exists(_ node: Node) throws -> Bool { try reader.node(node).exists }

  func edges() throws -> [Edge] { try reader.edges(EdgeQuery()).edges }
}

extension StoreModel {
  /// Without the hold limit, which would stop what a test wants to see.
  static var lenient: StoreModel {
    var model = StoreModel.empty
    model.limits.hold.deletes = .max
    return model
  }

  init(_ text: String) throws {
    try self.init(json5: Array(text.utf8))
    if limits.hold.deletes == 1000 { limits.hold.deletes = .max }
  }
}

/// A small, seeded generator: a failure prints its seed, and the seed gives the same run again.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

/// Under a model of its own.
extension TestStore {
  @discardableResult
  func apply(_ changes: [Change], by writer: Writer) throws -> Receipt {
    let number = Int64.random(in: 1_000 ... .max)
    let submission = Submission(id: "\(number)", author: "test", fingerprint: number, at: 9)
    var rest = changes[...]
    return try writer.group { try writer.apply(submission) { rest.popFirst() } }
  }
}
