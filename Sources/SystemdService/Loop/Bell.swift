internal import Synchronization

/// Wakes one waiting task. Any thread may ring. A ring without a waiting task is kept for the next
/// wait, so that no ring is missed between two waits. Several rings may become one.
package final class Bell: Sendable {
  private enum State {
    case quiet
    case rung
    case waiting(CheckedContinuation<Void, any Error>)
  }
  private let state = Mutex(State.quiet)

  package init() {}

  package func ring() {
    takeWaiter(leaving: .rung)?.resume()
  }

  /// Returns after a ring. Throws `CancellationError` if the task is cancelled before that.
  package func wait() async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { begin($0) }
    } onCancel: {
      takeWaiter(leaving: nil)?.resume(throwing: CancellationError())
    }
  }

  /// Reads the cancellation flag of the task under the lock. A cancellation before that has set the
  /// flag already, even though it found no continuation. A cancellation after that finds the
  /// continuation.
  private func begin(_ continuation: CheckedContinuation<Void, any Error>) {
    let result: Result<Void, any Error>? = state.withLock { state in
      if Task.isCancelled { return .failure(CancellationError()) }
      switch state {
      case .rung:
        state = .quiet
        return .success(())
      case .quiet:
        state = .waiting(continuation)
        return nil
      case .waiting:
        preconditionFailure("two tasks wait for one bell")
      }
    }
    if let result { continuation.resume(with: result) }
  }

  private func takeWaiter(leaving rest: State?) -> CheckedContinuation<Void, any Error>? {
    state.withLock { state in
      if case .waiting(let continuation) = state {
        state = .quiet
        return continuation
      }
      if let rest { state = rest }
      return nil
    }
  }
}
