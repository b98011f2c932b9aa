/// Every minute of some years in a time zone, as a clock on the wall shows it.
struct Minutes {
  /// In minutes since 1970.
  let start: Int64
  /// What the clock shows: minutes since 1970 if all days had 24 hours.
  let shown: [Int32]
  let days: [Day]

  struct Day {
    let month: Int
    let day: Int
    let weekday: Int
  }

  init(_ zone: ZoneFile, years: ClosedRange<Int>) {
    days = Minutes.calendar
    let first = Int64(Minutes.number(ofYear: years.lowerBound)) * 1440
    let end = Int64(Minutes.number(ofYear: years.upperBound + 1)) * 1440
    start = first
    shown = (first..<end).map { Int32($0 + zone.offset(at: $0 * 60) / 60) }
  }

  private static func length(of month: Int, _ year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  /// Day by day. 1970 began on a Thursday.
  private static let calendar: [Day] = {
    var days: [Day] = []
    for year in 1970...2040 {
      for month in 1...12 {
        for day in 1...length(of: month, year) {
          days.append(Day(month: month, day: day, weekday: (4 + days.count) % 7))
        }
      }
    }
    return days
  }()

  private static func number(ofYear year: Int) -> Int {
    (1970..<year).reduce(0) { $0 + (length(of: 2, $1) == 29 ? 366 : 365) }
  }
}

/// The runs of a cron expression by looking at each minute. A slow reader of its own says what a
/// field means.
struct CronOracle {
  private let fields: [Set<Int>]
  private let texts: [String]

  init(_ expression: String) {
    texts = expression.lowercased().split(separator: " ").map(String.init)
    fields = zip(texts, [0...59, 0...23, 1...31, 1...12, 0...7]).map { text, range in
      Set(range.filter { CronOracle.field(text, has: $0, range) })
    }
  }

  private static let names = [
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9,
    "oct": 10, "nov": 11, "dec": 12, "sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5,
    "sat": 6,
  ]

  private static func field(_ text: String, has value: Int, _ range: ClosedRange<Int>) -> Bool {
    text.split(separator: ",").contains { item in
      let parts = item.split(separator: "/")
      let ends = parts[0].split(separator: "-").map { names[String($0)] ?? Int($0) ?? -1 }
      let low = parts[0] == "*" ? range.lowerBound : ends[0]
      // "sat-sun" ends on the seventh day.
      let end = ends.last == 0 && ends[0] > 0 ? 7 : ends.last!
      let high = parts[0] == "*" ? range.upperBound : end
      let step = parts.count == 2 ? Int(parts[1])! : 1
      return value >= low && value <= high && (value - low) % step == 0
    }
  }

  private func matches(_ day: Minutes.Day) -> Bool {
    let isDay = fields[2].contains(day.day)
    let isWeekday =
      fields[4].contains(day.weekday) || (day.weekday == 0 && fields[4].contains(7))
    let isAny = texts[2].hasPrefix("*") || texts[4].hasPrefix("*")
    return fields[3].contains(day.month) && (isAny ? isDay && isWeekday : isDay || isWeekday)
  }

  /// In seconds since 1970. What names a time runs in the first minute that shows it, or that shows
  /// a later one; what names none runs whenever it is shown.
  func runs(in minutes: Minutes) -> [Int64] {
    let days = minutes.days.map(matches)
    let times = (0..<1440).map { fields[0].contains($0 % 60) && fields[1].contains($0 / 60) }
    let isShown: (Int32) -> Bool = { days[Int($0) / 1440] && times[Int($0) % 1440] }
    let followsTime = texts[0].hasPrefix("*") || texts[1].hasPrefix("*")
    var latest = minutes.shown[0] - 1
    var runs: [Int64] = []
    for (index, shown) in minutes.shown.enumerated() {
      let reached = latest < shown ? latest + 1...shown : nil
      latest = max(latest, shown)
      let isRun = followsTime ? isShown(shown) : reached?.contains(where: isShown) ?? false
      if isRun { runs.append((minutes.start + Int64(index)) * 60) }
    }
    return runs
  }
}
