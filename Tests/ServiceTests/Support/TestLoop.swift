import CascadeSystem
import SystemdService

/// The loop of the test process, on a thread of its own: the main thread is Swift Testing's.
func onLoop<Result: Sendable>(
  _ body: @EventLoopActor @Sendable () async throws -> Result
) async throws -> Result {
  try LoopThread.started.get()
  return try await body()
}

private actor LoopThread {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }

  static let started = Result<Void, any Error> {
    let host = LoopThread(thread: WorkerThread(name: "loop"))
    Task { await host.run() }
  }

  private init(thread: WorkerThread) { self.thread = thread }

  private func run() {
    _ = EventLoop.run {
      // Nobody rings: the loop ends with the process.
      try? await Bell().wait()
      return 0
    }
  }
}

/// Waits for a condition that comes about without an event, with a limit.
@EventLoopActor
func eventually(_ condition: @EventLoopActor () throws -> Bool) async throws -> Bool {
  for _ in 0..<2000 {
    if try condition() { return true }
    try await EventLoop.sleep(for: .milliseconds(5))
  }
  return false
}
