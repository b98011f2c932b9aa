internal import CascadeCSystem
internal import Glibc

/// The clocks of the system, in milliseconds unless named otherwise.
package enum SystemClock {
  /// The time since 1970. It jumps when the clock is set.
  package static func wall() -> Int64 {
    TestClock.file.map { TestClock.read($0).wall } ?? milliseconds(CLOCK_REALTIME)
  }

  /// The time that has really passed, from some beginning on, also while the machine is suspended.
  /// Nothing sets it.
  package static func elapsed() -> Int64 {
    TestClock.file.map { TestClock.read($0).elapsed } ?? milliseconds(CLOCK_BOOTTIME)
  }

  /// The time since 1970 by the clock that the file system uses, also when a test sets `wall`.
  package static func ofFiles() -> Int64 { milliseconds(CLOCK_REALTIME) }

  /// For measuring. It never goes back, and does not advance while the machine is suspended.
  package static func monotonic() -> Int64 { milliseconds(CLOCK_MONOTONIC) }

  package static func monotonicMicroseconds() -> Int64 {
    let time = read(CLOCK_MONOTONIC)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  /// Blocks the thread.
  package static func sleep(for time: Duration) {
    usleep(useconds_t(clamping: Int(time / .microseconds(1))))
  }

  /// A time since 1970 in readable form, in UTC: `2026-11-20 12:21:50Z`.
  package static func text(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    let date = unsafe [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday].map(twoDigits)
    let time = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits)
    return "\(date.joined(separator: "-")) \(time.joined(separator: ":"))Z"
  }

  private static func twoDigits(_ number: CInt) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }

  private static func milliseconds(_ clock: clockid_t) -> Int64 {
    let time = read(clock)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    // This cannot fail for the clocks used here.
    unsafe clock_gettime(clock, &time)
    return time
  }
}
