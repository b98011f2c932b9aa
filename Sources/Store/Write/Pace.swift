package import CascadeModel
/// How long the write lock may be held, by whether others write too, and how much is done in that
/// time (DESIGN 8.3).
package struct Pace: Sendable {
  private let limits: StoreModel.Limits
  private var foreignCommits: Int64?
  private var lastForeign: ContinuousClock.Instant?
  /// Rows of a sweep that go in a millisecond, as far as the last steps tell.
  private var rate = Pace.firstRate
  private static let firstRate = 10.0
  /// Steps of another size, whatever time they take.
  package var rowsToAStep: Int64?
  /// Frames up to which the log of a large sweep grows: 400 MB of 4 KB pages.
  package var mostFrames = 100_000
  /// How much longer than the work before it a commit takes.
  private var commitShare = 1.0

  package init(_ limits: StoreModel.Limits) { self.limits = limits }

  package mutating func look(foreignCommits count: Int64) {
    if let foreignCommits, foreignCommits != count { lastForeign = .now }
    foreignCommits = count
  }

  /// Whether nobody committed since the last look.
  package func knows(_ count: Int64?) -> Bool { count != nil && count == foreignCommits }

  package var isAlone: Bool {
    lastForeign.map { ContinuousClock.now - $0 > .seconds(1) } ?? true
  }

  /// Without a limit a group ends by the number of its files.
  package var budget: Duration {
    guard let lock = limits.lock else { return .seconds(1) }
    return isAlone ? max(lock, limits.alone) : lock
  }

  /// SQLite's busy handler sleeps up to 25 ms: a shorter pause would be missed by who waits.
  package var pause: Duration? { isAlone || limits.lock == nil ? nil : .milliseconds(25) }
}

// MARK: - Steps of a sweep

extension Pace {
  /// Rows of a step that is expected to end within the budget, with some room for what cannot be
  /// foreseen.
  var rows: Int64 { rowsToAStep ?? Int64(max(Double(Pace.fewestRows), rate * room)) }

  /// Behind so many of them a step looks at the clock; few are not worth their statements.
  var rowsAtOnce: Int64 { rowsToAStep ?? max(min(rows, 32), rows / 8) }

  /// Whether a step that deleted so many rows may delete so many more: what they changed is yet to be
  /// written, at its commit.
  func hasTime(worked: Duration, rows: Int64, more: Int64) -> Bool {
    rowsToAStep == nil && more <= fitting(behind: rows, worked)
  }

  /// How many rows such a step deletes next: half of what it has time for, since they may take longer;
  /// none where so few are not worth their statements.
  func more(behind rows: Int64, worked: Duration) -> Int64 {
    if rowsToAStep != nil { return 0 }
    let fitting = fitting(behind: rows, worked)
    return fitting < Pace.fewestRows ? 0 : max(Pace.fewestRows, fitting / 2)
  }

  private static let fewestRows: Int64 = 16

  private func fitting(behind rows: Int64, _ worked: Duration) -> Int64 {
    let soFar = worked / .milliseconds(1) * (1 + commitShare)
    return Int64(max(0, room - soFar) * Double(rows) / max(soFar, 0.001))
  }

  /// How long a step is expected to take. Where it ends a little earlier, who waits for it
  /// tries again so much earlier.
  private var room: Double {
    let most = budget / .milliseconds(1)
    let nextTry = Pace.tries.last { $0 <= most && $0 > most * 0.75 }
    return (isAlone ? most : nextTry ?? most) * 0.85
  }

  /// Milliseconds behind which SQLite's busy handler tries again.
  private static let tries = [0.0, 1, 3, 8, 18, 33, 53, 78, 103, 128, 178, 228, 328]

  /// What comes now may take longer than what was done so far.
  mutating func forgetRate() { rate = min(rate, Pace.firstRate) }

  mutating func note(rows: Int64, worked: Duration, held: Duration) {
    if rows == 0 { return }
    rate.follow(Double(rows), held)
    let share = (held - worked) / max(worked, .microseconds(1))
    commitShare = max(share, (commitShare + share) / 2)
  }

  /// Who began to wait while the lock was held tries again once within the shorter time, if all goes
  /// well. Where nobody came, somebody may have missed the lock, and sleeps longer now.
  package func breath(behind held: Duration) -> ClosedRange<Duration> {
    if limits.lock == nil { return .zero ... .zero }
    let last = Pace.tries.count - 1
    let next = Pace.tries.firstIndex { .milliseconds($0) >= held } ?? last - 1
    let waits = [next, min(next + 1, last)].map {
      Pace.tries[$0] - Pace.tries[max(0, $0 - 1)] + 0.5
    }
    return .milliseconds(waits[0]) ... .milliseconds(max(waits[0], waits[1]))
  }
}

extension Double {
  /// Down at once, up in the course of some steps.
  fileprivate mutating func follow(_ amount: Double, _ time: Duration) {
    let new = amount / max(time / .milliseconds(1), 0.01)
    self = new < self ? new : min(new, self * 1.5)
  }
}
