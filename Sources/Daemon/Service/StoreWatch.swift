internal import CascadeModel
internal import SystemdService

/// Watches the store's directory with inotify. An event is only a hint: the worker then asks SQLite
/// whether another connection committed. The slow poll finds what inotify missed.
extension StoreService {
  /// A burst of commits wakes the worker only a few times within this interval. The worker's own
  /// commits count too, so the interval is also how late a commit may be noticed.
  private static let calm = DirectoryWatch.Rate(interval: .milliseconds(20), burst: 2)

  func watchStore() async {
    await orPoll {
      if !self.configuration.isFile { return try await self.listenToServer() }
      // A store without tables of the application has no other writer. But its file may be
      // replaced.
      let events: DirectoryWatch.Events =
        self.configuration.model.hasTables ? [.content, .entries] : .entries
      while true {
        try await self.progress.waitForEndOfLongSweep()
        try await self.listen(events)
      }
    }
  }

  /// A server tells of commits over a connection. It is closed while the store is at rest, or another
  /// daemon serves it.
  private func listenToServer() async throws {
    let listener = CommitListener(stores.engine, path)
    while !Task.isCancelled {
      if condition.isAtRest {
        await listener.close()
        try await EventLoop.sleep(for: .seconds(1), tolerance: .seconds(1))
      } else if condition.isAway {
        await listener.close()
        try await EventLoop.sleep(for: .milliseconds(500))
      } else if await listener.next() {
        wakeUp()
      }
    }
  }

  /// Watches until a long sweep begins. The sweep's own writes would cause an event for each page,
  /// and it notices other connections' commits by itself.
  private func listen(_ events: DirectoryWatch.Events) async throws {
    let watch = try watch(directory, events, of: name, rate: StoreService.calm)
    let again = Bell()
    let wake = wake
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: EventLoop.shared) { try await self.wakeAfterDelays(again) }
      group.addTask(executorPreference: EventLoop.shared) {
        while true {
          wake.ring()
          again.ring()
          try await watch.next()
        }
      }
      group.addTask(executorPreference: EventLoop.shared) { try await self.progress.begin.wait() }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Wakes the worker again after some delays. The log is written some time before its commit is
  /// visible, so the first look may be too early.
  private func wakeAfterDelays(_ bell: Bell) async throws {
    while true {
      try await bell.wait()
      for milliseconds in [1, 4, 20, 100] {
        try await EventLoop.sleep(for: .milliseconds(milliseconds))
        wake.ring()
      }
    }
  }

  /// The database's file name. The names of SQLite's files beside it begin with it too.
  private var name: String { String(configuration.path.split(separator: "/").last ?? "") }

  private var directory: String {
    let path = configuration.path
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    return parent.isEmpty ? "/" : String(parent)
  }
}
