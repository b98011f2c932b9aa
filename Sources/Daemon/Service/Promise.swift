internal import SystemdService

/// One value that one task waits for.
@EventLoopActor
final class Promise<Value: Sendable> {
  private let bell = Bell()
  private var result: Result<Value, any Error>?

  func resolve(_ result: Result<Value, any Error>) {
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
