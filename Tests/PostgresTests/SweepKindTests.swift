import CascadeModel
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Sweeps that leave some rules to another kind.
@Suite("Kinds of sweeps on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct SweepKindTests {
  /// Albums of artists, and photos that albums share.
  private static func store(_ more: String = "") throws -> PostgresFixture {
    try Music.store(more)
  }

  private static let counts = """
    SELECT (SELECT count(*) FROM album) || ' ' || (SELECT count(*) FROM photo)
    """

  @Test("A sweep that cascades leaves what is only counted, and tells once of what was lost")
  func cascadeFirst() throws {
    let store = try Self.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep([.cascade]).byCollection == ["albums": 2, "songs": 3])
    #expect(try store.texts(Self.counts) == ["1 2"])
    #expect(try store.sweep([.cascade]).outcome == .nothing)
    // It is in nobody's way until it is its turn.
    let plan = try store.reader.planSweep([.refcount], at: 1)
    #expect(plan.byCollection == ["photos": 1])
    #expect(try store.sweep([.refcount]).byCollection == ["photos": 1])
    #expect(try store.texts(Self.counts) == ["1 1"])
    #expect(try store.journalIsEmpty && !store.hasWork)
  }

  @Test("A sweep that counts leaves what goes with others, and what that keeps")
  func countFirst() throws {
    let store = try Self.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'; DELETE FROM album WHERE id = 'b1'")
    #expect(try store.sweep([.refcount]).outcome == .nothing)
    #expect(try store.texts(Self.counts) == ["2 2"])
    try store.sweep([.cascade])
    #expect(try store.texts(Self.counts) == ["0 2"])
    try store.sweep([.refcount])
    #expect(try store.texts(Self.counts) == ["0 0"])
  }

  @Test("What waits for a kind that runs by the clock is no news for one that runs at once")
  func schedules() throws {
    let store = try Self.store("sweeps: { cascade: 'immediate', refcount: '@daily' },")
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.writer.hasJournal)
    try store.sweep([.cascade])
    try store.settle([.cascade])
    #expect(try !store.writer.hasJournal)
    #expect(try !store.journalIsEmpty)
  }

  @Test("A sweep that was begun goes on as one of its kind, before what is asked for now")
  func resumed() throws {
    let store = try Self.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    store.sweepsInSteps(of: 1)
    #expect(throws: Stopped.self) {
      try store.writer.sweep([.cascade], at: 1, manners: .stopping(after: 2))
    }
    try store.reopen()
    #expect(try store.writer.unfinishedSweep == [.cascade])
    try store.sweep([.refcount])
    #expect(try store.texts(Self.counts) == ["1 1"])
    #expect(try store.writer.unfinishedSweep == nil)
  }
}
