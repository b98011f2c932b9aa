internal import Model
internal import Store
internal import System

/// inotify on the store's directory is a hint: whoever is woken asks SQLite whether somebody
/// committed, and the slow poll is the net under it (DESIGN 7).
extension StoreService {
  /// A burst of commits is one wake-up in this time, or few.
  private static let calm = DirectoryWatch.Rate(interval: .milliseconds(50), burst: 4)

  func watchStore() async {
    do {
      let watch = try DirectoryWatch(directory, [.content, .entries], rate: StoreService.calm)
      let again = Bell()
      try await withThrowingDiscardingTaskGroup { group in
        group.addTask(executorPreference: EventLoop.shared) { try await self.lookAgain(again) }
        while true {
          wake.ring()
          again.ring()
          try await watch.next()
        }
      }
    } catch {
      if !Task.isCancelled {
        Log.write(.warning, "the store is not watched, only polled: \(error)", fields: fields)
      }
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

  private var directory: String {
    let path = configuration.path
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    return parent.isEmpty ? "/" : String(parent)
  }
}
