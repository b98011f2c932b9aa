internal import CascadeModel
internal import Store
internal import CascadeSystem
/// Sweeps that run by the clock, and those that look through everything after others committed.
extension StoreService {
  /// Whether anything may run by itself.
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
      if !timetable.isKnown { try await knowTimetable() }
      let now = SystemClock.wall()
      timetable.look(at: now)
      guard let due = timetable.takeDue(at: now) else { break }
      _ = try await sweep(due.kinds, because: due.occasion)
    }
    timetable.trouble = nil
  }

  /// What earlier daemons ran, so that what was missed since then runs now.
  func knowTimetable() async throws {
    let timed = timetable.timed
    let times = try await onStore { try await writer.sweepTimes(timed: timed) }
    timetable.know(times, at: SystemClock.wall())
  }

  /// It stays due, and is tried again.
  private func postpone(_ error: any Error, _ backoff: inout Backoff) async {
    // What was under way when it was detached or paused needs no second try.
    if !mayRunBySchedule { return }
    let text = "\(error)"
    if text != timetable.trouble && text != condition.trouble {
      tell(.warning, .trouble, "no sweep by schedule: \(text); trying again", [(.reason, text)])
    }
    timetable.trouble = text
    timetable.wake(at: SystemClock.wall())
    try? await EventLoop.sleep(for: backoff.next())
  }

  /// The store is another one, or was taken up again; the clock may have been set.
  func lookAtTimetable(forgetting: Bool = false) {
    if forgetting { timetable.forget() }
    scheduleTimer.ring()
  }

  /// For sweeps that look through everything once somebody committed.
  func noteCommit() {
    if !timetable.waitsForCommits { return }
    timetable.wake(at: SystemClock.wall())
    scheduleTimer.ring()
  }

  /// Where it cannot be written down, the next start runs it once more.
  func remember(_ run: SweepRun, of kinds: [SweepKind]) async {
    if timetable.isWorthKeeping(run, of: kinds) { try? await writer.remember(run, of: kinds) }
  }
}
