import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteDeletion
import SQLiteJournal
import SQLiteStore
import SQLiteSweeps
import SQLiteTables
import StoreDefinition
import StoreFixtures
import Testing

/// How a plan owns its causes: rows of the journal, in ranges.
@Suite("Causes of a held plan")
struct HeldCauseTests {
  /// Thirty songs with a cover each, which goes with the last song that has it.
  private func store(steps: Int64? = nil) throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { limits: { hold: { deletes: 10, share: 0.1 } },
          collections: { songs: { table: 'song', key: 'id' }, covers: { table: 'cover', key: 'id' },
            artists: { table: 'artist', key: 'id' } },
          relationships: [
            { name: 'cover', from: 'songs', to: 'covers', column: 'cover',
              rules: ['deleteDestinationIfAllSourcesDeleted'] },
            { name: 'artist', from: 'songs', to: 'artists', column: 'artist',
              rules: ['deleteSourceIfDestinationDeleted'] }] }
        """),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY); CREATE TABLE cover(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, cover INT, artist INT);
        CREATE INDEX by_cover ON song(cover); CREATE INDEX by_artist ON song(artist);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
        INSERT INTO cover SELECT i FROM n;
        INSERT INTO song SELECT id, id, 1 + (id > 30) FROM cover;
        INSERT INTO artist VALUES(1), (2);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    if let steps { store.sweepsInSteps(of: steps) }
    return store
  }

  private func count(_ table: String, _ store: TestStore) throws -> Int {
    try Int(store.texts("SELECT CAST(count(*) AS TEXT) FROM \(table)")[0])!
  }

  @Test("What one kind has read waits for the other one", arguments: [nil, 1] as [Int64?])
  func ofOneKind(steps: Int64?) throws {
    let store = try store(steps: steps)
    try store.bySQL("DELETE FROM song WHERE id <= 20")
    #expect(try store.writer.sweep([.cascade], at: 1).outcome == .nothing)
    let held = try store.writer.sweep([.refcount], at: 2)
    #expect(held.outcome == .held && held.heldCount == 20)
    #expect(try store.writer.heldSweeps.map(\.kinds) == [[.refcount]])
    for kinds in [[.cascade], [.refcount], [.cascade, .refcount], [.all]] as [[SweepKind]] {
      #expect(try store.writer.sweep(kinds, at: 3).outcome == .nothing)
    }
    #expect(try !store.writer.hasJournal)
    _ = try store.writer.approve(plan: #require(held.plan))
    #expect(try store.writer.hasJournal)
    #expect(try store.writer.sweep([.refcount], at: 4).byCollection == ["covers": 20])
    _ = try store.writer.sweep([.cascade, .refcount], at: 5)
    #expect(try store.journal() == "" && !store.writer.hasJournal)
    try expectFollowing(store)
  }

  @Test("What neither has read waits for both", arguments: [nil, 1] as [Int64?])
  func ofBothKinds(steps: Int64?) throws {
    let store = try store(steps: steps)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    let held = try store.writer.sweep([.cascade], at: 1)
    #expect(held.outcome == .held && held.heldCount == 30)
    #expect(try store.writer.sweep([.refcount], at: 2).outcome == .nothing)
    _ = try store.writer.approve(plan: #require(held.plan))
    // With the covers, it is twice as much.
    let again = try store.writer.sweep([.cascade], at: 3)
    #expect(again.outcome == .held && again.plan == held.plan && again.heldCount == 60)
    _ = try store.writer.approve(plan: #require(held.plan))
    #expect(try store.writer.sweep([.cascade], at: 4).deletedCount == 60)
    try expectFollowing(store)
  }

  /// Numbers of the journal are given again, and nothing is lost.
  private func expectFollowing(_ store: TestStore) throws {
    let covers = try count("cover", store)
    for (number, id) in [41, 42, 43].enumerated() {
      try store.bySQL("DELETE FROM song WHERE id = \(id)")
      let result = try store.writer.sweep([.cascade, .refcount], at: 1_000_000_000)
      #expect(result.byCollection == ["covers": 1])
      #expect(try count("cover", store) == covers - number - 1)
    }
  }

  @Test("While a plan waits, nothing that is deleted is missed", arguments: [nil, 1] as [Int64?])
  func beside(steps: Int64?) throws {
    let store = try store(steps: steps)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    let plan = try #require(try store.writer.sweep([.cascade, .refcount], at: 1).plan)
    for id in 51...54 {
      try store.bySQL("DELETE FROM song WHERE id = \(id)")
      let kinds: [SweepKind] = id % 2 == 0 ? [.cascade, .refcount] : [.refcount]
      #expect(try store.writer.sweep(kinds, at: 2).byCollection == ["covers": 1])
      _ = try store.writer.sweep([.cascade], at: 2)
      try store.reopen()
      if let steps { store.sweepsInSteps(of: steps) }
    }
    _ = try store.writer.approve(plan: plan)
    #expect(try store.writer.sweep([.cascade, .refcount], at: 3).deletedCount == 60)
    try expectFollowing(store)
  }

  @Test("A key that the daemon deleted is another node's when it is used again")
  func usedAgain() throws {
    let store = try store()
    try store.bySQL("UPDATE song SET cover = 59 WHERE id = 60; DELETE FROM song WHERE id <= 20")
    try store.bySQL(
      "UPDATE song SET cover = 60 WHERE id = 60; UPDATE song SET cover = 58 WHERE id = 59")
    let held = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(held.outcome == .held)
    try store.bySQL("DELETE FROM cover WHERE id = 59")
    _ = try store.writer.sweep([.cascade, .refcount], at: 1)
    try store.bySQL("INSERT INTO cover VALUES(59)")
    _ = try store.writer.sweep([.cascade, .refcount], at: 1)
    _ = try store.writer.approve(plan: #require(held.plan))
    _ = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(try store.texts("SELECT id FROM cover WHERE id = 59") == ["59"])
    #expect(try store.texts("SELECT id FROM cover WHERE id <= 20").isEmpty)
  }

  @Test("A store that an earlier program made gets what it lacks, and nothing is looked through")
  func upgrade() throws {
    let store = try store()
    try store.bySQL(
      """
      DROP TABLE cascade_plan_rows; DROP TABLE cascade_plan_used; DROP TABLE cascade_hold_window;
      DROP TABLE cascade_given_up; ALTER TABLE cascade_candidate DROP COLUMN plan;
      ALTER TABLE cascade_plan DROP COLUMN owns; ALTER TABLE cascade_plan DROP COLUMN by_collection;
      ALTER TABLE cascade_plan DROP COLUMN spent; ALTER TABLE cascade_plan DROP COLUMN is_open;
      ALTER TABLE cascade_plan DROP COLUMN own_end; ALTER TABLE cascade_plan DROP COLUMN ended;
      ALTER TABLE cascade_plan DROP COLUMN given_up;
      INSERT INTO cascade_plan(plan, id, file, checksum, deleted) VALUES(7, '', '/cascade', 7, 30);
      INSERT INTO cascade_meta VALUES('last_plan', 7);
      DELETE FROM artist WHERE id = 1; UPDATE cascade_meta SET value = 12 WHERE name = 'version';
      """)
    try store.reopen()
    #expect(try store.writer.rescanReason == nil)
    let held = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(held.plan == 8 && held.heldCount == 60)
    _ = try store.writer.approve(plan: 8)
    #expect(try store.writer.sweep([.cascade, .refcount], at: 2).deletedCount == 60)
    #expect(try store.writer.heldSweeps.isEmpty)
  }
}
