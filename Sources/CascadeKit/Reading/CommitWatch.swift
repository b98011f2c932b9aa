internal import CascadeSystem
internal import Synchronization

/// Tells when any process has committed to a store. One thread looks for all that watch, and only
/// while there are watchers.
final class CommitWatch: Sendable {
  private let path: String
  private let state = Mutex(State())

  private struct State {
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextNumber = 0
    var isRunning = false
  }

  init(_ path: String) { self.path = path }

  /// An element now, and one after each commit. Commits that come faster than they are taken are one
  /// element.
  func ticks() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield()
    let (number, starts) = state.withLock { state in
      state.nextNumber += 1
      state.watchers[state.nextNumber] = continuation
      defer { state.isRunning = true }
      return (state.nextNumber, !state.isRunning)
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.watchers.removeValue(forKey: number) }
    }
    if starts { start() }
    return stream
  }

  private func start() {
    let thread = Worker<WatchedFile>("cascade-watch")
    Task.detached { [self] in
      while await waitForCommit(thread) { tell() }
    }
  }

  /// False if there are no watchers any more.
  private func waitForCommit(_ thread: Worker<WatchedFile>) async -> Bool {
    do {
      // Only this thread wakes while nothing happens.
      try await thread.run({ [path] in try WatchedFile(path) }, { _ in true }) { file in
        while try !file.waitForCommit(), hasWatchers {}
      }
    } catch {
      // The file is away for now. When it is back, it may be another one.
      try? await Task.sleep(for: .seconds(1))
    }
    return state.withLock { state in
      if state.watchers.isEmpty { state.isRunning = false }
      return state.isRunning
    }
  }

  private var hasWatchers: Bool { state.withLock { !$0.watchers.isEmpty } }

  private func tell() {
    for watcher in state.withLock({ Array($0.watchers.values) }) { watcher.yield() }
  }
}

/// A connection whose `data_version` is looked at whenever the file or its log is written.
struct WatchedFile: ~Copyable, SendableMetatype {
  private let connection: ReadConnection
  private let events: FileEvents
  /// Nil before the first look.
  private var version: Int?

  init(_ path: String) throws {
    // The events are collected from now on, so no commit after the first look is missed.
    let events = try FileEvents(path)
    connection = try ReadConnection(path: path)
    self.events = events
  }

  /// The pauses after an event: the log is written before the commit is seen.
  private static let pauses = [0, 1, 2, 4, 8, 16, 32]
  /// How long to wait for an event that may be missed, in milliseconds.
  private static let patience = 2_000

  /// Returns true when another connection has committed, and false now and then. At first it is not known what
  /// was committed since those that watch have read.
  mutating func waitForCommit() throws -> Bool {
    if version == nil {
      version = try connection.dataVersion
      return true
    }
    let isWritten = try events.wait(milliseconds: WatchedFile.patience)
    for pause in isWritten ? WatchedFile.pauses : [0] {
      if pause > 0, try events.wait(milliseconds: pause) {}
      let now = try connection.dataVersion
      if now == version { continue }
      version = now
      return true
    }
    return false
  }
}
