internal import CascadeModel
internal import CascadeSystem
internal import CascadeStore

/// One kind of sweep in a timetable. Times are in milliseconds since 1970.
struct TimetableEntry {
  let kind: SweepKind
  let schedule: Schedule
  /// The schedule, as the model writes it.
  let text: String
  /// Derived from the schedule, store and machine. Kinds with the same schedule run together; other
  /// stores and machines run at other seconds.
  private let spread: UInt64
  /// The next run is the first one after this time.
  private var nextIsAfter: Int64 = 0
  private(set) var next: Int64?
  /// The scheduled time of the run that began last.
  private var lastScheduledTime: Int64?
  private(set) var last: SweepRun?
  /// The number of the last run, if this daemon ran it.
  private(set) var number: Int64?
  /// The time of the last run that the store has recorded.
  var lastRecordedTime: Int64?
  /// The time of the first commit since the last run.
  var firstUnseenCommit: Int64?
  /// How long the next run must wait after the last one.
  private var pauseAfterRun: Int64 = 0

  private static let zone = Zone(offset: LocalTime.offset)
  private static let minute: Int64 = 60_000
  /// A clock that is set back by more than this was wrong. Daylight saving changes it by less. It
  /// is the same as in cron.
  private static let mostSetBack = 180 * minute
  /// A burst of commits causes one run.
  private static let calm: Int64 = 1_000
  /// A run that scans everything after commits waits this many times as long as the last one took.
  /// So these runs take at most about a tenth of the time.
  private static let pauseFactor: Int64 = 10

  init(_ kind: SweepKind, _ model: StoreModel, place: String) {
    self.kind = kind
    schedule = model.schedule(of: kind)
    text = model.scheduleText(of: kind)
    spread = Fingerprint("\(place)\0\(text)").value
  }

  /// Whether it scans everything after commits. The other two kinds find their work in the journal
  /// (`CommitReviewer.swift`).
  var waitsForCommits: Bool {
    schedule == .immediate && kind != .cascade && kind != .refcount
  }

  mutating func know(_ times: SweepTimes?, at now: Int64) {
    // Immediate runs are not recorded, so only this daemon's are known.
    let kept = schedule == .immediate ? nil : times?.last
    last = [last, kept].compactMap(\.self).max { $0.at < $1.at }
    nextIsAfter = max(times?.since ?? now, last?.at ?? .min)
    // Other connections may have committed before the daemon started.
    if waitsForCommits { firstUnseenCommit = now }
  }

  mutating func computeNextRun(at now: Int64) {
    if nextIsAfter > now && (schedule.isInterval || nextIsAfter - now > TimetableEntry.mostSetBack)
    {
      nextIsAfter = now
    }
    if waitsForCommits {
      firstUnseenCommit = firstUnseenCommit.map { min($0, now) }
      next = firstUnseenCommit.map { max($0 + TimetableEntry.calm, nextIsAfter + pauseAfterRun) }
    } else {
      next = schedule.next(after: nextIsAfter, spread: spread, in: TimetableEntry.zone)
    }
  }

  /// A run begins. It may not see commits from now on, so a later commit makes it due again.
  mutating func begin() {
    lastScheduledTime = next
    firstUnseenCommit = nil
  }

  mutating func note(_ run: SweepRun, number: Int64, took time: Duration) {
    last = run
    // The clock may have been set back since the run began.
    nextIsAfter =
      schedule.isTimed && !schedule.isInterval
      ? max(nextIsAfter, lastScheduledTime ?? 0, run.at) : run.at
    self.number = number
    pauseAfterRun = time.inMilliseconds * TimetableEntry.pauseFactor
  }

  /// The occasion on which it is due; nil if it is not due.
  func occasion(at now: Int64) -> SweepRun.StartReason? {
    guard let next, next <= now else { return nil }
    if waitsForCommits { return .immediate }
    return now - next > TimetableEntry.minute ? .missed : .schedule
  }

  /// Whether its time passed a while ago. One that failed after it had begun is tried again.
  func isOverdue(at now: Int64, failing: Bool) -> Bool {
    guard let next, now - next > TimetableEntry.minute else { return false }
    return failing || lastScheduledTime != next
  }

  func isKeptBefore(_ run: SweepRun) -> Bool {
    lastRecordedTime.map { !(0..<TimetableEntry.minute ~= run.at - $0) } ?? true
  }
}

extension Timetable {
  /// The form that `status` shows. A paused store has no next runs.
  func json(isPaused: Bool, at now: Int64) -> JSON {
    let unlessNamed: [SweepKind] = [.all, .unreferenced, .expired]
    let shown = entries.filter { !unlessNamed.contains($0.kind) || $0.schedule != .never }
    return .array(shown.map { $0.json(isPaused: isPaused, trouble: trouble != nil, at: now) })
  }
}

extension TimetableEntry {
  fileprivate func json(isPaused: Bool, trouble: Bool, at now: Int64) -> JSON {
    let next = isPaused ? nil : next
    return [
      "kind": .string(kind.rawValue), "schedule": .string(text),
      "next": next.map(JSON.integer) ?? .null,
      "nextWhy": nextWhy(isPaused, trouble, now).map(JSON.string) ?? .null,
      "last": last?.json(number: number) ?? .null,
    ]
  }

  private func nextWhy(_ isPaused: Bool, _ trouble: Bool, _ now: Int64) -> String? {
    if schedule == .never { return nil }
    if isPaused { return "paused" }
    let occasion = occasion(at: now)
    if trouble && occasion != nil { return "trouble" }
    if schedule == .immediate { return "immediate" }
    return occasion == .missed ? "missed" : "schedule"
  }
}

extension SweepRun {
  fileprivate func json(number: Int64?) -> JSON {
    [
      "at": .integer(at), "outcome": .string(outcome.rawValue), "why": .string(occasion.rawValue),
      "sweep": number.map(JSON.integer) ?? .null,
    ]
  }
}
