import CascadeModel
import CascadeSystem
import Testing

/// When a schedule comes next, also on the days when clocks are changed.
@Suite struct NextRunTests {
  private static let isLong = Process.environment("CASCADE_LONG") != nil
  private static let years = isLong ? 2000...2036 : 2023...2025
  private static let utc = Zone { _ in 0 }

  static let expressions = [
    "17 3 * * *", "0 0 * * *", "59 23 * * *", "30 2 * * *", "0 2 * * *", "0 3 * * *",
    "15 1,2 * * *",
    "0,30 0-4 * * *", "45 1 * * sun", "0 2 * mar-apr 7", "30 1 * 4,10-11 0", "* * * * *",
    "0 * * * *",
    "*/15 * * * *", "30 */2 * * *", "*/20 2 * * *", "* 2 * * *", "10-50/7 0-23/3 * * 1-5",
    "0 12 13 * 5", "0 3 1,15 * fri-sun", "0 0 */5 * mon", "5 4 29 2 *", "0 0 31 * *", "1 0 1 JAN *",
    "0 0 1 1 */2", "23 0-20/2 2-4,28 * 0,7",
  ]

  /// Clocks change by an hour at two in the night, at midnight, and by half an hour.
  @Test(arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"])
  func `cron runs at every minute that matches and at no other`(name: String) throws {
    let file = try ZoneFile(name)
    let minutes = Minutes(file, years: Self.years)
    var random = Seeded(seed: 7)
    let written = (0..<(Self.isLong ? 200 : 20)).map { _ in Self.expression(&random) }
    for expression in Self.expressions + written {
      let cron = try Cron(expression)
      let runs = CronOracle(expression).runs(in: minutes)
      let found = Self.runs(of: cron, file.zone, minutes)
      let difference = zip(runs, found).first { $0 != $1 }
      #expect(found.count == runs.count && difference == nil, "\(expression) in \(name)")
      for _ in 0..<200 {
        let time = minutes.start * 60 + Int64.random(in: 0..<300 * 86_400, using: &random)
        let next = runs.first { $0 > time }
        if let next { #expect(cron.next(after: time, in: file.zone) == next, "\(expression)") }
      }
    }
  }

  private static func runs(of cron: Cron, _ zone: Zone, _ minutes: Minutes) -> [Int64] {
    let end = (minutes.start + Int64(minutes.shown.count)) * 60
    var runs: [Int64] = []
    var time = minutes.start * 60 - 1
    while let next = cron.next(after: time, in: zone), next < end {
      runs.append(next)
      time = next
    }
    return runs
  }

  /// Hours around those at which clocks are changed.
  private static func expression(_ random: inout Seeded) -> String {
    let minute = ["0", "30", "*/7", "*", "5,35,59", "10-20/5"].randomElement(using: &random)!
    let hour = ["0", "1", "2", "3", "*", "1-3", "*/2", "0,23"].randomElement(using: &random)!
    let day = ["*", "*", "1-7", "*/3", "25-31"].randomElement(using: &random)!
    let month = ["*", "*", "3,4", "oct-nov"].randomElement(using: &random)!
    let weekday = ["*", "*", "0", "7", "fri-sun", "*/3"].randomElement(using: &random)!
    return "\(minute) \(hour) \(day) \(month) \(weekday)"
  }

  @Test func `a time that clocks leave out comes right after, and one that they repeat comes once`()
    throws
  {
    let berlin = try ZoneFile("Europe/Berlin").zone
    let gap: Int64 = 1_774_746_000  // 2026-03-29 01:00 UTC, when two o'clock became three
    #expect(try Cron("30 2 * * *").next(after: gap - 7_200, in: berlin) == gap)
    #expect(try Cron("0 3 * * *").next(after: gap - 7_200, in: berlin) == gap)
    #expect(try Cron("10,50 2 * * *").next(after: gap, in: berlin) == gap + 23 * 3_600 + 600)
    let twice: Int64 = 1_792_890_000  // 2026-10-25 01:00 UTC, when three o'clock became two
    #expect(try Cron("30 2 * * *").next(after: twice - 3_600, in: berlin) == twice - 1_800)
    #expect(try Cron("30 2 * * *").next(after: twice, in: berlin) == twice + 24 * 3_600 + 1_800)
    #expect(try Cron("30 * * * *").next(after: twice, in: berlin) == twice + 1_800)
  }

  @Test func `a leap day on a Sunday comes after decades`() throws {
    let time: Int64 = 1_790_000_000  // in 2026
    #expect(try Cron("0 0 29 2 */7").next(after: time, in: Self.utc) == 1_961_625_600)
    #expect(try Cron("0 0 29 2 *").next(after: -2_208_988_800, in: Self.utc) == -2_077_747_200)
  }

  @Test func `a store has its second in the minute, and its phase in an interval`() throws {
    let daily = try Schedule(text: "17 3 * * *")
    let named: Int64 = (3 * 60 + 17) * 60_000
    for spread in [0, 1, 59, 60, 61, UInt64.max] {
      let next = try #require(daily.next(after: 0, spread: spread, in: Self.utc))
      #expect(next == named + Int64(spread % 60) * 1000)
      #expect(daily.next(after: named, spread: spread, in: Self.utc) == next + 86_400_000)
    }
    let often = try Schedule(text: "@every 30s")
    #expect(often.next(after: 0, spread: 12_345, in: Self.utc) == 12_345)
    #expect(often.next(after: 12_345, spread: 12_345, in: Self.utc) == 42_345)
    #expect(often.next(after: 42_344, spread: 42_345, in: Self.utc) == 42_345)
    #expect(often.next(after: -1, spread: 0, in: Self.utc) == 0)
  }

  @Test func `what runs by no clock, or after thousands of years, never comes`() throws {
    for text in ["immediate", "never", "@every 9223372036854775807ms"] {
      #expect(try Schedule(text: text).next(after: 0, spread: 1, in: Self.utc) == nil)
    }
  }
}
