package import CascadeModel
package import CascadeStore
package import SQLiteTables
internal import SQLiteJournal

extension SweepRun {
  /// How the run ended and why it ran, as one number for `MetaKey.sweepOutcome`: the positions in
  /// `outcomes` and in `StartReason.allCases`, the latter in the lower four bits.
  var code: Int64 {
    let outcome = SweepRun.outcomes.firstIndex(of: outcome)!
    let reason = StartReason.allCases.firstIndex(of: occasion)!
    return Int64(outcome << SweepRun.reasonBits | reason)
  }

  /// Nil for a code that this version does not know: a newer Cascade may have written it.
  init?(at: Int64, code: Int64) {
    let (outcome, reason) = (
      Int(code >> SweepRun.reasonBits), Int(code & (1 << SweepRun.reasonBits - 1))
    )
    let reasons = StartReason.allCases
    guard SweepRun.outcomes.indices.contains(outcome), reasons.indices.contains(reason) else {
      return nil
    }
    self.init(at: at, outcome: SweepRun.outcomes[outcome], occasion: reasons[reason])
  }

  private static let reasonBits = 4
  private static let outcomes: [SweepResult.Outcome] = [.done, .nothing, .held, .blocked]
}

/// `cascade_meta` has three values for each kind: `MetaKey.sweepScheduledSince`, `lastSweep` and
/// `sweepOutcome`.
extension Writer {
  /// Kinds that are timed now and were not before count from now on. Kinds that are no longer timed
  /// lose their start.
  package func sweepTimes(timed: [SweepKind], at now: Int64) throws -> [SweepKind: SweepTimes] {
    let times = try storedSweepTimes()
    let changed = SweepKind.allCases.filter { (times[$0]?.since != nil) != timed.contains($0) }
    if changed.isEmpty { return times }
    try group {
      for kind in changed {
        let key = MetaKey.sweepScheduledSince(kind)
        try timed.contains(kind) ? db.setMeta(key, now) : db.deleteMeta(key)
      }
    }
    return try storedSweepTimes()
  }

  package func remember(_ run: SweepRun, of kinds: [SweepKind]) throws {
    try group {
      for kind in kinds {
        try db.setMeta(.lastSweep(kind), run.at)
        try db.setMeta(.sweepOutcome(kind), run.code)
      }
    }
  }

  private func storedSweepTimes() throws -> [SweepKind: SweepTimes] {
    var times: [SweepKind: SweepTimes] = [:]
    for kind in SweepKind.allCases {
      let (at, code) = (try db.meta(.lastSweep(kind)), try db.meta(.sweepOutcome(kind)))
      let last = at.flatMap { at in code.flatMap { SweepRun(at: at, code: $0) } }
      times[kind] = SweepTimes(since: try db.meta(.sweepScheduledSince(kind)), last: last)
    }
    return times
  }
}
