package import CascadeSystem
internal import CascadeCSystem
internal import Glibc

/// Says that something changed in a directory. A hint: look, then wait again. What changes while
/// you look is reported by the next wait.
///
/// Not sd_event_add_inotify: with a rate limit, libsystemd 252 spins on it.
@EventLoopActor
package final class DirectoryWatch {
  package struct Events: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Entries came, by whatever name.
    package static let arrivals = Events(rawValue: UInt32(IN_CREATE | IN_MOVED_TO))
    /// Entries came, went or got another name.
    package static let entries = Events(
      rawValue: UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO))
    /// A file was written.
    package static let content = Events(rawValue: UInt32(IN_MODIFY | IN_CLOSE_WRITE))
  }

  /// At most `burst` wake-ups in `interval`; the changes after them are reported at its end.
  package struct Rate: Hashable, Sendable {
    package var interval: Duration
    package var burst: Int

    package init(interval: Duration, burst: Int) {
      self.interval = interval
      self.burst = burst
    }

    /// A storm of 8,000 writes in 5 s costs 15 wake-ups instead of 12,110.
    package static let calm = Rate(interval: .seconds(1), burst: 2)
  }

  private let bell = Bell()
  private let inotify: Inotify
  private let number: CInt

  /// Of entries whose names begin with `prefix`, or of all.
  package init(
    _ path: String, _ events: Events, of prefix: String = "", rate: Rate? = .calm
  ) throws(SystemError) {
    inotify = try Inotify.shared(rate)
    number = try inotify.watch(path, events, of: prefix, ringing: bell)
  }

  isolated deinit { inotify.forget(number, bell) }

  /// As if something had changed.
  package func ring() { bell.ring() }

  /// Returns after a change since the last `next` (or since the watch began).
  package func next() async throws { try await bell.wait() }
}
