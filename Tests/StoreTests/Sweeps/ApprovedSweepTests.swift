import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteDeletion
import SQLiteSweeps

/// A sweep in steps that somebody approved, and that ends before its end.
@Suite("An approved sweep that is stopped")
struct ApprovedSweepTests {
  private static let kinds: [SweepKind] = [.cascade, .refcount]

  /// Six rows go with theirs, which is over the limit; each has one more behind it.
  private func store(key: String, _ more: String = "") throws -> TestStore {
    let model = """
      {
        limits: { hold: { deletes: 2, share: 0 } },
        collections: {
          tops: { table: 'top', key: 'id' }, mids: { table: 'mid', key: 'id' },
          ends: { table: 'end', key: 'id' },
        },
        relationships: [
          { name: 'top', from: 'mids', to: 'tops', column: 'top',
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'mid', from: 'ends', to: 'mids', column: 'mid',
            rules: ['deleteSourceIfDestinationDeleted'\(more)] } ],
      }
      """
    let schema = """
      CREATE TABLE top(id \(key)); CREATE TABLE mid(id \(key), top INT);
      CREATE TABLE "end"(id \(key), mid INT);
      INSERT INTO top VALUES(1), (2);
      INSERT INTO mid VALUES(11, 1), (12, 1), (13, 1), (14, 1), (15, 1), (16, 1), (21, 2), (22, 2);
      INSERT INTO "end" SELECT id * 10, id FROM mid;
      """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM top WHERE id = 1")
    return store
  }

  private func left(_ store: TestStore) throws -> Int64? {
    try Connection(path: store.path, access: .readOnly)
      .integer("SELECT (SELECT count(*) FROM mid) + (SELECT count(*) FROM \"end\")")
  }

  /// Ends the sweep behind so many steps, as a crash would.
  private func stop(
    _ store: TestStore, after steps: Int, _ kinds: [SweepKind] = Self.kinds
  ) throws {
    var count = 0
    let manners = StepPolicy { _ in
      count += 1
      if count == steps { throw CancellationError() }
    }
    #expect(throws: CancellationError.self) {
      try store.writer.sweep(kinds, at: 2, manners: manners)
    }
    try store.reopen()
    store.sweepsInSteps(of: 1)
  }

  private func approve(_ store: TestStore) throws {
    let held = try store.writer.sweep(Self.kinds, at: 1)
    #expect(held.outcome == .held && held.deletedCount == 12)
    _ = try store.writer.approve(plan: #require(held.plan))
  }

  @Test("Goes on", arguments: ["INTEGER PRIMARY KEY", "TEXT PRIMARY KEY"], 1...11)
  func goesOn(key: String, steps: Int) throws {
    let store = try store(key: key)
    try approve(store)
    try stop(store, after: steps)
    try stop(store, after: 1)
    #expect(try store.writer.unfinishedSweep == Self.kinds)
    _ = try store.writer.sweep(Self.kinds, at: 3)
    #expect(try left(store) == 4)
    try store.bySQL("DELETE FROM top WHERE id = 2")
    #expect(try store.writer.sweep(Self.kinds, at: 4).outcome == .held)
  }

  @Test("Goes on looking through whole tables", arguments: 1...9, [SweepKind.all, .dangling])
  func goesOnLooking(steps: Int, kind: SweepKind) throws {
    let store = try store(key: "INTEGER PRIMARY KEY")
    // Nobody saw them go.
    try store.bySQL(
      "DELETE FROM cascade_journal; INSERT OR REPLACE INTO cascade_meta VALUES('watch_gap', 1)")
    let held = try store.writer.sweep([kind], at: 1)
    #expect(held.outcome == .held && held.heldCount == 12)
    _ = try store.writer.approve(plan: #require(held.plan))
    try stop(store, after: steps, [kind])
    if let kinds = try store.writer.unfinishedSweep {
      #expect(try store.writer.sweep(kinds, at: 3).outcome == .done)
    } else {
      #expect(try store.writer.sweep([kind], at: 3).outcome != .held)
    }
    #expect(try left(store) == 4)
    #expect(try store.writer.heldSweeps.isEmpty)
  }

  @Test("Waits for its answer, whatever other sweeps find")
  func waits() throws {
    let store = try store(
      key: "INTEGER PRIMARY KEY", ", 'deleteDestinationIfAllSourcesDeleted'")
    let held = try store.writer.sweep([.cascade], at: 1)
    #expect(held.outcome == .held)
    try store.bySQL("INSERT INTO top VALUES(1)")
    for kinds in [[SweepKind.refcount], [.all]] {
      #expect(try store.writer.sweep(kinds, at: 2).outcome == .nothing)
      #expect(try store.writer.heldSweeps.map(\.plan) == [held.plan])
    }
    _ = try store.writer.approve(plan: #require(held.plan))
    #expect(try store.writer.sweep([.cascade], at: 3).deletedCount == 0)
    #expect(try store.writer.heldSweeps.isEmpty)
  }

  @Test("Is held again where more would be let go of that nobody saw go")
  func moreLosses() throws {
    let model = """
      {
        limits: { hold: { deletes: 2, share: 0 } },
        collections: { tops: { table: 'top', key: 'id' }, mids: { table: 'mid', key: 'id' } },
        relationships: [
          { name: 'top', from: 'mids', to: 'tops', column: 'top',
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'also', from: 'mids', to: 'tops', column: 'also',
            rules: ['nullifySourceIfDestinationDeleted'] } ],
      }
      """
    let store = try TestStore(
      model: StoreModel(model),
      schema: """
        CREATE TABLE top(id INTEGER PRIMARY KEY); CREATE TABLE mid(id INTEGER PRIMARY KEY, top INT, also INT);
        INSERT INTO top VALUES(2); INSERT INTO mid(id, top) VALUES(1, 1), (2, 1), (3, 1), (4, 1);
        INSERT INTO mid VALUES(5, NULL, 2), (6, NULL, 2), (7, NULL, 2);
        """)
    store.sweepsInSteps(of: 1)
    let held = try store.writer.sweep([.dangling], at: 1)
    #expect(held.outcome == .held && held.heldCount == 4)
    _ = try store.writer.approve(plan: #require(held.plan))
    try stop(store, after: 2, [.dangling])
    try store.bySQL("DELETE FROM top; DELETE FROM cascade_journal")
    #expect(try store.writer.sweep([.dangling], at: 3).outcome == .held)
    #expect(try store.texts("SELECT id FROM mid WHERE also = 2") == ["5", "6", "7"])
  }

  @Test("Lets pass nothing else that is deleted meanwhile")
  func more() throws {
    let store = try store(key: "INTEGER PRIMARY KEY")
    try approve(store)
    try stop(store, after: 2)
    try store.bySQL("DELETE FROM top WHERE id = 2")
    #expect(try store.writer.sweep(Self.kinds, at: 3).outcome == .held)
    #expect(try left(store) == 4)
    #expect(try store.texts("SELECT DISTINCT top FROM mid") == ["2"])
  }
}
