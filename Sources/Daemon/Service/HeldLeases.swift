internal import Synchronization
internal import SystemdService

/// The leases that last as long as their clients are connected. The writer's thread reads them too:
/// when it opens a store's file, it takes these leases there before its first sweep.
final class HeldLeases: Sendable {
  private struct Held {
    let request: LeaseRequest
    let renewal: WallTimer
  }

  private let held = Mutex<[Int64: Held]>([:])

  var requests: [LeaseRequest] { held.withLock { $0.values.map(\.request) } }

  /// Adds leases. The returned timer rings when they must be renewed, or when the client has to
  /// learn that they ended.
  @EventLoopActor
  func add(_ request: LeaseRequest, of connection: Int64) -> WallTimer {
    let renewal = WallTimer()
    held.withLock { $0[connection] = Held(request: request, renewal: renewal) }
    return renewal
  }

  func remove(_ connection: Int64) { held.withLock { $0[connection] = nil } }

  func ring() {
    for held in held.withLock({ Array($0.values) }) { held.renewal.ring() }
  }
}
