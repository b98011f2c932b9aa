internal import CascadeSQLite

/// How long a sweep waits for the transactions of other processes.
///
/// A transaction that begins by reading, and then writes, fails at once if another connection has
/// committed in between, or has the write lock just then. A busy timeout does not help.
///
/// 1. Each transaction of a sweep begins at a moment when no other process is in one. The sweep
///    waits for that for at most `limits.patience`.
/// 2. A process that stays in a transaction for longer is not waited for again until it has ended
///    it.
/// 3. A small sweep reads before it takes the lock, as long as there is time for that. If others
///    commit meanwhile, it begins again a little later.
/// 4. It also does so if another process begins a transaction before the sweep's commit.
/// 5. In total, a sweep spends no more time on this than on its work, plus `limits.patience`. So
///    programs of which one always reads cannot delay it without end.
package final class Patience {
  private let limit: Duration
  private var outlasting: Set<OtherConnections.ReadLock> = []
  private var sweep: Sweep?

  private struct Sweep {
    let pause: (Duration) throws -> Void
    let start = ContinuousClock.now
    /// Waiting for others, and work that was in vain because of them.
    var lost = Duration.zero
    var lastLook = ContinuousClock.now
    var nextPause = Duration.milliseconds(1)
  }

  init(_ limit: Duration) { self.limit = limit }

  /// Begins a sweep. It waits by calling `pause`.
  package func start(pausing pause: @escaping (Duration) throws -> Void) {
    sweep = limit > .zero ? Sweep(pause: pause) : nil
  }

  package func stop() { sweep = nil }

  /// Calls `begin`, which takes the write lock. If another process begins a transaction just before
  /// that, `undo` releases the lock.
  package func begin(at path: String, _ begin: () throws -> Void, undo: () -> Void) throws {
    guard let sweep else { return try begin() }
    let start = ContinuousClock.now
    defer { self.sweep?.lost += ContinuousClock.now - start }
    while try wait(at: path, until: start + min(limit, left), sweep.pause) {
      try begin()
      if open(at: path).isEmpty { return }
      undo()
    }
    try begin()
  }

  /// Whether a sweep may make an attempt that others' commits may bring to nothing.
  package var isLeft: Bool { left > .zero }

  /// Leaves others some time before the next attempt, and more each time.
  package func pauseBeforeNextAttempt() throws {
    guard let sweep else { return }
    self.sweep?.nextPause = min(sweep.nextPause * 2, .milliseconds(16))
    try sweep.pause(sweep.nextPause)
  }

  /// Whether the sweep should release the lock, and begin again, because another process is in a
  /// transaction that would fail. It looks every quarter of a millisecond, or `now`.
  package func shouldYield(at path: String, now: Bool) -> Bool {
    guard let sweep, left > .zero else { return false }
    let time = ContinuousClock.now
    if !now && time - sweep.lastLook < .microseconds(250) { return false }
    self.sweep?.lastLook = time
    return !open(at: path).isEmpty
  }

  /// Where an attempt begins.
  package struct Mark {
    fileprivate let time = ContinuousClock.now
    fileprivate let lost: Duration
  }

  package var mark: Mark { Mark(lost: sweep?.lost ?? .zero) }

  /// Notes that all the time since then was in vain, also that without the lock.
  package func noteLost(since mark: Mark) { sweep?.lost = mark.lost + (.now - mark.time) }

  /// How long the sweep may still wait.
  private var left: Duration {
    guard let sweep else { return .zero }
    let worked: Duration = ContinuousClock.now - sweep.start - sweep.lost
    return limit + worked - sweep.lost
  }

  /// Waits until no other process is in a transaction. False if that takes too long.
  private func wait(
    at path: String, until end: ContinuousClock.Instant, _ pause: (Duration) throws -> Void
  ) throws -> Bool {
    while true {
      let open = open(at: path)
      if open.isEmpty { return true }
      if .now > end {
        outlasting.formUnion(open)
        return false
      }
      try pause(.microseconds(200))
    }
  }

  /// The transactions that are waited for.
  private func open(at path: String) -> Set<OtherConnections.ReadLock> {
    let all = OtherConnections.transactions(at: path)
    outlasting.formIntersection(all)
    return all.subtracting(outlasting)
  }
}
