internal import CascadeModel
internal import CascadeStore
import Testing

/// Random deletions under a small hold limit: sweeps of random kinds are held, approved, stopped and gone on
/// with, in any order. At the end, when everything is approved, exactly that is gone which goes where nothing
/// is ever held.
package struct HeldHistories {
  package static let runs: UInt64 = Histories.isLong ? 1_000 : 16

  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  /// Returns whether anything is left for a sweep to examine.
  package func compare(seed: UInt64) throws -> Bool {
    var random = Seeded(seed)
    let rows = RandomMusic.insertions(&random)
    let held = try RandomMusic.store(engine, "deletes: 2, share: 0", rows)
    let free = try RandomMusic.store(engine, "share: 1", rows)
    for _ in 1...30 {
      let deletion = RandomMusic.deletion(&random)
      for store in [held, free] { try store.bySQL(deletion) }
      try happen(to: held, &random)
    }
    try settle(held)
    _ = try free.writer.sweep([.all], at: 3)
    for table in RandomMusic.tables {
      let (left, expected) = (try RandomMusic.keys(table, held), try RandomMusic.keys(table, free))
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
      let kinds = kinds.randomElement(using: &random)!
      _ = try store.stopping(after: .random(in: 1...6, using: &random)) {
        try store.writer.sweep(kinds, at: 1, manners: $0)
      }
    } else if Bool.random(using: &random) {
      _ = try store.writer.sweep(kinds.randomElement(using: &random)!, at: 1)
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
}
