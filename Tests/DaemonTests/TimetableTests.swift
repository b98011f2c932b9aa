import CascadeModel
import CascadeSystem
import Testing

/// Sweeps that run by the clock.
@Suite struct TimetableTests {
  private let dropAlbum = "DELETE FROM album WHERE id = 1"

  @Worker @Test func `a cron sweep runs in its minute, and once`() throws {
    let (store, clock) = try served("dangling: '17 3 * * *'")
    let first = try store.next("dangling")
    #expect(first / .minutes * .minutes == .june + 3 * .hours + 17 * .minutes)
    #expect(first % .seconds == 0)
    #expect(try store.schedule("dangling")["nextWhy"] == "schedule")
    #expect(try store.schedule("dangling")["last"] == .null)
    try store.sql(dropAlbum)
    try clock.set(first - 1)
    try store.waitUntilQuiet()
    #expect(try store.sweeps() == nil)
    #expect(try store.songs() == [10, 11, 20])
    try clock.set(first)
    try store.waitUntil("it ran") { try store.songs() == [20] }
    try store.wait(forRuns: 1)
    let last = try store.schedule("dangling")["last"]
    #expect(last == ["at": .integer(first), "outcome": "done", "why": "schedule", "sweep": 1])
    #expect(try store.next("dangling") == first + .days)
    for time in [first + 30 * .seconds, first + .minutes, first + 23 * .hours] {
      try clock.set(time)
      try store.waitUntilQuiet()
    }
    #expect(try store.sweeps() == 1)
    try clock.set(first + .days)
    try store.wait(forRuns: 2)
    #expect(try store.status()["lastSweep"]?["outcome"] == "nothing")
    #expect(!store.log.contains("sweep 2"))
  }

  @Worker @Test func `missed runs become one, and a restart repeats none`() throws {
    let (store, clock) = try served("dangling: '17 3 * * *', files: '@hourly'")
    let next = try (store.next("dangling"), store.next("files"))
    try store.end()
    try store.start()
    #expect(try (store.next("dangling"), store.next("files")) == next)
    #expect(try store.sweeps() == nil)
    try store.end()
    try clock.set(.june + 5 * .days)
    try store.start()
    try store.wait(forRuns: 1)
    #expect(try store.status()["lastSweep"]?["kinds"] == ["dangling", "files"])
    #expect(try store.schedule("dangling")["last"]?["why"] == "missed")
    #expect(try store.next("dangling") == next.0 + 5 * .days)
    try store.end()
    try store.start()
    #expect(try store.sweeps() == nil)
    let last = try store.schedule("files")["last"]
    #expect(
      last
        == [
          "at": .integer(.june + 5 * .days), "outcome": "nothing", "why": "missed", "sweep": .null,
        ])
    try clock.set(.june + 9 * .days)
    try store.wait(forRuns: 1)
    #expect(try store.status()["lastSweep"]?["kinds"] == ["dangling", "files"])
  }

  @Worker @Test func `what ran does not run again because the clock is set back`() throws {
    let (store, clock) = try served("dangling: '17 3 * * *'")
    let first = try store.next("dangling")
    try clock.set(first)
    try store.wait(forRuns: 1)
    try clock.set(first - 2 * .hours)
    try store.waitUntilQuiet()
    #expect(try store.next("dangling") == first + .days)
    try clock.set(first + .minutes)
    try store.waitUntilQuiet()
    #expect(try store.sweeps() == 1)
    // It was wrong before.
    try clock.set(first - 10 * .days)
    try store.waitUntil("it counts from there") { try store.next("dangling") == first - 9 * .days }
  }

  @Worker @Test func `an interval goes on whatever becomes of the clock`() throws {
    let (store, clock) = try served("dangling: '@every 30m'")
    let first = try store.next("dangling")
    #expect(.june + 1...(.june + 30 * .minutes) ~= first)
    try clock.set(first)
    try store.wait(forRuns: 1)
    #expect(try store.next("dangling") == first + 30 * .minutes)
    try clock.set(first - 2 * .hours)
    try store.waitUntil("it begins anew") {
      try store.next("dangling") == first - 90 * .minutes
    }
    try clock.set(first - 90 * .minutes)
    try store.wait(forRuns: 2)
    try clock.set(first + 10 * .hours)
    try store.wait(forRuns: 3)
    try store.waitUntilQuiet()
    #expect(try store.sweeps() == 3)
    #expect(try store.schedule("dangling")["last"]?["why"] == "missed")
  }

  @Worker @Test func `kinds that the model does not name never run by themselves`() throws {
    let (store, clock) = try served("trash: '@daily'")
    try store.sql(dropAlbum)
    for kind in ["cascade", "refcount", "dangling", "unreachable", "files"] {
      let schedule = try store.schedule(kind)
      #expect(schedule["schedule"] == "never" && schedule["next"] == .null)
      #expect(schedule["nextWhy"] == .null)
    }
    try clock.set(.june + 3 * .days)
    try store.wait(forRuns: 1)
    #expect(try store.status()["lastSweep"]?["kinds"] == ["trash"])
    #expect(try store.songs() == [10, 11, 20])
  }

  @Worker @Test func `without sweeps in the model the trash is forgotten daily`() throws {
    let (store, clock) = try served(nil)
    let words = try store.schedules().map { $0["schedule"] }
    #expect(words == ["immediate", "immediate", "@daily", "@daily", "@daily", "@daily"])
    try store.sql(dropAlbum)
    try store.waitUntil("it is swept") {
      try store.schedule("cascade")["last"]?["why"] == "immediate"
    }
    #expect(try store.ctl("batches").output.contains("until 2026-06-02 00:00:00Z"))
    // Some stores run it in the very second in which a day has passed, and not more.
    try clock.set(store.next("trash") + .seconds)
    try store.wait(forRuns: 2)
    #expect(
      try store.status()["lastSweep"]?["kinds"] == ["dangling", "unreachable", "files", "trash"])
    #expect(!(try store.ctl("batches").output.contains("until")))
    #expect(try store.ctl("why", "songs/10").output.contains("is not known"))
  }

  @Worker @Test func `what nothing reaches is collected by schedule`() throws {
    let (store, clock) = try served("unreachable: '@hourly'", more: "roots: ['artists'],")
    try store.sql("INSERT INTO album VALUES(3, 'Lost', NULL); INSERT INTO song VALUES(30, 3)")
    try clock.set(store.next("unreachable"))
    try store.waitUntil("the album is gone") { try store.songs() == [10, 11, 20] }
    try store.wait(forRuns: 1)
    #expect(try store.schedule("unreachable")["last"]?["outcome"] == "done")
  }

  @Worker @Test func `a detached store rests, and counts anew from when it is attached`() throws {
    let (store, clock) = try served("dangling: '@hourly'")
    let first = try store.next("dangling")
    try store.ctl("detach")
    let schedule = try store.schedule("dangling")
    #expect(schedule["next"] == .null && schedule["nextWhy"] == "paused")
    try clock.set(first + 5 * .hours)
    try store.waitUntilQuiet()
    try store.ctl("attach")
    try store.waitUntil("it is on time") {
      try store.schedule("dangling")["next"] == .integer(first + 6 * .hours)
    }
    try clock.set(first + 6 * .hours)
    try store.waitUntil("it ran") { try store.schedule("dangling")["last"]?["why"] == "schedule" }
  }

  @Worker @Test func `times are local, also on the day when clocks are changed`() throws {
    let march: Int64 = 1_774_699_200_000  // 2026-03-28 12:00 UTC
    let (store, clock) = try served("files: '30 2 * * *'", at: march, zone: "Europe/Berlin")
    let gap = march + 13 * .hours
    #expect(try store.next("files") / .minutes * .minutes == gap)
    try clock.set(store.next("files"))
    try store.wait(forRuns: 1)
    #expect(try store.next("files") / .minutes * .minutes == gap + 23 * .hours + 30 * .minutes)
  }

  @Worker @Test func `a run that fails is tried again until it is done`() throws {
    let (store, clock) = try served("files: '@hourly'")
    let first = try store.next("files")
    try store.scratch.directory.rename("store.db", to: store.scratch.directory, as: "away.db")
    try clock.set(first)
    try store.waitUntil("it tells") { try store.schedule("files")["nextWhy"] == "trouble" }
    #expect(try store.schedule("files")["last"] == .null)
    try store.scratch.directory.rename("away.db", to: store.scratch.directory, as: "store.db")
    try store.waitUntil("it ran") { try store.schedule("files")["last"]?["why"] == "schedule" }
    try store.wait(forState: "ok")
  }

  @Worker @Test func `a held run is a run`() throws {
    let (store, clock) = try served(
      "dangling: '@hourly'", more: "limits: { hold: { deletes: 1, share: 0 } },")
    try store.sql(dropAlbum)
    let first = try store.next("dangling")
    try clock.set(first)
    try store.wait(forState: "held")
    #expect(try store.schedule("dangling")["last"]?["outcome"] == "held")
    #expect(try store.next("dangling") == first + .hours)
    let plan = try store.status()["lastSweep"]?["plan"]?.text ?? ""
    #expect(try store.ctl("approve", plan).status == 0)
    #expect(try store.schedule("dangling")["last"]?["why"] == "approved")
    #expect(try store.songs() == [20])
  }

  @Worker @Test func `what is blocked again and again is logged once`() throws {
    let (store, clock) = try served("dangling: '@hourly'")
    try store.sql("DROP TABLE contract")
    for count in 1...3 {
      try clock.set(store.next("dangling"))
      try store.wait(forRuns: Int64(count))
      #expect(try store.schedule("dangling")["last"]?["outcome"] == "blocked")
    }
    #expect(store.log.split(separator: "\n").count { $0.contains(" blocked, ") } == 1)
  }

  @Worker @Test func `what people ask for is the last run, and is shown`() throws {
    let (store, clock) = try served("trash: '@daily', files: '@daily'")
    try clock.set(.june + .hours)
    try store.ctl("sweep", "trash")
    #expect(try store.schedule("trash")["last"]?["why"] == "asked")
    let second = try store.next("trash") / .seconds % 60
    let next = "2026-06-02 00:00:\(second < 10 ? "0" : "")\(second)Z"
    let text = try store.ctl("status").output
    #expect(text.contains("    files: @daily; next \(next)\n"))
    #expect(
      text.contains(
        "    trash: @daily; next \(next); last 2026-06-01 01:00:00Z: nothing (asked)\n"))
    #expect(!text.contains("cascade: "))
    try store.ctl("sweep")
    #expect(try store.schedule("cascade")["last"]?["why"] == "asked")
    #expect(try store.ctl("status").output.contains("\n    files, trash: @daily; "))
  }

  @Worker @Test func `immediate means shortly after a commit for what looks through everything`()
    throws
  {
    let (store, clock) = try served("dangling: 'immediate'")
    // What was there at its start counts as committed, whenever it comes to that.
    try store.waitUntilQuiet()
    try clock.set(.june + 10 * .minutes)
    try store.waitUntil("it looked at first") {
      try store.schedule("dangling")["last"]?["why"] == "immediate"
    }
    try store.sql(dropAlbum)
    try store.waitUntil("it is to run") { try store.schedule("dangling")["next"] != .null }
    #expect(try store.songs() == [10, 11, 20])
    try clock.set(.june + 20 * .minutes)
    try store.waitUntil("it ran") { try store.songs() == [20] }
    try store.waitUntilQuiet()
    #expect(try store.schedule("dangling")["next"] == .null)
  }

  @Worker @Test func `leases end by the same clock`() throws {
    let (store, clock) = try served(nil)
    try store.ctl("lease", "songs/10", "--for", "15m")
    try store.sql(dropAlbum)
    try store.waitUntil("the other song is gone") { try store.songs() == [10, 20] }
    try clock.set(.june + 16 * .minutes)
    try store.waitUntil("the song is gone") { try store.songs() == [20] }
  }

  /// The library, with these sweeps, at a time.
  private func served(
    _ sweeps: String?, more: String = "", at time: Int64 = .june, zone: String = "UTC"
  ) throws -> (TestStore, SetClock) {
    let clock = try SetClock(time, zone: zone)
    let text = sweeps.map { "sweeps: { \($0) }" } ?? ""
    let store = try Library.store(more: more + text, starts: false)
    store.clock = clock
    // What dangled before anybody watched is looked for once.
    try store.start()
    try store.end()
    try store.start()
    return (store, clock)
  }
}

extension TestStore {
  fileprivate func schedules() throws -> [JSON] { try status()["schedules"]?.array ?? [] }

  fileprivate func schedule(_ kind: String) throws -> JSON {
    try #require(try schedules().first { $0["kind"]?.string == kind })
  }

  fileprivate func next(_ kind: String) throws -> Int64 {
    try #require(try schedule(kind)["next"]?.integer)
  }

  /// How many there were since it began; nil before the first.
  fileprivate func sweeps() throws -> Int64? { try status()["lastSweep"]?["sweep"]?.integer }

  fileprivate func wait(forRuns count: Int64) throws {
    try waitUntil("\(count) sweeps") { try sweeps() == count }
  }
}
