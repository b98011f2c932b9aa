internal import CSystemd
internal import CascadeSystem
internal import Glibc

/// Waits by the wall clock, also when the clock is set meanwhile. Only one task may use it.
@EventLoopActor
package final class WallTimer {
  /// Allows the wake-up to coincide with others.
  private static let tolerance = Duration.milliseconds(200)

  private let bell = Bell()

  package init() { ClockWatch.shared?.subscribe(bell) }

  /// Ends the current or next wait, because the time to wait for has changed.
  package nonisolated func ring() { bell.ring() }

  /// Returns when the clock reaches `end`, in milliseconds since 1970. Returns early when the clock
  /// is set or after a ring. Without `end`, it returns only in these two cases.
  package func wait(until end: Int64?) async throws {
    guard let end else { return try await bell.wait() }
    let rest = end - SystemClock.wall()
    if rest <= 0 { return }
    // The clock of a test advances only when the test sets it.
    if TestClock.file != nil { return try await bell.wait() }
    let alarm = try alarm(in: .milliseconds(rest))
    defer { alarm.close() }
    try await bell.wait()
  }

  private func alarm(in rest: Duration) throws(SystemError) -> EventSource {
    let context = unsafe Unmanaged.passUnretained(bell).toOpaque()
    return try unsafe EventSource("sd_event_add_time_relative") { event, source in
      unsafe sd_event_add_time_relative(
        event, &source, CLOCK_BOOTTIME, rest.microseconds, WallTimer.tolerance.microseconds,
        { _, _, context in unsafe Bell.ring(context) }, context)
    }
  }
}
