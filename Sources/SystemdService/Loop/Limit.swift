extension EventLoop {
  /// Runs `body`, and cancels it when the time is over. Returns whether it ended before that.
  @EventLoopActor @discardableResult
  package static func limit(
    _ time: Duration, _ body: @escaping @Sendable @EventLoopActor () async throws -> Void
  ) async throws -> Bool {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask(executorPreference: shared) {
        try await body()
        return true
      }
      group.addTask(executorPreference: shared) {
        try await sleep(for: time)
        return false
      }
      defer { group.cancelAll() }
      return try await group.next()!
    }
  }
}
