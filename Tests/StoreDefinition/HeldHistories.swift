internal import CascadeModel
internal import CascadeStore
import Testing

/// Random deletions under a small hold limit: sweeps of random kinds are held, approved, stopped and gone on
/// with, in any order. At the end, when everything is approved, exactly that is gone which goes where nothing
/// is ever held.
package struct HeldHistories {
  package static let runs: UInt64 = Histories.isLong ? 1_000 : 16
  private static let rows = 24

  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  /// Returns whether anything is left for a sweep to examine.
  package func compare(seed: UInt64) throws -> Bool {
    var random = Seeded(seed)
    let rows = HeldHistories.insertions(&random)
    let (held, free) = (try store("deletes: 2, share: 0", rows), try store("share: 1", rows))
    for _ in 1...30 {
      let deletion = HeldHistories.deletion(&random)
      for store in [held, free] { try store.bySQL(deletion) }
      try happen(to: held, &random)
    }
    try settle(held)
    _ = try free.writer.sweep([.all], at: 3)
    for table in HeldHistories.tables {
      let (left, expected) = (try keys(table, held), try keys(table, free))
      #expect(left == expected, "\(table), seed \(seed)")
    }
    #expect(try held.writer.heldSweeps.isEmpty, "seed \(seed)")
    return try held.writer.hasJournal
  }

  // MARK: - What happens

  private func happen(to store: any StoreUnderTest, _ random: inout Seeded) throws {
    let kinds: [[SweepKind]] = [
      [.cascade, .refcount], [.cascade], [.refcount], [.dangling], [.all],
    ]
    if .random(in: 0..<4, using: &random) == 0 {
      let plan = try store.writer.heldSweeps.compactMap(\.plan).randomElement(using: &random)
      if let plan { #expect(try store.writer.approve(plan: plan) != nil) }
    }
    if .random(in: 0..<5, using: &random) == 0 { try store.reopen() }
    if .random(in: 0..<3, using: &random) == 0 {
      store.sweepsInSteps(of: .random(in: 1...3, using: &random))
      try stop(
        store, kinds.randomElement(using: &random)!, after: .random(in: 1...6, using: &random))
    } else if Bool.random(using: &random) {
      _ = try store.writer.sweep(kinds.randomElement(using: &random)!, at: 1)
    }
  }

  /// Ends a sweep behind so many steps, as a crash would.
  private func stop(
    _ store: any StoreUnderTest, _ kinds: [SweepKind], after steps: Int
  ) throws {
    var count = 0
    let manners = StepPolicy { _ in
      count += 1
      if count == steps { throw CancellationError() }
    }
    do {
      _ = try store.writer.sweep(kinds, at: 1, manners: manners)
    } catch is CancellationError {
      try store.reopen()
    }
  }

  private func settle(_ store: any StoreUnderTest) throws {
    for _ in 1...20 {
      for plan in try store.writer.heldSweeps.compactMap(\.plan) {
        #expect(try store.writer.approve(plan: plan) != nil)
      }
      let result = try store.writer.sweep([.all], at: 2)
      if result.deletedCount == 0 && result.outcome == .nothing { return }
    }
    Issue.record("there is always more to do")
  }

  private func keys(_ table: String, _ store: any StoreUnderTest) throws -> [String] {
    let key = table == "st" ? "song * 100 + tag" : "id"
    return try store.texts("SELECT CAST(\(key) AS TEXT) FROM \(table) ORDER BY \(key)")
  }

  // MARK: - The store

  private static let tables = ["artist", "cover", "label", "song", "tag", "st"]

  private func store(_ hold: String, _ rows: String) throws -> any StoreUnderTest {
    let store = try engine.makeStore(
      model: StoreModel(
        """
        { limits: { hold: { \(hold) } },
          collections: { artists: { table: 'artist', key: 'id' }, covers: { table: 'cover', key: 'id' },
            labels: { table: 'label', key: 'id' }, songs: { table: 'song', key: 'id' },
            tags: { table: 'tag', key: 'id' } },
          relationships: [
            { name: 'artist', from: 'songs', to: 'artists', column: 'artist',
              rules: ['deleteSourceIfDestinationDeleted', 'deleteDestinationIfAllSourcesDeleted'] },
            { name: 'cover', from: 'songs', to: 'covers', column: 'cover',
              rules: ['deleteDestinationIfAllSourcesDeleted'] },
            { name: 'label', from: 'songs', to: 'labels', column: 'label',
              rules: ['deleteDestinationIfSourceDeleted'] },
            { name: 'of', from: 'covers', to: 'artists', column: 'artist',
              rules: ['nullifySourceIfDestinationDeleted'] },
            { name: 'by', from: 'artists', to: 'labels', column: 'label',
              rules: ['deleteSourceIfAllDestinationsDeleted'] },
            { name: 'tags', from: 'songs', to: 'tags',
              join: { table: 'st', source: 'song', destination: 'tag' }, toMany: true,
              rules: ['deleteDestinationIfAllSourcesDeleted'] }] }
        """),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY, label INTEGER);
        CREATE TABLE cover(id INTEGER PRIMARY KEY, artist INTEGER);
        CREATE TABLE label(id INTEGER PRIMARY KEY); CREATE TABLE tag(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, artist INTEGER, cover INTEGER, label INTEGER);
        CREATE TABLE st(song INTEGER, tag INTEGER);
        CREATE INDEX by_label ON artist(label); CREATE INDEX by_of ON cover(artist);
        CREATE INDEX by_artist ON song(artist); CREATE INDEX by_cover ON song(cover);
        CREATE INDEX of_label ON song(label); CREATE INDEX st_song ON st(song);
        CREATE INDEX st_tag ON st(tag);
        \(rows)
        """)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  private static func insertions(_ random: inout Seeded) -> String {
    var rows = ""
    for id in 1...HeldHistories.rows {
      let ends = (1...6).map { _ in Int.random(in: 1...HeldHistories.rows, using: &random) }
      rows += """
        INSERT INTO label VALUES(\(id)); INSERT INTO tag VALUES(\(id));
        INSERT INTO artist VALUES(\(id), \(ends[0])); INSERT INTO cover VALUES(\(id), \(ends[1]));
        INSERT INTO song VALUES(\(id), \(ends[2]), \(ends[3]), \(ends[4]));
        INSERT INTO st VALUES(\(id), \(ends[5]));\n
        """
    }
    return rows
  }

  private static func deletion(_ random: inout Seeded) -> String {
    let table = tables.randomElement(using: &random)!
    let id = Int.random(in: 1...rows, using: &random)
    return "DELETE FROM \(table) WHERE \(table == "st" ? "song" : "id") = \(id)"
  }
}
