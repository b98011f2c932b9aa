internal import CascadeModel

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

  package init(since: Int64?, last: SweepRun?) {
    self.since = since
    self.last = last
  }
}
