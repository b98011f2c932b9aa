package import CascadeModel

/// How long the write lock may be held, depending on whether other connections write too, and how
/// much work fits into that time.
package struct Pace: Sendable {
  private let limits: StoreModel.Limits
  private var foreignCommits: Int64?
  private var lastForeign: ContinuousClock.Instant?
  /// Rows that a sweep deletes in a millisecond, estimated from its last steps.
  private var rate = Pace.firstRate
  private static let firstRate = 10.0
  /// A fixed size of steps, whatever time they take.
  package var rowsToAStep: Int64?
  /// Frames up to which the log grows in a large sweep: 400 MB of 4 KB pages.
  package var mostFrames = 100_000
  /// Bytes that the next step may add to the log, and that a row adds, estimated from the last steps.
  package var roomInLog = Int64.max
  private var bytesPerRow: Int64 = 16_384
  /// The time of a commit, relative to that of the work before it.
  private var commitShare = 1.0

  package init(_ limits: StoreModel.Limits) { self.limits = limits }

  package mutating func noteForeignCommits(foreignCommits count: Int64) {
    if let foreignCommits, foreignCommits != count { lastForeign = .now }
    foreignCommits = count
  }

  /// Whether no other connection has committed since the last call of `look`.
  package func hasSeen(_ count: Int64?) -> Bool { count != nil && count == foreignCommits }

  package var isAlone: Bool {
    lastForeign.map { ContinuousClock.now - $0 > .seconds(1) } ?? true
  }

  /// How long the lock may be held. Without a limit, a group ends by the number of its files.
  package var budget: Duration {
    guard let lock = limits.lock else { return .seconds(1) }
    return isAlone ? max(lock, limits.uncontendedLock) : lock
  }

  /// How long the lock stays free. SQLite's busy handler sleeps up to 25 ms: a waiting connection
  /// would miss a shorter pause.
  package var pause: Duration? { isAlone || limits.lock == nil ? nil : .milliseconds(25) }
}

// MARK: - Steps of a sweep

extension Pace {
  /// Rows of a step that is expected to end within the budget, with some reserve.
  package var rows: Int64 {
    rowsToAStep ?? min(rowsInLog, Int64(max(Double(Pace.fewestRows), rate * targetMilliseconds)))
  }

  /// Rows for which the log has room.
  private var rowsInLog: Int64 { max(Pace.fewestRows, roomInLog / bytesPerRow) }

  package mutating func noteLog(rows: Int64, bytes: Int64) {
    if rows > 0 { bytesPerRow = max(1, bytes / rows, bytesPerRow * 3 / 4) }
  }

  /// After this many rows a step looks at the clock. Fewer are not worth their statements.
  package var rowsAtOnce: Int64 { rowsToAStep ?? max(min(rows, 32), rows / 8) }

  /// Whether a step that deleted `rows` rows has time to delete `more`. Its commit has yet to write
  /// what they changed, and that counts.
  package func hasTime(worked: Duration, rows: Int64, more: Int64) -> Bool {
    rowsToAStep == nil && more <= fitting(behind: rows, worked)
  }

  /// How many rows such a step deletes next: half of what it has time for, since they may take
  /// longer. 0 if so few are not worth their statements.
  package func nextPortion(behind rows: Int64, worked: Duration) -> Int64 {
    if rowsToAStep != nil { return 0 }
    let fitting = fitting(behind: rows, worked)
    return fitting < Pace.fewestRows ? 0 : max(Pace.fewestRows, fitting / 2)
  }

  private static let fewestRows: Int64 = 16

  private func fitting(behind rows: Int64, _ worked: Duration) -> Int64 {
    let soFar = worked / .milliseconds(1) * (1 + commitShare)
    let inTime = Int64(max(0, targetMilliseconds - soFar) * Double(rows) / max(soFar, 0.001))
    return min(inTime, max(0, rowsInLog - rows))
  }

  /// How long a step is expected to take, in milliseconds. A step that ends just before a waiting
  /// connection tries again lets that connection have the lock so much earlier.
  private var targetMilliseconds: Double {
    let most = budget / .milliseconds(1)
    let nextTry = Pace.busyRetryTimes.last { $0 <= most && $0 > most * 0.75 }
    return (isAlone ? most : nextTry ?? most) * 0.85
  }

  /// Milliseconds of waiting after which SQLite's busy handler tries again.
  private static let busyRetryTimes = [0.0, 1, 3, 8, 18, 33, 53, 78, 103, 128, 178, 228, 328]

  /// Forgets a high rate: what comes next may take longer than what was done so far.
  package mutating func lowerRate() { rate = min(rate, Pace.firstRate) }

  package mutating func note(rows: Int64, worked: Duration, held: Duration) {
    if rows == 0 { return }
    rate.follow(Double(rows), held)
    let share = (held - worked) / max(worked, .microseconds(1))
    commitShare = max(share, (commitShare + share) / 2)
  }

  /// How long to leave the lock free after it was held. Within the lower bound, a connection that
  /// began to wait while the lock was held tries once again, if all goes well. The upper bound is
  /// for when no other connection has committed: one may have missed the lock, and sleeps longer
  /// now.
  package func yieldDuration(behind held: Duration) -> ClosedRange<Duration> {
    if limits.lock == nil { return .zero ... .zero }
    let last = Pace.busyRetryTimes.count - 1
    let next = Pace.busyRetryTimes.firstIndex { .milliseconds($0) >= held } ?? last - 1
    let waits = [next, min(next + 1, last)].map {
      Pace.busyRetryTimes[$0] - Pace.busyRetryTimes[max(0, $0 - 1)] + 0.5
    }
    return .milliseconds(waits[0]) ... .milliseconds(max(waits[0], waits[1]))
  }
}

extension Double {
  /// Takes over a lower rate at once, and approaches a higher one in the course of some steps.
  fileprivate mutating func follow(_ amount: Double, _ time: Duration) {
    let new = amount / max(time / .milliseconds(1), 0.01)
    self = new < self ? new : min(new, self * 1.5)
  }
}
