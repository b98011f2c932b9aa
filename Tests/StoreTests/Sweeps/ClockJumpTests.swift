import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteSweeps
import StoreDefinition
import StoreFixtures
import Testing

@Suite("A wall clock that jumps")
struct ClockJumpTests {
  private static let day: Int64 = 86_400_000
  private static let year = 365 * day

  /// Two batches in the trash, which keeps them for a day.
  private func store() throws -> TestStore {
    let store = try TestStore()
    try store.run("A B A-8>B")
    try store.run("C D C-8>D")
    _ = try (store.run("!A"), store.run("!C"))
    try store.writer.noteTime(wall: 0, elapsed: 0)
    return store
  }

  private func forgotten(_ store: TestStore, at time: Int64) throws -> Int {
    try store.writer.sweep([.trash], at: time).trashedBatchesDeleted
  }

  @Test("ends no lease before its time has passed")
  func lease() throws {
    let store = try TestStore()
    try store.writer.noteTime(wall: 0, elapsed: 0)
    try store.writer.lease([.collection("n")], owner: "a", seconds: 900, at: 0)
    try store.writer.noteTime(wall: 1_000, elapsed: 1_000)
    let year = ClockJumpTests.year
    try store.writer.noteTime(wall: year, elapsed: 2_000)
    #expect(try !store.writer.deleteExpiredLeases(at: year).wereAny)
    try store.writer.noteTime(wall: year + 899_000, elapsed: 901_000)
    #expect(try store.writer.deleteExpiredLeases(at: year + 899_000).wereAny)
  }

  @Test("does not change a lease that was taken after it")
  func newLease() throws {
    let store = try TestStore()
    let year = ClockJumpTests.year
    try store.writer.noteTime(wall: 0, elapsed: 0)
    try store.writer.lease([.collection("n")], owner: "a", seconds: 900, at: year)
    try store.writer.noteTime(wall: year, elapsed: 1_000)
    #expect(try store.writer.deleteExpiredLeases(at: year + 901_000).wereAny)
  }

  @Test("forward, forgets no trash before its time has passed")
  func forward() throws {
    let (store, year, day) = (try store(), ClockJumpTests.year, ClockJumpTests.day)
    try store.writer.noteTime(wall: year, elapsed: 1_000)
    #expect(try forgotten(store, at: year) == 0)
    #expect(try forgotten(store, at: year + day - 2_000) == 0)
    #expect(try forgotten(store, at: year + day) == 2)
  }

  @Test("back, keeps the trash no longer than before")
  func back() throws {
    let (store, day) = (try store(), ClockJumpTests.day)
    try store.writer.noteTime(wall: 10 * day, elapsed: 10 * day)
    try store.bySQL("UPDATE cascade_ledger SET at = 10 * \(day)")
    try store.writer.noteTime(wall: 5 * day, elapsed: 10 * day + 1_000)
    #expect(try forgotten(store, at: 6 * day - 2_000) == 0)
    #expect(try forgotten(store, at: 6 * day) == 2)
  }

  @Test("while the daemon is away, counts as a day at most")
  func away() throws {
    let (store, day) = (try store(), ClockJumpTests.day)
    try store.writer.saveTime(wall: 0)
    try store.reopen()
    try store.writer.noteTime(wall: 30 * day, elapsed: 5)
    #expect(try forgotten(store, at: 30 * day - 1_000) == 0)
    #expect(try forgotten(store, at: 30 * day + 1_000) == 2)
  }

  @Test("forgets no entry of the ledger before its time has passed")
  func ledger() throws {
    let (store, year, day) = (try store(), ClockJumpTests.year, ClockJumpTests.day)
    try store.writer.noteTime(wall: year, elapsed: 1_000)
    _ = try forgotten(store, at: year + 2 * day)
    #expect(try store.texts("SELECT count(*) FROM cascade_ledger") == ["4"])
    _ = try forgotten(store, at: year + 31 * day)
    #expect(try store.texts("SELECT count(*) FROM cascade_ledger") == ["0"])
  }
}
