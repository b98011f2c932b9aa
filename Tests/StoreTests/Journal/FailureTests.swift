import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import Testing
import SQLiteJournal

/// A transaction that fails at any point leaves nothing behind, in the file or in memory.
@Suite("Failures at every point")
struct FailureTests {
  static let graph = "A{8>B,32x>C} B C D D-0x>C E E-1>A N{2>E} G H G-8>H"
  static let transaction = "!A F F-4>E D{32x>C} ~G->H | !E K K-8>L L C{0>K}"

  private struct Failure: Error {}

  /// Everything that a transaction may change.
  private func state(_ store: TestStore) throws -> [String] {
    let counts = try ["cascade_trash", "cascade_trash_edge", "cascade_ledger"].map { table in
      try Connection(path: store.path, access: .readOnly)
        .integer(generated: "SELECT count(*) FROM \(table)", []) ?? 0
    }
    return [try store.alive(), try store.graph(), "\(try store.told())", "\(counts)"]
  }

  private func whole() throws -> (before: [String], after: [String]) {
    let store = try TestStore()
    try store.run(FailureTests.graph)
    let before = try state(store)
    try store.run(FailureTests.transaction)
    return (before, try state(store))
  }

  /// SQLite counts the steps of a statement across its runs, so now and then it asks in a short one.
  @Test("What interrupts other statements never interrupts a rollback")
  func rollbackIsNotInterrupted() throws {
    let store = try TestStore()
    let db = try Connection(path: store.path, access: .readWrite)
    var (isOver, failed) = (false, false)
    try db.interrupting(when: { isOver }) {
      for _ in 1...2_000 {
        isOver = false
        try db.begin()
        isOver = true
        db.rollback()
        failed = failed || db.isInTransaction
      }
    }
    #expect(!failed)
  }

  @Test("Whichever change cannot be read", arguments: [false, true])
  func everyChange(inGroup: Bool) throws {
    let (before, after) = try whole()
    let script = changes(FailureTests.transaction)
    let store = try TestStore()
    try store.run(FailureTests.graph)
    for length in 0..<script.count {
      var rest = script.prefix(length)
      try? store.writer.group {
        let failing = Submission(id: "failing", author: nil, fingerprint: 1, at: 1)
        do {
          _ = try store.writer.apply(failing) {
            if let next = rest.popFirst() { return next }
            throw Failure()
          }
        } catch  where inGroup {
          // The rest of the group goes on.
        }
      }
      #expect(try state(store) == before)
    }
    try store.apply(script)
    #expect(try state(store) == after)
  }

  private static let tables = [
    "cascade_node", "cascade_edge", "cascade_ledger", "cascade_trash", "cascade_trash_edge",
    "cascade_notice", "cascade_meta", "cascade_name", "cascade_collection",
  ]

  /// Lets so many writes of a row pass, and refuses the next one.
  private func refuseWrites(_ store: TestStore) throws {
    try store.bySQL("CREATE TABLE refusal(allowed, done); INSERT INTO refusal VALUES(1e9, 0)")
    for table in FailureTests.tables {
      for event in ["INSERT", "UPDATE", "DELETE"] {
        try store.bySQL(
          """
          CREATE TRIGGER refuse_\(table)_\(event) BEFORE \(event) ON \(table) BEGIN
            UPDATE refusal SET done = done + 1;
            SELECT RAISE(ABORT, 'refused') FROM refusal WHERE done > allowed;
          END
          """)
      }
    }
  }

  @Test("Whichever write of a row is refused")
  func everyWrite() throws {
    let (before, after) = try whole()
    let store = try TestStore()
    try store.run(FailureTests.graph)
    try refuseWrites(store)
    var refused = 0
    while refused < 1_000 {
      try store.bySQL("UPDATE refusal SET allowed = \(refused), done = 0")
      guard (try? store.run(FailureTests.transaction)) == nil else { break }
      refused += 1
      #expect(try state(store) == before, "the write after \(refused - 1) others")
    }
    #expect(refused > 30)
    #expect(try state(store) == after)
  }
}
