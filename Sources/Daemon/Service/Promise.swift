internal import System

/// One value, for one who waits.
@EventLoopActor
final class Promise<Value: Sendable> {
  private let bell = Bell()
  private var result: Result<Value, any Error>?

  func settle(_ result: Result<Value, any Error>) {
    self.result = result
    bell.ring()
  }

  func value() async throws -> Value {
    while true {
      if let result { return try result.get() }
      try await bell.wait()
    }
  }
}

/// Rings every bell that somebody still holds.
@EventLoopActor
final class Broadcast {
  private struct Listener { weak var bell: Bell? }
  private var listeners: [Listener] = []

  func subscribe() -> Bell {
    let bell = Bell()
    listeners.append(Listener(bell: bell))
    return bell
  }

  func ring() {
    listeners.removeAll { $0.bell == nil }
    for listener in listeners { listener.bell?.ring() }
  }
}
