internal import Store
internal import Synchronization
internal import CascadeSystem
/// How far the sweep or the undo at hand is: written by the writer's thread, read by those who wait
/// for it.
final class ProgressBoard: Sendable {
  private let state = Mutex<WorkProgress?>(nil)
  /// A sweep turned out to be a long one. For one who waits.
  let begin = Bell()
  private let end = Bell()

  var progress: WorkProgress? { state.withLock { $0 } }

  func set(_ progress: WorkProgress?) {
    let wasLong = state.withLock { state in
      defer { state = progress }
      return state.isLong
    }
    if progress.isLong && !wasLong { begin.ring() }
    if !progress.isLong && wasLong { end.ring() }
  }

  /// Returns when there is none, or a short one.
  func waitForEndOfLongSweep() async throws {
    while progress.isLong { try await end.wait() }
  }
}

extension WorkProgress? {
  /// Whether there is more than one step.
  fileprivate var isLong: Bool { self.map { $0.phase == .deleting && $0.done < $0.total } ?? false }
}
