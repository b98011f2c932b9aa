internal import CascadeCSystem
internal import Glibc

/// Local time, by the time zone of `TZ` or of the machine.
package enum LocalTime {
  /// The number of seconds that local time is ahead of UTC at a time given in seconds since 1970.
  package static func offset(at seconds: Int64) -> Int64 {
    var time = time_t(seconds)
    var parts = unsafe tm()
    unsafe localtime_r(&time, &parts)
    return unsafe Int64(parts.tm_gmtoff)
  }

  /// Reads the time zone again, after a change of /etc/localtime.
  package static func refresh() { tzset() }
}
