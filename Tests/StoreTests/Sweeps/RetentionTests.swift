import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import CascadeSystem
import Testing
import SQLiteJournal
import SQLiteDeletion
import SQLiteSweeps

/// How long what Cascade itself keeps is kept, whatever came between.
@Suite("Retention")
struct RetentionTests {
  private static let day: Int64 = 86_400_000

  private func count(_ store: TestStore, _ rows: String) throws -> Int64? {
    try Connection(path: store.path, access: .readOnly)
      .integer(generated: "SELECT count(*) FROM \(rows)", [])
  }

  /// Two deletions, each a batch with something in the trash.
  private func twoBatches() throws -> (store: TestStore, batches: [Int64]) {
    let store = try TestStore()
    try store.run("A B A-8>B")
    try store.run("C D C-8>D")
    return (store, try [store.run("!A"), store.run("!C")].compactMap(\.batch))
  }

  @Test("A batch from when the clock was ahead goes with the one behind it")
  func clockWasAhead() throws {
    let (store, batches) = try twoBatches()
    try store.bySQL("UPDATE cascade_ledger SET at = 1 << 50 WHERE seq = \(batches[0])")
    #expect(try store.writer.sweep([.trash], at: RetentionTests.day).trashedBatchesDeleted == 0)
    #expect(try store.writer.sweep([.trash], at: RetentionTests.day + 9).trashedBatchesDeleted == 2)
  }

  @Test("What is just being undone is not forgotten, nor detached")
  func beingUndone() throws {
    let (store, batches) = try twoBatches()
    try store.bySQL("INSERT INTO cascade_meta VALUES('undo.batch', \(batches[0]))")
    #expect(throws: StoreError.self) { try store.writer.detach() }
    #expect(try store.writer.sweep([.trash], at: 1 << 50).trashedBatchesDeleted == 1)
    try store.bySQL("DELETE FROM cascade_meta WHERE name = 'undo.batch'")
    #expect(try store.writer.sweep([.trash], at: 1 << 50).trashedBatchesDeleted == 1)
  }

  @Test("What a sweep deleted that was stopped is kept from its end on")
  func stoppedSweep() throws {
    let store = try TestStore()
    try store.run("A B C A-8>B B-8>C")
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM cascade_node WHERE key = 'A'")
    let batch = try #require(try store.writer.sweep([.dangling], at: 5).batch)
    try store.bySQL("UPDATE cascade_ledger SET at = 1 WHERE seq = \(batch)")
    try store.bySQL(
      "INSERT INTO cascade_meta VALUES('sweep.batch', \(batch)), ('sweep.kinds', 4)")
    #expect(try store.writer.sweep([.trash], at: 1 << 50).trashedBatchesDeleted == 0)
    _ = try store.writer.sweep([.dangling], at: 7)
    let swept = try #require(
      store.reader.batches(after: 0, limit: 9).first { $0.batch == batch })
    #expect(swept.at >= 7)
  }

  @Test("The time of a batch is the end of its sweep, and that of a file when its row went")
  func endOfSweep() throws {
    let files = try FileFixture(#"trash: "1h""#)
    files.store.sweepsInSteps(of: 1)
    try files.write("1", "2")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL)")
    try files.bySQL("UPDATE album SET cover = NULL WHERE id = 0")
    let start = SystemClock.wall()
    try files.store.bySQL("DELETE FROM album")
    let slow = StepPolicy { _ in SystemClock.sleep(for: .milliseconds(20)) }
    let result = try files.store.writer.sweep([.cascade, .refcount], at: start, manners: slow)
    let batch = try #require(
      files.store.reader.batches(after: 0, limit: 9).first { $0.batch == result.batch })
    let lasted = batch.at - start
    #expect(40..<10_000 ~= lasted)
    let released = try files.store.texts("SELECT at - \(start) FROM cascade_released_file")
      .compactMap { Int64($0) }
    #expect(released.count == 2 && released[0] < released[1] && released[1] < lasted)
  }

  @Test("A batch of files alone is in the ledger as long as they are kept")
  func filesAlone() throws {
    let files = try FileFixture(#"trash: "60d", keep: { ledger: "30d" }"#, rules: "[]")
    try files.write("1")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL)")
    _ = try files.store.writer.sweep([.all], at: SystemClock.wall())
    try files.store.bySQL("DELETE FROM album")
    _ = try files.store.writer.sweep([.cascade, .refcount], at: SystemClock.wall())
    let batch = try #require(try files.store.writer.sweep([.files], at: SystemClock.wall()).batch)
    try files.tend()
    func sweep(day: Int64) throws {
      let time = SystemClock.wall() + day * RetentionTests.day
      _ = try files.store.writer.sweep([.trash], at: time)
      try files.tend()
    }
    try sweep(day: 40)
    #expect(files.isKept("1", batch))
    #expect(try files.rows("cascade_ledger WHERE seq = \(batch)") == 1)
    try sweep(day: 61)
    try sweep(day: 61)
    #expect(!files.isKept("1", batch))
    #expect(try files.rows("cascade_ledger WHERE seq = \(batch)") == 0)
  }

  @Test("What is forgotten in part is not undone in part")
  func halfForgotten() throws {
    let files = try FileFixture(#"trash: "1d""#)
    try files.write("1")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, NULL, NULL)")
    let receipt = try files.apply(
      .delete(Node("albums", .integer(1))), .delete(Node("albums", .integer(2))))
    try files.tend()
    files.store.sweepsInSteps(of: 1)
    #expect(throws: Stopped.self) {
      try files.store.writer.sweep([.trash], at: 1 << 50, manners: .stopping(after: 1))
    }
    #expect(throws: UndoUnavailable.notInTrash) { try files.store.undo(receipt) }
    _ = try files.store.writer.sweep([.trash], at: 1 << 50)
    #expect(try files.rows("cascade_trash_file WHERE fate <> 1") == 0)
  }

  @Test("A notice keeps its batch in the ledger, and goes when its time is over")
  func notices() throws {
    let store = try TestStore(
      model: StoreModel("{ keep: { ledger: '7d', notices: '30d' }, trash: '1d' }"))
    try store.run("A B A-2>B")
    try store.run("!B")
    for day in [8, 20, 29] as [Int64] {
      _ = try store.writer.sweep([.trash], at: day * RetentionTests.day)
      #expect(try count(store, "cascade_notice") == 1)
    }
    _ = try store.writer.sweep([.trash], at: 31 * RetentionTests.day)
    #expect(try count(store, "cascade_notice") == 0)
    #expect(try count(store, "cascade_ledger WHERE deleted > 0") == 0)
  }

  @Test("What stays in the ledger keeps nothing behind it")
  func ledger() throws {
    let store = try TestStore()
    try store.bySQL(
      """
      INSERT INTO cascade_ledger(seq, id, part, fingerprint, at, outcome, line, deleted)
      SELECT value - 100, 'f' || value, 0, 0, 0, 'partial', 1, 0 FROM json_each('[1,2,3,4,5,6,7,8,9]')
      """)
    try store.run("A")
    try store.run("B")
    store.sweepsInSteps(of: 3)
    _ = try store.writer.sweep([.trash], at: 1 << 50)
    #expect(try count(store, "cascade_ledger WHERE outcome = 'applied'") == 0)
    #expect(try count(store, "cascade_ledger") == 9)
  }
}
