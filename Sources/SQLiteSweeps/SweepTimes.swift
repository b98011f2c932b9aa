package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
package import SQLiteTables
internal import SQLiteJournal

/// One run of a kind of sweep.
package struct SweepRun: Hashable, Sendable {
  /// The reason for the run.
  package enum StartReason: String, Sendable, CaseIterable {
    /// Its time came; or had come earlier, when no daemon ran it.
    case schedule, missed
    /// Something was committed.
    case immediate
    /// It was requested; or its plan was approved.
    case asked, approved
    /// An earlier daemon had begun it.
    case resumed
  }

  /// When it ended, in milliseconds since 1970.
  package let at: Int64
  package let outcome: SweepResult.Outcome
  package let occasion: StartReason

  package init(at: Int64, outcome: SweepResult.Outcome, occasion: StartReason) {
    self.at = at
    self.outcome = outcome
    self.occasion = occasion
  }
}

/// What a store remembers of a kind of sweep, from one daemon to the next.
package struct SweepTimes: Sendable {
  /// When it began to run by the clock, in milliseconds since 1970.
  package let since: Int64?
  package let last: SweepRun?
}

/// `cascade_meta` has three values for each kind: `since.KIND`; `ran.KIND`, when it last ran; and
/// `how.KIND`, how that run ended and why it ran.
extension Writer {
  private static let outcomes: [SweepResult.Outcome] = [.done, .nothing, .held, .blocked]

  /// Kinds that are timed now and were not before count from now on. Kinds that are no longer timed
  /// lose their start.
  package func sweepTimes(timed: [SweepKind], at now: Int64) throws -> [SweepKind: SweepTimes] {
    let times = try storedSweepTimes()
    let changed = SweepKind.allCases.filter { (times[$0]?.since != nil) != timed.contains($0) }
    if changed.isEmpty { return times }
    try group {
      for kind in changed where timed.contains(kind) { try db.setMeta(kind.since, now) }
      for kind in changed where !timed.contains(kind) {
        try db.run("DELETE FROM cascade_meta WHERE name = ?", .text(kind.since))
      }
    }
    return try storedSweepTimes()
  }

  package func remember(_ run: SweepRun, of kinds: [SweepKind]) throws {
    let outcome = Writer.outcomes.firstIndex(of: run.outcome)!
    let occasion = SweepRun.StartReason.allCases.firstIndex(of: run.occasion)!
    try group {
      for kind in kinds {
        try db.setMeta(kind.ran, run.at)
        try db.setMeta(kind.how, Int64(outcome << 4 | occasion))
      }
    }
  }

  private func storedSweepTimes() throws -> [SweepKind: SweepTimes] {
    var times: [SweepKind: SweepTimes] = [:]
    for kind in SweepKind.allCases {
      times[kind] = SweepTimes(since: try db.meta(kind.since), last: try lastRun(of: kind))
    }
    return times
  }

  private func lastRun(of kind: SweepKind) throws -> SweepRun? {
    guard let at = try db.meta(kind.ran), let how = try db.meta(kind.how) else { return nil }
    let (outcome, occasion) = (Int(how >> 4), Int(how & 15))
    let occasions = SweepRun.StartReason.allCases
    // A newer Cascade may know more of them.
    guard Writer.outcomes.indices.contains(outcome), occasions.indices.contains(occasion) else {
      return nil
    }
    return SweepRun(at: at, outcome: Writer.outcomes[outcome], occasion: occasions[occasion])
  }
}

extension SweepKind {
  fileprivate var since: String { "since.\(rawValue)" }
  fileprivate var ran: String { "ran.\(rawValue)" }
  fileprivate var how: String { "how.\(rawValue)" }
}
