internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import CascadeStore
internal import SystemdService

/// Leases, and what happens at their end.
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

  /// Throws if a lease can never be taken again here.
  func mayHold() throws {
    if condition.isDetached { throw StoreError.detached }
    if isRetired { throw notServed }
  }

  /// Ends the leases of a connection. If the daemon stops first, its next start does it.
  func releaseConnection(_ connection: Int64) async {
    heldLeases.remove(connection)
    try? await writer.releaseConnection(connection)
    wakeUp()
  }
}

/// Rings when the next lease ends. Without leases it costs nothing.
@EventLoopActor
final class LeaseTimer {
  private var end: Int64?
  private let timer = WallTimer()

  /// Sets the time of the ring, in milliseconds since 1970.
  func set(_ end: Int64?) {
    if end == self.end { return }
    self.end = end
    timer.ring()
  }

  func run(at leaseEnd: () -> Void) async {
    while (try? await timer.wait(until: end)) != nil {
      guard let end, end <= SystemClock.wall() else { continue }
      self.end = nil
      leaseEnd()
    }
  }
}
