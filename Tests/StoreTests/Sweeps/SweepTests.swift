import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteBinding
import SQLiteTables
import Testing
import SQLiteSweeps

/// Sweeps of a managed store: what others deleted by SQL, and what is past its time.
@Suite("Sweeps")
struct SweepTests {
  let store: TestStore

  init() throws { store = try TestStore() }

  private func vanish(_ keys: String) throws {
    try store.bySQL("DELETE FROM cascade_node WHERE key IN (\(keys))")
  }

  private func rows(_ table: String) throws -> Int64? {
    try Connection(path: store.path, access: .readOnly)
      .integer(generated: "SELECT count(*) FROM \(table)", [])
  }

  @Test("A sweep of a store in order does nothing, and leaves no trace")
  func nothing() throws {
    try store.run("A B A-8>B")
    let ledger = try rows("cascade_ledger")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.outcome == .nothing)
    #expect(result.batch == nil)
    #expect(try rows("cascade_ledger") == ledger)
  }

  @Test("What was deleted by SQL is gone, and the rules run")
  func dangling() throws {
    try store.run("A B C D E A-8>B B-8>C D-4>A E-0>A")
    try vanish("'A'")
    #expect(try store.reader.planSweep([.dangling]).steps.map(\.node).letters == "B C D")
    let result = try store.writer.sweep([.dangling], at: 1)
    #expect(result.outcome == .done)
    #expect(result.deletedCount == 3)
    #expect(try store.alive() == "E")
    #expect(try rows("cascade_edge") == 0)
    #expect(try store.writer.sweep([.dangling], at: 2).outcome == .nothing)
  }

  @Test("Counted edges count what is left")
  func counted() throws {
    try store.run("A B N A-32>N B-32>N")
    try vanish("'A'")
    #expect(try store.writer.sweep([.dangling], at: 1).deletedCount == 0)
    try vanish("'B'")
    #expect(try store.writer.sweep([.dangling], at: 2).deletedCount == 1)
    #expect(try store.alive() == "")
  }

  @Test("Of an edge between two that vanished nothing follows")
  func bothVanished() throws {
    try store.run("A B A-8>B C")
    try vanish("'A', 'B'")
    let result = try store.writer.sweep([.dangling], at: 1)
    #expect((result.deletedCount, result.edgesRemoved) == (0, 1))
    #expect(result.outcome == .done)
  }

  @Test("Another kind of sweep leaves dangling edges alone")
  func otherKind() throws {
    try store.run("A B A-8>B")
    try vanish("'A'")
    #expect(try store.writer.sweep([.cascade, .trash], at: 1).outcome == .nothing)
    #expect(try store.reader.planSweep([.cascade]).steps.isEmpty)
    #expect(try store.alive() == "B")
  }

  @Test("A denied node stays with what would follow it, and the rest goes on")
  func blocked() throws {
    try store.run("A B C D E H A-8>B B-8>C A-8>D D-8>E H-128>B")
    try vanish("'A'")
    let plan = try store.reader.planSweep([.dangling])
    let result = try store.writer.sweep([.dangling], at: 1)
    #expect(result.outcome == .blocked)
    #expect(plan.steps.map(\.node).letters == "D E")
    #expect(plan.denials.map(\.message) == result.blocked.map(\.message))
    #expect(result.blocked.compactMap(\.edge).map(\.letters) == ["H-128>B"])
    #expect(result.deletedCount == 2)
    #expect(try store.alive() == "B C H")
    #expect(try store.graph() == "B-8>C H-128>B")
  }

  @Test("What stays because it is denied denies in its turn")
  func blockedByBlocked() throws {
    try store.run("A B C D H A-8>B A-8>C A-8>D H-128>B B-128>C C-32>D B-32>D")
    try vanish("'A'")
    let result = try store.writer.sweep([.dangling], at: 1)
    #expect(result.blocked.compactMap(\.edge).map(\.letters).sorted() == ["B-128>C", "H-128>B"])
    #expect(try store.alive() == "B C H")
  }

  @Test("A plan ends at once where the sweep has to, and is made anew")
  func stopsInPlan() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        {
          limits: { hold: { deletes: 5000 } },
          collections: { tops: { table: 'top', key: 'id' }, mids: { table: 'mid', key: 'id' } },
          relationships: [
            { name: 'top', from: 'mids', to: 'tops', column: 'top',
              rules: ['deleteSourceIfDestinationDeleted'] } ],
        }
        """),
      schema: """
        CREATE TABLE top(id INTEGER PRIMARY KEY);
        CREATE TABLE mid(id INTEGER PRIMARY KEY, top INT);
        INSERT INTO top VALUES(1);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO mid SELECT i, 1 FROM n;
        """)
    try store.bySQL("DELETE FROM top")
    var looks = 0
    let manners = StepPolicy(
      pause: { _ in },
      shouldStop: {
        looks += 1
        return looks == 2
      })
    #expect(throws: CancellationError.self) {
      try store.writer.sweep([.dangling], at: 1, manners: manners)
    }
    #expect(try store.writer.sweep([.dangling], at: 1, manners: manners).deletedCount == 2000)
  }

  @Test("Whole tables are looked through while nobody is kept waiting, however little goes")
  func looksWithoutLock() throws {
    try store.run("A B A-8>B")
    try vanish("'A'")
    var planning = 0
    let manners = StepPolicy(
      pause: { _ in },
      reportProgress: { progress in if progress.phase == .planning { planning += 1 } })
    let result = try store.writer.sweep([.dangling], at: 1, manners: manners)
    #expect(result.deletedCount == 1)
    // The first step, the deletion and the end.
    #expect(planning == 1 && result.lockMilliseconds.count >= 3)
  }

  @Test("A step takes as many levels as there is time for")
  func levels() throws {
    let links = (1..<600).map { "x\($0)-4>x\($0 - 1)" }
    try store.run((["x0"] + (1..<600).map { "x\($0)" } + links).joined(separator: " "))
    try vanish("'x0'")
    let result = try store.writer.sweep([.dangling], at: 1)
    #expect(result.deletedCount == 599)
    #expect(result.lockMilliseconds.count < 200)
  }

  @Test("A swept node can be explained")
  func why() throws {
    try store.run("A B A-8>B")
    try vanish("'A'")
    let result = try store.writer.sweep([.dangling], at: 7)
    let deletion = try #require(try store.deletion(of: "B"))
    #expect(deletion.batch == result.batch)
    #expect(deletion.author == "sweep" && deletion.at >= 7)
  }

  // MARK: - Trash

  @Test("The trash forgets what is past its time, and nothing else")
  func trash() throws {
    let day: Int64 = 86_400_000
    try store.run("A B A-8>B")
    try store.run("C D C-0>D")
    try store.run("!A")
    try store.run("!C")
    #expect(try rows("cascade_trash") == 3)
    #expect(try store.writer.sweep([.trash], at: day).trashedBatchesDeleted == 0)
    // The clock of a test store counts transactions: the third one deleted A.
    #expect(try store.writer.sweep([.trash], at: day + 4).trashedBatchesDeleted == 1)
    #expect(try rows("cascade_trash") == 1)
    #expect(try rows("cascade_trash_edge") == 1)
    #expect(try store.isUnknown("B"))
    #expect(try store.deletion(of: "C") != nil)
  }

  @Test("The trash forgets the edges of what only lost edges too")
  func trashOfEdges() throws {
    try store.run("A B C A-0>B C-0>B")
    try vanish("'A'")
    #expect(try store.writer.sweep([.dangling], at: 1).edgesRemoved == 1)
    #expect(try rows("cascade_trash_edge") == 1)
    _ = try store.writer.sweep([.trash], at: 1 << 40)
    #expect(try rows("cascade_trash_edge") == 0)
  }
}
