/// Which times match. Times are seconds since 1970 in local time, where every day has 24 hours.
extension Cron {
  /// A leap day on a Sunday may be 40 years away.
  private static let mostDays: Int64 = 50 * 366

  /// The first matching minute after this time.
  func nextLocal(after time: Int64) -> Int64? {
    let minute = time.floored(to: 60) + 1
    let today = minute.floored(to: 1440)
    if matches(day: today), let rest = timeOfDay(from: minute - today * 1440) {
      return (today * 1440 + rest) * 60
    }
    guard let first = timeOfDay(from: 0) else { return nil }
    let later = (today + 1)...(today + Cron.mostDays)
    return later.first(where: matches).map { ($0 * 1440 + first) * 60 }
  }

  /// The first matching time of day, in minutes.
  private func timeOfDay(from minute: Int64) -> Int64? {
    for hour in minute / 60..<24 where hours >> UInt64(hour) & 1 == 1 {
      let start = hour == minute / 60 ? minute % 60 : 0
      let rest = minutes >> UInt64(start)
      if rest != 0 { return hour * 60 + start + Int64(rest.trailingZeroBitCount) }
    }
    return nil
  }

  /// As in cron, if both fields name days, a match of one is enough.
  private func matches(day number: Int64) -> Bool {
    let (month, day) = monthAndDay(number)
    if months >> UInt64(month) & 1 == 0 { return false }
    let weekday = (number + 4) - (number + 4).floored(to: 7) * 7
    let isDay = days >> UInt64(day) & 1 == 1
    let isWeekday = weekdays >> UInt64(weekday) & 1 == 1
    return anyDay || anyWeekday ? isDay && isWeekday : isDay || isWeekday
  }

  /// The month and day of a day number since 1970, in the Gregorian calendar. Here the year begins
  /// in March, so that a leap day is its last day.
  private func monthAndDay(_ number: Int64) -> (month: Int64, day: Int64) {
    let days = number + 719_468
    let ofEra = days - days.floored(to: 146_097) * 146_097
    let year = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * year + year / 4 - year / 100)
    let month = (5 * ofYear + 2) / 153
    return (month < 10 ? month + 3 : month - 9, ofYear - (153 * month + 2) / 5 + 1)
  }
}

extension Int64 {
  /// The number of whole `unit`s, rounded down also before 1970.
  func floored(to unit: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: unit)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
