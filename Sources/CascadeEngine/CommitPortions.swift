/// When commits of others are followed, so that a program that commits again and again is not
/// disturbed after each commit.
///
/// 1. A commit that comes after a pause is followed at once.
/// 2. Commits that come shortly after each other are followed together, in the first pause.
/// 3. A commit waits for that for a limited time.
package struct CommitPortions: Sendable {
  /// So long without a commit is a pause.
  package static let pause = Duration.milliseconds(20)
  package static let longestWait = Duration.milliseconds(250)

  /// The last state of the store that was seen, and when it was first seen.
  private var last: (commits: Int64, at: ContinuousClock.Instant)?
  /// Since when commits have waited.
  private var waitingSince: ContinuousClock.Instant?

  package init() {}

  /// How long the commits up to this number have to wait; nil if they are followed now.
  package mutating func wait(
    with commits: Int64, at now: ContinuousClock.Instant = .now
  ) -> Duration? {
    let isNew = last?.commits != commits
    let isAfterPause = last.map { now - $0.at >= CommitPortions.pause } ?? true
    if isNew {
      last = (commits, now)
      if !isAfterPause && waitingSince == nil { waitingSince = now }
    }
    guard let since = waitingSince, let last else { return nil }
    let end = min(last.at + CommitPortions.pause, since + CommitPortions.longestWait)
    if now < end { return end - now }
    waitingSince = nil
    return nil
  }
}
