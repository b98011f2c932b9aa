internal import CascadeModel
internal import CascadeStore
import Testing

/// Random deletions by applications, sweeps and jobs while protections come and go. Nothing goes that is
/// protected, nor what would surely go with it. At the end, without protections, exactly that is gone which
/// goes by the deletions that were not refused.
package final class ProtectedHistories {
  package static let seeds = Histories.seeds(quick: 16, long: 1_000)

  private let (guarded, free): (any StoreUnderTest, any StoreUnderTest)
  private var (random, seed): (Seeded, UInt64)
  /// The rows that each protected node keeps.
  private var kept: [Node: Set<String>] = [:]
  private var number = 0

  package init(_ engine: any EngineUnderTest, seed: UInt64) throws {
    (random, self.seed) = (Seeded(seed), seed)
    let rows = RandomMusic.insertions(&random)
    guarded = try RandomMusic.store(engine, "share: 1", rows)
    free = try RandomMusic.store(engine, "share: 1", rows)
  }

  package func compare() throws {
    for _ in 1...40 {
      try happen()
      try expectKept()
    }
    for node in kept.keys { _ = try guarded.writer.unprotect(node, by: "me", at: 3) }
    for store in [guarded, free] { try settle(store) }
    for table in RandomMusic.tables {
      let left = try RandomMusic.keys(table, guarded)
      #expect(try left == RandomMusic.keys(table, free), "\(table), seed \(seed)")
    }
  }

  // MARK: - What happens

  private func happen() throws {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: try protect()
    case 1: try unprotect()
    case 2: try deleteByJob()
    case 3: try guarded.reopen()
    case 4: _ = try guarded.writer.reviewProtections(at: 1)
    case 5, 6: try sweep()
    default: try deleteBySQL()
    }
  }

  private func deleteBySQL() throws {
    let deletion = RandomMusic.deletion(&random)
    do { try guarded.bySQL(deletion) } catch {
      #expect("\(error)".contains("protected"), "seed \(seed)")
      return
    }
    try free.bySQL(deletion)
  }

  private func deleteByJob() throws {
    guard let (table, key) = try anyRow() else { return }
    let request = DeletionJob.Request(.nodes([RandomMusic.node(table, key)]), by: "me")
    let job = try guarded.writer.begin(request, at: 1)
    if try carryOut(job).state == .done { try free.bySQL(RandomMusic.deletion(table, key)) }
  }

  /// It may be stopped, as by a crash, and goes on.
  private func carryOut(_ job: Int64) throws -> DeletionJob {
    guarded.sweepsInSteps(of: .random(in: 1...3, using: &random))
    let steps = Int.random(in: 1...6, using: &random)
    return try guarded.stopping(after: steps) {
      try guarded.writer.carryOut(job: job, at: 1, manners: $0)
    }
      ?? guarded.writer.carryOut(job: job, at: 1)
  }

  private func sweep() throws {
    let kinds: [[SweepKind]] = [[.cascade, .refcount], [.cascade], [.refcount], [.all]]
    let kind = kinds.randomElement(using: &random)!
    guarded.sweepsInSteps(of: .random(in: 1...3, using: &random))
    let steps = Int.random(in: 1...6, using: &random)
    _ = try guarded.stopping(after: steps) { try guarded.writer.sweep(kind, at: 1, manners: $0) }
  }

  private func settle(_ store: any StoreUnderTest) throws {
    for _ in 1...20 {
      let result = try store.writer.sweep([.all], at: 4)
      if result.deletedCount == 0 && result.outcome == .nothing { return }
    }
    Issue.record("there is always more to do, seed \(seed)")
  }

  // MARK: - Protections

  private func protect() throws {
    guard let (table, key) = try anyRow() else { return }
    let node = RandomMusic.node(table, key)
    let request = Protection.Request(node, because: "case 1", by: "me", until: nil)
    _ = try guarded.writer.protect(request, at: 1)
    kept[node] = try rowsKept(table, key)
  }

  private func unprotect() throws {
    guard
      let node = kept.keys.sorted(by: { $0.description < $1.description })
        .randomElement(using: &random)
    else { return }
    _ = try guarded.writer.unprotect(node, by: "me", at: 1)
    kept[node] = nil
  }

  private func anyRow() throws -> (table: String, key: String)? {
    let table = RandomMusic.tables.filter { $0 != "st" }.randomElement(using: &random)!
    return try RandomMusic.keys(table, guarded).randomElement(using: &random).map { (table, $0) }
  }

  /// The node, the songs of an artist, and the labels of these or of a song.
  private func rowsKept(_ table: String, _ key: String) throws -> Set<String> {
    let conditions = ["artist": "artist = \(key)", "song": "id = \(key)"]
    let songs = conditions[table] ?? "1 = 0"
    let rows = """
      SELECT 'song ' || id FROM song WHERE \(songs)
      UNION ALL SELECT 'label ' || id FROM label WHERE id IN (SELECT label FROM song WHERE \(songs))
      """
    let followers = try guarded.texts(rows)
    return Set(followers + ["\(table) \(key)"])
  }

  private func expectKept() throws {
    for (node, rows) in kept {
      let left = try guarded.texts(
        ["artist", "cover", "label", "song", "tag"].map { "SELECT '\($0) ' || id FROM \($0)" }
          .joined(separator: " UNION ALL "))
      #expect(rows.isSubset(of: left), "\(node), seed \(seed)")
    }
  }
}
