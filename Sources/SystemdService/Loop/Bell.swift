internal import Synchronization

/// Wakes one waiting task, from any thread. A ring that nobody waits for is kept (once) for the
/// next wait, so that nothing is missed between two waits; many rings may become one.
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

  /// Returns after a ring; throws `CancellationError` when the task is cancelled before.
  package func wait() async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { begin($0) }
    } onCancel: {
      takeWaiter(leaving: nil)?.resume(throwing: CancellationError())
    }
  }

  /// The flag of the task is read under the lock: a cancellation that comes before finds no
  /// continuation but sets the flag first, one that comes after finds the continuation.
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
