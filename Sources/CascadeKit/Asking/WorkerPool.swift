internal import CascadeSystem
internal import Synchronization

/// Threads whose work blocks, such as calls to the daemon and to SQLite. Each has a resource of its
/// own, which it opens when it is first needed. Nothing waits on Swift's own threads.
final class WorkerPool<Resource: ~Copyable & SendableMetatype>: Sendable {
  private let most: Int
  private let name: String
  private let open: @Sendable () throws -> Resource
  private let state = Mutex(State())

  private struct State {
    var idle: [Worker<Resource>] = []
    var count = 0
    var waiting: [CheckedContinuation<Worker<Resource>, Never>] = []
  }

  init(_ name: String, most: Int, open: @escaping @Sendable () throws -> Resource) {
    self.name = name
    self.most = most
    self.open = open
  }

  /// Runs `body` on a thread of the pool. After an error for which `isBroken` is true, the resource
  /// is closed.
  func run<T: Sendable>(
    isBroken: @escaping @Sendable (any Error) -> Bool = { _ in false },
    _ body: @escaping @Sendable (inout Resource) throws -> T
  ) async throws -> T {
    let worker = await take()
    defer { giveBack(worker) }
    return try await worker.run(open, isBroken, body)
  }

  private func take() async -> Worker<Resource> {
    await withCheckedContinuation { continuation in
      let worker = state.withLock { state -> Worker<Resource>? in
        if let worker = state.idle.popLast() { return worker }
        if state.count < most {
          state.count += 1
          return Worker(name)
        }
        state.waiting.append(continuation)
        return nil
      }
      if let worker { continuation.resume(returning: worker) }
    }
  }

  private func giveBack(_ worker: Worker<Resource>) {
    let next = state.withLock { state -> CheckedContinuation<Worker<Resource>, Never>? in
      if state.waiting.isEmpty { state.idle.append(worker) }
      return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
    }
    next?.resume(returning: worker)
  }
}

/// A thread and its resource.
actor Worker<Resource: ~Copyable & SendableMetatype> {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }
  private var resource: Resource?

  init(_ name: String) { thread = WorkerThread(name: name) }

  func close() { resource = nil }

  func run<T: Sendable>(
    _ open: @Sendable () throws -> Resource, _ isBroken: @Sendable (any Error) -> Bool,
    _ body: @Sendable (inout Resource) throws -> T
  ) throws -> T {
    if resource == nil { resource = try open() }
    do {
      return try body(&resource!)
    } catch {
      if isBroken(error) { resource = nil }
      throw error
    }
  }
}
