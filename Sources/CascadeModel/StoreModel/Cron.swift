/// A five-field cron expression. Bit `n` of a field is set when the value `n` matches.
package struct Cron: Hashable, Sendable {
  package let minutes: UInt64
  package let hours: UInt64
  package let days: UInt64
  package let months: UInt64
  /// Sunday is bit 0, whether it was written as 0 or 7.
  package let weekdays: UInt64
  /// Whether the field began with `*`. As in cron, if neither day field did, a day needs to match
  /// only one of them.
  package let anyDay: Bool
  package let anyWeekday: Bool
  /// Whether the minute or the hour began with `*`. Then the schedule follows elapsed time, not the
  /// time shown by clocks, on days when clocks are changed.
  package let hasWildcardTime: Bool

  static let daily = Cron(minutes: 1, hours: 1)
  static let hourly = Cron(minutes: 1, hours: CronField.hour.all)

  /// Every day at the given minutes and hours.
  private init(minutes: UInt64, hours: UInt64) {
    self.minutes = minutes
    self.hours = hours
    (days, months, weekdays) = (CronField.day.all, CronField.month.all, 0b111_1111)
    (anyDay, anyWeekday, hasWildcardTime) = (true, true, false)
  }

  package init(_ text: String) throws(IllegalSchedule) {
    let fields = text.split(whereSeparator: Cron.isBlank).map(String.init)
    guard fields.count == 5 else {
      throw IllegalSchedule("a cron expression has 5 fields, not \(fields.count)")
    }
    minutes = try CronField.minute.bits(fields[0])
    hours = try CronField.hour.bits(fields[1])
    days = try CronField.day.bits(fields[2])
    months = try CronField.month.bits(fields[3])
    let week = try CronField.weekday.bits(fields[4])
    weekdays = (week | week >> 7) & 0b111_1111
    anyDay = fields[2].hasPrefix("*")
    anyWeekday = fields[4].hasPrefix("*")
    hasWildcardTime = fields[0].hasPrefix("*") || fields[1].hasPrefix("*")
    guard hasMatchingDay else {
      throw IllegalSchedule("no month of \(fields[3]) has a day \(fields[2])")
    }
  }

  /// Whether crontab(5) treats the character as blank.
  static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

  /// Whether the day ever comes. It does not for 30 February and the like; a schedule that never
  /// runs must say `never`.
  private var hasMatchingDay: Bool {
    let longest: [UInt64] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return !anyWeekday
      || longest.enumerated().contains { index, length in
        months & (1 << UInt64(index + 1)) != 0 && days & ((2 << length) - 1) != 0
      }
  }
}

/// The values that one field of a cron expression may have.
private struct CronField {
  let what: String
  let range: ClosedRange<Int>
  var names: [String] = []

  static let minute = CronField(what: "minute", range: 0...59)
  static let hour = CronField(what: "hour", range: 0...23)
  static let day = CronField(what: "day", range: 1...31)
  static let month = CronField(
    what: "month", range: 1...12,
    names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
  /// Both 0 and 7 are Sunday.
  static let weekday = CronField(
    what: "weekday", range: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])

  var all: UInt64 { range.reduce(0) { $0 | 1 << UInt64($1) } }

  func bits(_ text: String) throws(IllegalSchedule) -> UInt64 {
    var bits: UInt64 = 0
    for item in text.split(separator: ",", omittingEmptySubsequences: false) {
      bits |= try itemBits(item)
    }
    return bits
  }

  /// The bits of `*`, `N` or `N-M`. A `*` or a range may be followed by `/STEP`.
  private func itemBits(_ item: Substring) throws(IllegalSchedule) -> UInt64 {
    let parts = item.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let values = try span(parts[0])
    guard parts.count == 2 else { return mask(values, step: 1) }
    guard parts[0] == "*" || parts[0].contains("-") else {
      throw IllegalSchedule("\(what) \"\(item)\": a step needs * or a range before it")
    }
    guard let step = number(parts[1]), step > 0 else {
      throw IllegalSchedule("\(what) \"\(item)\": the step is not a number above 0")
    }
    return mask(values, step: step)
  }

  private func mask(_ values: ClosedRange<Int>, step: Int) -> UInt64 {
    stride(from: values.lowerBound, through: values.upperBound, by: step)
      .reduce(0) { $0 | 1 << UInt64($1) }
  }

  private func span(_ text: Substring) throws(IllegalSchedule) -> ClosedRange<Int> {
    if text == "*" { return range }
    let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let first = try value(ends[0])
    guard ends.count == 2 else { return first...first }
    var last = try value(ends[1])
    // A range may end on Sunday: "sat-sun".
    if range.upperBound == 7, last == 0, first > 0 { last = 7 }
    guard first <= last else { throw IllegalSchedule("\(what) \"\(text)\" runs backwards") }
    return first...last
  }

  private func value(_ text: Substring) throws(IllegalSchedule) -> Int {
    if let index = names.firstIndex(of: text.lowercased()) { return index + range.lowerBound }
    guard let number = number(text), range.contains(number) else {
      throw IllegalSchedule(
        "\(what) \"\(text)\" is not within \(range.lowerBound)-\(range.upperBound)")
    }
    return number
  }

  /// Accepts digits only; `Int` would accept a sign too.
  private func number(_ text: Substring) -> Int? {
    text.allSatisfy { "0"..."9" ~= $0 } ? Int(text) : nil
  }
}
