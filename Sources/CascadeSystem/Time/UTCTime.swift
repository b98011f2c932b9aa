internal import CascadeCSystem
internal import Glibc

/// Reads times in UTC: `2027-01-31`, `2027-01-31 10:00`, `2027-01-31T10:00:30Z`.
package enum UTCTime {
  /// In milliseconds since 1970; nil if it is none of these.
  package static func milliseconds(_ text: String) -> Int64? {
    let plain = text.hasSuffix("Z") ? text.dropLast() : text[...]
    let halves = plain.split(
      omittingEmptySubsequences: false, whereSeparator: { $0 == " " || $0 == "T" })
    guard halves.count <= 2, let day = numbers(halves[0], by: "-", 3...3),
      let clock = halves.count == 2 ? numbers(halves[1], by: ":", 2...3) : []
    else { return nil }
    return seconds(day + clock + Array(repeating: 0, count: 3 - clock.count)).map { $0 * 1_000 }
  }

  private static func numbers(
    _ text: Substring, by separator: Character, _ count: ClosedRange<Int>
  ) -> [CInt]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    let numbers = parts.compactMap { $0.allSatisfy(\.isNumber) ? CInt($0) : nil }
    return numbers.count == parts.count && count.contains(parts.count) ? numbers : nil
  }

  /// Nil if there is no such day or time.
  private static func seconds(_ parts: [CInt]) -> Int64? {
    var time = unsafe tm()
    unsafe (time.tm_year, time.tm_mon, time.tm_mday) = (parts[0] - 1_900, parts[1] - 1, parts[2])
    unsafe (time.tm_hour, time.tm_min, time.tm_sec) = (parts[3], parts[4], parts[5])
    let seconds = unsafe Int64(timegm(&time))
    let read = unsafe [time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min]
    return read == Array(parts[1...4]) ? seconds : nil
  }
}
