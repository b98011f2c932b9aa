internal import CascadeStore
internal import CascadeModel
internal import CascadeSystem
internal import SystemdService

/// Sweeps that run at certain times, and sweeps that scan everything after other connections
/// committed.
extension StoreService {
  /// Whether sweeps may run automatically.
  private var mayRunBySchedule: Bool { isServed && !condition.isAtRest }

  var schedules: JSON {
    timetable.json(isPaused: !mayRunBySchedule, at: SystemClock.wall())
  }

  func followTimetable() async {
    var backoff = Backoff()
    while !Task.isCancelled {
      do {
        try await runWhatIsDue()
        backoff = Backoff()
        try await scheduleTimer.wait(until: mayRunBySchedule ? timetable.soonest : nil)
      } catch is CancellationError {
        return
      } catch {
        await postpone(error, &backoff)
      }
    }
  }

  private func runWhatIsDue() async throws {
    while mayRunBySchedule && !Task.isCancelled {
      if !timetable.isKnown { try await loadTimetable() }
      let now = SystemClock.wall()
      timetable.computeNextRuns(at: now)
      guard let due = timetable.takeDue(at: now) else { break }
      _ = try await sweep(due.kinds, because: due.occasion)
    }
    timetable.trouble = nil
  }

  /// Reads the runs of earlier daemons, so that a missed run is done now.
  func loadTimetable() async throws {
    let timed = timetable.timed
    let times = try await onStore { try await writer.sweepTimes(timed: timed) }
    timetable.load(times, at: SystemClock.wall())
  }

  /// Delays a run that failed. It stays due and is tried again.
  private func postpone(_ error: any Error, _ backoff: inout Backoff) async {
    // Work that a detachment or a pause stopped is not tried again.
    if !mayRunBySchedule { return }
    let text = "\(error)"
    if text != timetable.trouble && text != condition.trouble && !(error is StoreAway) {
      tell(
        .warning, .trouble, "the scheduled sweep failed: \(text); trying again", [(.reason, text)])
    }
    timetable.trouble = text
    timetable.wake(at: SystemClock.wall())
    try? await EventLoop.sleep(for: backoff.next())
  }

  /// Computes the next runs again. With `forgetting`, the store's file was replaced or attached
  /// again, so the recorded runs are read again. The clock may also have been set.
  func refreshTimetable(forgetting: Bool = false) {
    if forgetting { timetable.forget() }
    scheduleTimer.ring()
  }

  /// Makes sweeps due that scan everything after a commit.
  func noteCommit() {
    if !timetable.waitsForCommits { return }
    timetable.wake(at: SystemClock.wall())
    scheduleTimer.ring()
  }

  /// Records a run in the store. If that fails, the next start runs the sweep once more.
  func remember(_ run: SweepRun, of kinds: [SweepKind]) async {
    if timetable.isWorthKeeping(run, of: kinds) { try? await writer.remember(run, of: kinds) }
  }
}
