internal import CascadeStore

/// How long commits of others wait until a sweep has dealt with them, where sweeps follow commits.
///
/// It counts from when the commit was first seen. One that leaves nothing to sweep does not count. A sweep that
/// others cut short goes on later, and the commit waits until that ends. What is held for an approval is dealt
/// with.
struct SweepDelays {
  private var since: ContinuousClock.Instant?
  private var ended: [Duration] = []

  mutating func noteCommit(seen time: ContinuousClock.Instant) { since = since ?? time }

  /// What was seen was examined, by these sweeps.
  mutating func noteReview(_ sweeps: [SweepResult]) {
    if sweeps.isEmpty { since = nil } else { noteSweep(sweeps) }
  }

  mutating func noteSweep(_ sweeps: [SweepResult]) {
    guard let time = since, !sweeps.contains(where: \.isCutShort) else { return }
    ended.append(.now - time)
    since = nil
  }

  /// Those that ended since the last call.
  mutating func take() -> [Duration] {
    defer { ended = [] }
    return ended
  }
}
