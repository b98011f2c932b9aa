internal import CascadeCSystem
internal import Glibc

/// Local time: that of `TZ`, or of the machine.
package enum LocalTime {
  /// How many seconds it is ahead of UTC, at this time in seconds since 1970.
  package static func offset(at seconds: Int64) -> Int64 {
    var time = time_t(seconds)
    var parts = unsafe tm()
    unsafe localtime_r(&time, &parts)
    return unsafe Int64(parts.tm_gmtoff)
  }

  /// Takes up what became of /etc/localtime.
  package static func refresh() { tzset() }
}
