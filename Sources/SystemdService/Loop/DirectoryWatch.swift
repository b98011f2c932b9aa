package import CascadeSystem
internal import CascadeCSystem
internal import Glibc

/// Reports that a directory changed. This is only a hint: the caller examines the directory and
/// waits again. The next wait reports changes that happened meanwhile.
///
/// It does not use sd_event_add_inotify, because libsystemd 252 spins if that has a rate limit.
@EventLoopActor
package final class DirectoryWatch {
  package struct Events: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Entries were created or moved into the directory.
    package static let arrivals = Events(rawValue: UInt32(IN_CREATE | IN_MOVED_TO))
    /// Entries were created, removed or renamed.
    package static let entries = Events(
      rawValue: UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO))
    /// A file in the directory was written.
    package static let content = Events(rawValue: UInt32(IN_MODIFY | IN_CLOSE_WRITE))
  }

  /// At most `burst` wake-ups in `interval`. Later changes are reported at the end of the interval.
  package struct Rate: Hashable, Sendable {
    package var interval: Duration
    package var burst: Int

    package init(interval: Duration, burst: Int) {
      self.interval = interval
      self.burst = burst
    }

    /// With this rate, 8,000 writes in 5 s cost 15 wake-ups instead of 12,110.
    package static let calm = Rate(interval: .seconds(1), burst: 2)
  }

  private let bell = Bell()
  private let inotify: Inotify
  private let number: CInt

  /// Watches the entries whose names begin with `prefix`. An empty prefix means all entries.
  package init(
    _ path: String, _ events: Events, of prefix: String = "", rate: Rate? = .calm
  ) throws(SystemError) {
    inotify = try Inotify.shared(rate)
    number = try inotify.watch(path, events, of: prefix, ringing: bell)
  }

  isolated deinit { inotify.forget(number, bell) }

  /// Ends the current or next wait, as a change would.
  package func ring() { bell.ring() }

  /// Returns when there was a change after the last `next`, or after the beginning of the watch.
  package func next() async throws { try await bell.wait() }
}
