internal import CascadeModel
internal import Store
internal import CascadeSystem
/// When the sweeps of a store run by themselves (DESIGN 8.2), and when they last ran. It is told what
/// time it is.
///
/// 1. A kind's next run is the first one behind its last, whoever asked for that; or behind the time
///    when it was first served. So what was missed is one run, however much it was.
/// 2. Where the clock is set back, nothing named by the time of day runs again, unless the clock was
///    wrong by hours. An interval begins anew.
struct Timetable {
  private(set) var entries: [TimetableEntry]
  /// What the store remembers was read.
  private(set) var isKnown = false
  /// Why what is due did not run.
  var trouble: String?

  init(_ configuration: StoreConfiguration) {
    let place = "\(Machine.identity)\0\(configuration.path)"
    entries = SweepKind.allCases.map { TimetableEntry($0, configuration.model, place: place) }
  }

  var timed: [SweepKind] { entries.filter(\.schedule.isTimed).map(\.kind) }

  /// Another file may remember other runs.
  mutating func forget() { isKnown = false }

  mutating func know(_ times: [SweepKind: SweepTimes], at now: Int64) {
    for index in entries.indices {
      entries[index].know(times[entries[index].kind], at: now)
    }
    isKnown = true
    look(at: now)
  }

  /// Whatever became of the clock, or of the time zone.
  mutating func look(at now: Int64) {
    LocalTime.refresh()
    for index in entries.indices { entries[index].look(at: now) }
  }

  /// Somebody committed.
  mutating func wake(at now: Int64) {
    for index in entries.indices where entries[index].waitsForCommits {
      entries[index].wanted = entries[index].wanted ?? now
    }
    look(at: now)
  }

  var waitsForCommits: Bool { entries.contains(where: \.waitsForCommits) }

  /// What was done, and how long it took.
  mutating func note(_ run: SweepRun, of kinds: [SweepKind], number: Int64, took time: Duration) {
    for index in entries.indices where kinds.include(entries[index].kind) {
      entries[index].note(run, number: number, took: time)
    }
    look(at: run.at)
  }

  var soonest: Int64? { entries.compactMap(\.next).min() }

  /// Takes what is to run now, in one sweep. What was missed goes first.
  mutating func takeDue(at now: Int64) -> (kinds: [SweepKind], occasion: SweepRun.Occasion)? {
    for occasion in [SweepRun.Occasion.missed, .schedule, .immediate] {
      let due = entries.indices.filter { entries[$0].occasion(at: now) == occasion }
      for index in due { entries[index].begin() }
      if !due.isEmpty { return (due.map { entries[$0].kind }, occasion) }
    }
    return nil
  }

  /// Whether the next daemon must know: what did nothing is told once a minute at most.
  mutating func isWorthKeeping(_ run: SweepRun, of kinds: [SweepKind]) -> Bool {
    if run.occasion == .immediate { return false }
    let indices = entries.indices.filter { kinds.include(entries[$0].kind) }
    if run.outcome == .nothing && !indices.contains(where: { entries[$0].isKeptBefore(run) }) {
      return false
    }
    for index in indices { entries[index].kept = run.at }
    return true
  }
}
