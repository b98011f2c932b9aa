internal import CascadeModel
internal import Store
internal import CascadeSystem
/// inotify on the store's directory is a hint: whoever is woken asks SQLite whether somebody
/// committed, and the slow poll is the net under it (DESIGN 7).
extension StoreService {
  /// A burst of commits is one wake-up in this time, or few.
  private static let calm = DirectoryWatch.Rate(interval: .milliseconds(50), burst: 4)

  func watchStore() async {
    do {
      // Its directory may be away until then.
      while !isFileOpen { try await openings.subscribe().wait() }
      // A store of Cascade's own has no other writer; its file may be replaced nevertheless.
      let events: DirectoryWatch.Events =
        configuration.model.hasTables ? [.content, .entries] : .entries
      while true {
        try await progress.waitForEndOfLongSweep()
        try await listen(events)
      }
    } catch {
      if !Task.isCancelled {
        tell(.warning, .trouble, "it is not watched, only polled: \(error)")
      }
    }
  }

  /// Until a long sweep begins: what it writes would be told of, page by page, and what others
  /// commit it sees by itself.
  private func listen(_ events: DirectoryWatch.Events) async throws {
    let watch = try DirectoryWatch(directory, events, of: name, rate: StoreService.calm)
    let again = Bell()
    let wake = wake
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: EventLoop.shared) { try await self.lookAgain(again) }
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

  /// The log is written some time before its commit is seen: who looks at once looks too early.
  private func lookAgain(_ bell: Bell) async throws {
    while true {
      try await bell.wait()
      for milliseconds in [1, 4, 20, 100] {
        try await EventLoop.sleep(for: .milliseconds(milliseconds))
        wake.ring()
      }
    }
  }

  /// The database's own; what SQLite keeps beside it begins with it too.
  private var name: String { String(configuration.path.split(separator: "/").last ?? "") }

  private var directory: String {
    let path = configuration.path
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    return parent.isEmpty ? "/" : String(parent)
  }
}
