import CascadeSystem
import SystemdService

/// Runs `body` on the event loop of the test process. The loop has a thread of its own, because
/// Swift Testing uses the main thread.
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
      // This bell never rings, so the loop ends with the process.
      try? await Bell().wait()
      return 0
    }
  }
}

/// Polls a condition that no event announces, up to a limit. Returns false at the limit.
@EventLoopActor
func eventually(_ condition: @EventLoopActor () throws -> Bool) async throws -> Bool {
  for _ in 0..<2000 {
    if try condition() { return true }
    try await EventLoop.sleep(for: .milliseconds(5))
  }
  return false
}
