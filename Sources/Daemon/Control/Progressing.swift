internal import CascadeModel
internal import CascadeStore
internal import SystemdService
internal import VarlinkServer

extension Call {
  /// Runs `work`. If the call allows more replies, reports progress from time to time.
  func tellingProgress(
    of service: StoreService, _ work: @escaping @Sendable () async throws -> JSON
  ) async throws -> JSON {
    if !more { return try await work() }
    return try await withThrowingTaskGroup(of: JSON?.self) { group in
      group.addTask(executorPreference: EventLoop.shared) { try await work() }
      group.addTask(executorPreference: EventLoop.shared) {
        try await self.tellProgress(of: service)
        return nil
      }
      defer { group.cancelAll() }
      while let reply = try await group.next() { if let reply { return reply } }
      return [:]
    }
  }

  private func tellProgress(of service: StoreService) async throws {
    var told: WorkProgress?
    while true {
      try await EventLoop.sleep(for: .milliseconds(100), tolerance: .milliseconds(20))
      guard let progress = service.progress.progress, progress != told else { continue }
      told = progress
      try await reply(continues: ["progress": progress.json])
    }
  }
}
