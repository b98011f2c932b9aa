internal import CascadeModel
internal import CascadeSystem
internal import SystemdService

/// Where the kernel tells nothing of a directory, its store is looked at every few seconds.
extension StoreService {
  private static let pollingInterval = Duration.seconds(5)
  /// A watch that ended while another store was let go of can be had again.
  private static let roundsOfPolling = 12

  /// Runs a watch. When it fails, the store is polled for a minute, and then the watch is tried again.
  func orPoll(_ watch: () async throws -> Void) async {
    while !Task.isCancelled {
      do {
        // The directory may be missing until then.
        while !isFileOpen { try await openings.subscribe().wait() }
        try await watch()
      } catch {
        for _ in 0..<StoreService.roundsOfPolling where !Task.isCancelled { await look() }
      }
    }
  }

  /// Looks whether the files changed, some time later.
  private func look() async {
    try? await EventLoop.sleep(for: StoreService.pollingInterval, tolerance: .seconds(1))
    if !condition.isAtRest && (isWriterOpen || areFilesChanged) { wake.ring() }
  }

  func watch(
    _ path: String, _ events: DirectoryWatch.Events, of prefix: String = "",
    rate: DirectoryWatch.Rate? = nil
  ) throws -> DirectoryWatch {
    do {
      let watch = try DirectoryWatch(path, events, of: prefix, rate: rate)
      unwatched[path] = nil
      return watch
    } catch {
      let isNews = unwatched.isEmpty
      unwatched[path] = "\(path) cannot be watched: \(error.textOfWatch)"
      if isNews { tell(.warning, .trouble, polledText!) }
      throw error
    }
  }

  /// Nil for a store that is not polled.
  var polledText: String? {
    unwatched.min { $0.key < $1.key }.map {
      "the store is looked at every \(StoreService.pollingInterval.components.seconds) s, because \($0.value)"
    }
  }

  var polledFinding: [JSON] {
    polledText.map { [["kind": "polled", "message": .string($0)]] } ?? []
  }
}

extension SystemError {
  /// The kernel's own words for its limits of inotify are about other things.
  fileprivate var textOfWatch: String {
    if isFull { return "this user has no inotify watch left (sysctl fs.inotify.max_user_watches)" }
    if call == "inotify_init1" && isOutOfDescriptors {
      return "this user has no inotify instance left (sysctl fs.inotify.max_user_instances)"
    }
    return description
  }
}
