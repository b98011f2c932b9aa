internal import SystemdService

/// Lets a number of tasks go on at a time, those that came first.
@EventLoopActor
final class Slots {
  private var free: Int
  private var waiting: [Promise<Void>] = []

  /// Whether tasks wait.
  var isCrowded: Bool { !waiting.isEmpty }

  init(_ count: Int) { free = count }

  func inSlot<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    try await enter()
    defer { leave() }
    return try await body()
  }

  private func enter() async throws {
    if free > 0 {
      free -= 1
      return
    }
    let turn = Promise<Void>()
    waiting.append(turn)
    do { try await turn.value() } catch {
      if let index = waiting.firstIndex(where: { $0 === turn }) {
        waiting.remove(at: index)
      } else {
        leave()
      }
      throw error
    }
  }

  private func leave() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resolve(.success(())) }
  }
}
