internal import CSystemd
internal import Glibc

/// The clocks, in milliseconds.
package enum SystemClock {
  /// Since 1970. May jump.
  package static func wall() -> Int64 { milliseconds(CLOCK_REALTIME) }

  /// Never goes back; stands still while the machine is suspended. For measuring.
  package static func monotonic() -> Int64 { milliseconds(CLOCK_MONOTONIC) }

  package static func monotonicMicroseconds() -> Int64 {
    let time = read(CLOCK_MONOTONIC)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  private static func milliseconds(_ clock: clockid_t) -> Int64 {
    let time = read(clock)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    // Cannot fail for these clocks.
    unsafe clock_gettime(clock, &time)
    return time
  }
}
