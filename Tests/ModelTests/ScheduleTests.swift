import CascadeModel
import Testing

@Suite struct ScheduleTests {
  @Test(
    arguments: [
      ("0", 0), ("0s", 0), ("10ms", 10), ("1s", 1000), ("15m", 900_000), ("1h30m", 5_400_000),
      ("1d", 86_400_000), ("2w", 1_209_600_000), ("1m5ms", 60_005),
    ] as [(String, Int64)])
  func `a duration is numbers with units`(text: String, milliseconds: Int64) {
    #expect(Duration(text: text) == .milliseconds(milliseconds))
  }

  @Test(arguments: [
    "", "1", "10", "ms", "-1s", "+1s", "1.5h", "1 s", "1S", "1y", "30m1h", "1s1s", "1s ", "٣s",
    "9223372036854775807d", "99999999999999999999s", "9223372036854775807ms1s",
  ])
  func `anything else is not a duration`(text: String) {
    #expect(Duration(text: text) == nil)
  }

  @Test(
    arguments: [
      ("immediate", .immediate), ("never", .never), ("@every 30s", .every(.seconds(30))),
      ("@every 1h30m", .every(.seconds(5400))),
    ] as [(String, Schedule)])
  func `a schedule may be a word or an interval`(text: String, schedule: Schedule) throws {
    #expect(try Schedule(text: text) == schedule)
  }

  @Test(arguments: [
    ("@hourly", "0 * * * *"), ("@daily", "0 0 * * *"), ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * SUN"), ("@monthly", "0 0 1 * *"), ("@yearly", "0 0 1 jan *"),
    ("@annually", "0 0 1 1 *"), ("0 0 * * 7", "0 0 * * 0"), ("0 0 * * sat-sun", "0 0 * * 6,0"),
    ("*/20 * * * *", "0,20,40 * * * *"), ("1-9/4 * * * *", "1,5,9 * * * *"),
    ("0 0 1 MAR-may *", "0 0 1 3,4,5 *"), ("0  9-10 * * mon", "0 9,10 * * 1"),
    ("17\t3\t*\t* *", "17 3 * * *"),
  ])
  func `two ways of writing are the same schedule`(one: String, other: String) throws {
    #expect(try Schedule(text: one) == Schedule(text: other))
  }

  @Test func `a cron field's bits are the values that match`() throws {
    let cron = try Cron("17 3 1,15 */6 1-5")
    #expect(cron.minutes == 1 << 17)
    #expect(cron.hours == 1 << 3)
    #expect(cron.days == 1 << 1 | 1 << 15)
    #expect(cron.months == 1 << 1 | 1 << 7)
    #expect(cron.weekdays == 0b11_1110)
    #expect(!cron.anyDay && !cron.anyWeekday)
    let daily = try Cron("0 0 * * */2")
    #expect(daily.days == 0xFFFF_FFFE)
    #expect(daily.weekdays == 0b101_0101)
    #expect(daily.anyDay && daily.anyWeekday)
  }

  @Test(arguments: [
    ("immediatly", #"unknown schedule "immediatly"; did you mean "immediate"?"#),
    ("hourly", #"unknown schedule "hourly"; did you mean "@hourly"?"#),
    (
      "@reboot",
      #"unknown schedule "@reboot"; known: immediate, never, @every 30s, @yearly, @annually, "#
        + "@monthly, @weekly, @daily, @midnight, @hourly, 17 3 * * *"
    ),
    ("@every soon", #""soon" is not a duration, such as "30s" or "15m""#),
    ("@every", #""" is not a duration, such as "30s" or "15m""#),
    ("@every 10ms", "@every needs at least 1s"),
    ("17 3 * *", "a cron expression has 5 fields, not 4"),
    ("17 3 * * * *", "a cron expression has 5 fields, not 6"),
    ("60 * * * *", #"minute "60" is not within 0-59"#),
    ("* 24 * * *", #"hour "24" is not within 0-23"#),
    ("* * 0 * *", #"day "0" is not within 1-31"#),
    ("* * * 13 *", #"month "13" is not within 1-12"#),
    ("* * * * 8", #"weekday "8" is not within 0-7"#),
    ("* * * foo *", #"month "foo" is not within 1-12"#),
    ("+1 * * * *", #"minute "+1" is not within 0-59"#),
    ("1, * * * *", #"minute "" is not within 0-59"#),
    ("9-5 * * * *", #"minute "9-5" runs backwards"#),
    ("5/15 * * * *", #"minute "5/15": a step needs * or a range before it"#),
    ("*/0 * * * *", #"minute "*/0": the step is not a number above 0"#),
    ("*/ * * * *", #"minute "*/": the step is not a number above 0"#),
    ("* * */9223372036854775807 * *", ""),
    ("0 0 31 2,4 *", "no month of 2,4 has a day 31"),
    ("0 0 30 feb *", "no month of feb has a day 30"),
  ])
  func `an illegal schedule is refused with what is wrong`(text: String, reason: String) {
    do throws(IllegalSchedule) {
      _ = try Schedule(text: text)
      #expect(reason.isEmpty)
    } catch {
      #expect(error.reason == reason)
    }
  }

  @Test func `a day that comes in some month, or by its weekday, is legal`() throws {
    _ = try Cron("0 0 29 2 *")
    _ = try Cron("0 0 31 2,3 *")
    _ = try Cron("0 0 31 2 mon")
  }
}
