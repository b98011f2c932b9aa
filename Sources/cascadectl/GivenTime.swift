internal import CascadeModel
internal import CascadeSystem

/// A time on the command line: a day or a time in UTC, or a duration before or after now.
enum GivenTime {
  static func past(_ text: String) throws -> Int64 {
    try read(text, direction: -1, example: "\"2d\" (ago)")
  }

  static func coming(_ text: String) throws -> Int64 {
    try read(text, direction: 1, example: "\"30d\"")
  }

  private static func read(_ text: String, direction: Int64, example: String) throws -> Int64 {
    if let duration = Duration(text: text), duration > .zero {
      return SystemClock.wall() + direction * duration.inMilliseconds
    }
    guard let time = UTCTime.milliseconds(text) else {
      throw UsageError(
        "\"\(text)\" is no time, such as \"2027-01-31\", \"2027-01-31 10:00\" (in UTC) or \(example)"
      )
    }
    return time
  }
}
