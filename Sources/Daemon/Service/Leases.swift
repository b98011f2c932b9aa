internal import Model
internal import Store
internal import System
internal import Varlink

/// Leases, and what their end brings about.
extension StoreService {
  func lease(_ request: LeaseRequest) async throws -> [Lease] {
    do {
      let leases = try await onStore { try await writer.lease(request) }
      wakeUp()
      return leases
    } catch let rejection as Rejection {
      throw VarlinkError.unusable("nodes", rejection.reasons.first?.message ?? "")
    }
  }

  func release(_ subjects: [Lease.Subject], owner: String?) async throws -> Int {
    let count = try await onStore { try await writer.release(subjects, owner: owner) }
    wakeUp()
    return count
  }

  /// Where the daemon ends, its next start does it.
  func releaseConnection(_ connection: Int64) async {
    try? await writer.releaseConnection(connection)
    wakeUp()
  }
}

/// Rings when a lease ends; as long as there is none, it costs nothing.
@EventLoopActor
final class LeaseTimer {
  private var end: Int64?
  private let changed = Bell()

  /// In milliseconds since 1970.
  func set(_ end: Int64?) {
    if end == self.end { return }
    self.end = end
    changed.ring()
  }

  func run(ringing bell: Bell) async {
    while !Task.isCancelled {
      do {
        if try await wait() { bell.ring() }
      } catch { return }
    }
  }

  /// Whether the time is over; otherwise it is another one now.
  private func wait() async throws -> Bool {
    guard let end else {
      try await changed.wait()
      return false
    }
    let rest = Duration.milliseconds(max(0, end - SystemClock.wall()))
    let changed = changed
    let isOver = try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask(executorPreference: EventLoop.shared) {
        try await EventLoop.sleep(for: rest, tolerance: .milliseconds(100))
        return true
      }
      group.addTask(executorPreference: EventLoop.shared) {
        try await changed.wait()
        return false
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
    if isOver && end == self.end { self.end = nil }
    return isOver
  }
}
