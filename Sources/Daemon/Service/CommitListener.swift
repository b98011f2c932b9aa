internal import CascadeStore
internal import CascadeSystem

/// A connection that waits for others' commits, on its own thread.
actor CommitListener {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }

  private let engine: any StoreEngine
  private let path: String
  private var watch: (any CommitWatching)?

  init(_ engine: any StoreEngine, _ path: String) {
    thread = WorkerThread(name: "listener")
    self.engine = engine
    self.path = path
  }

  /// Whether there is something new to examine. A lost connection may have missed something.
  func next() -> Bool {
    do {
      if watch == nil { watch = try engine.watchCommits(of: path) }
      return try watch?.next() ?? true
    } catch {
      watch = nil
      SystemClock.sleep(for: .seconds(1))
      return true
    }
  }

  func close() { watch = nil }
}

/// A connection that asks a server whether it is there, on its own thread.
actor ServerListener {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }

  private let watch: any ServerWatching

  init(_ watch: any ServerWatching) {
    thread = WorkerThread(name: "pulse")
    self.watch = watch
  }

  func beat() -> ServerTrouble? { watch.beat() }
  func close() { watch.close() }
}
