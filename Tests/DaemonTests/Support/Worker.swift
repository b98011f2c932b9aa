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

  /// Looks at a condition until it holds. `pause` waits for that time, or returns that the daemon has
  /// ended. The time is longer than the look took, so that looks leave the processor to what they
  /// wait for.
  func wait(
    for what: String, log: @autoclosure () -> String, pause: (Duration) throws -> Bool,
    until condition: () throws -> Bool
  ) throws {
    var start = ContinuousClock.now
    while try !condition() {
      if isOver { throw TooLate(description: "not in time: \(what)\n\(log())") }
      if try pause(max(.milliseconds(3), (ContinuousClock.now - start) * 3)) {
        throw TooLate(description: "cascaded ended before: \(what)\n\(log())")
      }
      start = .now
    }
  }

  var milliseconds: Int {
    let left = (end - .now).components
    return Int(left.seconds) * 1_000 + Int(left.attoseconds / 1_000_000_000_000_000)
  }
}
