internal import CascadeStore
internal import Synchronization
internal import SystemdService

/// The progress of the current sweep or undo. The writer's thread sets it; other tasks read it or
/// wait for it.
final class ProgressBoard: Sendable {
  private let state = Mutex<WorkProgress?>(nil)
  /// Rings when a sweep turns out to be long. Only one task may wait.
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

  /// Returns when no long sweep is running.
  func waitForEndOfLongSweep() async throws {
    while progress.isLong { try await end.wait() }
  }
}

extension WorkProgress? {
  /// Whether the sweep has more than one step.
  fileprivate var isLong: Bool { self.map { $0.phase == .deleting && $0.done < $0.total } ?? false }
}
