internal import Synchronization
internal import CascadeSystem
/// The leases that last as long as their clients are connected. The writer's thread reads them too:
/// wherever the store is opened anew, what they hold is held there from the first look on.
final class HeldLeases: Sendable {
  private struct Held {
    let request: LeaseRequest
    let renewal: WallTimer
  }

  private let held = Mutex<[Int64: Held]>([:])

  var requests: [LeaseRequest] { held.withLock { $0.values.map(\.request) } }

  /// What is returned rings at the time, or when the client is to learn that it holds nothing more.
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
