import Synchronization
import CascadeSystem

/// A thread for tests that block while they wait for other processes: those that run beside them
/// keep theirs.
@globalActor
actor Worker {
  static let shared = Worker()

  private nonisolated let thread = WorkerThread(name: "tests", stackSize: 8 << 20)
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }
}

/// A limit that was reached.
struct TooLate: Error, CustomStringConvertible {
  let description: String
}

/// So much of a time that is left.
struct Deadline {
  private let end: ContinuousClock.Instant

  init(_ limit: Duration) { end = .now + limit }

  var isOver: Bool { milliseconds <= 0 }

  /// How long to wait before a condition is looked at again: longer than the look took, so that it
  /// leaves the processor to what it waits for.
  static func pause(afterLookSince start: ContinuousClock.Instant) -> Duration {
    max(.milliseconds(3), (ContinuousClock.now - start) * 3)
  }

  var milliseconds: Int {
    let left = (end - .now).components
    return Int(left.seconds) * 1_000 + Int(left.attoseconds / 1_000_000_000_000_000)
  }
}
