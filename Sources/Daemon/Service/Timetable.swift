internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem

/// When the sweeps of a store run automatically, and when they last ran. The caller
/// passes the current time.
///
/// 1. A kind's next run is the first one after its last run, on whatever occasion that was. Without
///    a last run, it is the first one after the kind was first served. So any number of missed runs
///    becomes one run.
/// 2. When the clock is set back, a schedule by the time of day does not run again, unless the
///    clock was wrong by hours. An interval begins anew.
struct Timetable {
  private(set) var entries: [TimetableEntry]
  /// Whether the runs recorded in the store were read.
  private(set) var isKnown = false
  /// Why a due sweep could not run.
  var trouble: String?

  init(_ configuration: StoreConfiguration) {
    let place = "\(Machine.identity)\0\(configuration.path)"
    entries = SweepKind.allCases.map { TimetableEntry($0, configuration.model, place: place) }
  }

  var timed: [SweepKind] { entries.filter(\.schedule.isTimed).map(\.kind) }

  /// The file was replaced; another file may have other runs recorded.
  mutating func forget() { isKnown = false }

  mutating func load(_ times: [SweepKind: SweepTimes], at now: Int64) {
    for index in entries.indices {
      entries[index].know(times[entries[index].kind], at: now)
    }
    isKnown = true
    computeNextRuns(at: now)
  }

  /// Computes the next runs for the current clock and time zone.
  mutating func computeNextRuns(at now: Int64) {
    LocalTime.refresh()
    for index in entries.indices { entries[index].computeNextRun(at: now) }
  }

  /// Another connection committed.
  mutating func wake(at now: Int64) {
    for index in entries.indices where entries[index].waitsForCommits {
      entries[index].firstUnseenCommit = entries[index].firstUnseenCommit ?? now
    }
    computeNextRuns(at: now)
  }

  var waitsForCommits: Bool { entries.contains(where: \.waitsForCommits) }

  /// Notes a run and how long it took.
  mutating func note(_ run: SweepRun, of kinds: [SweepKind], number: Int64, took time: Duration) {
    for index in entries.indices where kinds.include(entries[index].kind) {
      entries[index].note(run, number: number, took: time)
    }
    computeNextRuns(at: run.at)
  }

  /// Since when a kind should have run that did not; nil if there is none. One that runs now is none.
  func overdueSince(at now: Int64) -> Int64? {
    entries.filter { $0.isOverdue(at: now, failing: trouble != nil) }.compactMap(\.next).min()
  }

  var soonest: Int64? { entries.compactMap(\.next).min() }

  /// Takes the kinds that are due, to run in one sweep. Missed runs come first.
  mutating func takeDue(at now: Int64) -> (kinds: [SweepKind], occasion: SweepRun.StartReason)? {
    for occasion in [SweepRun.StartReason.missed, .schedule, .immediate] {
      let due = entries.indices.filter { entries[$0].occasion(at: now) == occasion }
      for index in due { entries[index].begin() }
      if !due.isEmpty { return (due.map { entries[$0].kind }, occasion) }
    }
    return nil
  }

  /// Whether a run must be recorded for the next daemon. A run that did nothing is recorded at most
  /// once a minute.
  mutating func isWorthKeeping(_ run: SweepRun, of kinds: [SweepKind]) -> Bool {
    if run.occasion == .immediate { return false }
    let indices = entries.indices.filter { kinds.include(entries[$0].kind) }
    if run.outcome == .nothing && !indices.contains(where: { entries[$0].isKeptBefore(run) }) {
      return false
    }
    for index in indices { entries[index].lastRecordedTime = run.at }
    return true
  }
}
