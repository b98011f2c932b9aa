import CascadeKit
import Model
import System
import Testing

/// What happened, for those who watch: `events` and `metrics`.
@Suite struct EventTests {
  private static let put = #"{"id": "x.json", "author": "me", "changes": [{"put": ["a", "1"]}]}"#
  private static let delete = #"{"author": "me", "changes": [{"delete": ["a", "1"]}]}"#

  @Worker @Test func tellsWhatHappenedAndWhatHappens() throws {
    let store = try TestStore()
    try store.apply(EventTests.put)
    #expect(try store.ctl("apply", "-", input: "{").status == 65)
    let before = try store.ctl("--json", "events").lines
    #expect(before.map { $0["kind"]?.string } == ["applied", "rejected"])
    #expect(before[0]["author"] == "me")
    #expect(before[0]["store"] == .string(store.path))
    #expect(before[1]["reason"]?.string?.isEmpty == false)
    let input = try FileDescriptor.open("/dev/null")
    let follow = try Running(
      [Programs.cascadectl, "--store", store.path, "--json", "events", "--follow"], input: input)
    _ = try follow.lines(2)
    try store.apply(EventTests.delete)
    try store.ctl("pause")
    let lines = try follow.lines(4).map { try JSON.parse($0) }
    #expect(lines.map { $0["kind"]?.string } == ["applied", "rejected", "deleted", "paused"])
    #expect(lines[2]["deletedCount"] == 1)
    #expect(lines[2]["batch"]?.integer != nil)
    #expect(lines.map { $0["event"] } == [1, 2, 3, 4])
    try store.end()
    #expect(try follow.finish().status == 75)
  }

  @Worker @Test func goesOnBehindAnEvent() throws {
    let store = try TestStore()
    for _ in 1...3 { try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#) }
    let events = try store.ctl("--json", "events", "--after", "2").lines
    #expect(events.map { $0["event"] } == [3])
    #expect(try store.ctl("events", "--after", "x").status == 64)
  }

  @Worker @Test func keepsTheLastThousand() throws {
    let store = try TestStore()
    for number in 1...1_200 {
      try store.enqueue(
        FileName("\(number).json"), #"{"changes": [{"put": ["a", "\#(number)"]}]}"#)
    }
    try store.waitUntilIdle()
    try store.waitUntil("they are told") {
      try store.ctl("--json", "events").lines.last?["event"] == 1_200
    }
    let late = try store.ctl("events", "--after", "1")
    #expect(late.error.contains("events are not kept any more"))
    #expect(late.output.split(separator: "\n").count >= 900)
  }

  @Worker @Test func aSweepTellsHowFarItIs() throws {
    let store = try LongSweep(rows: 8_000)
    var client = try store.store.client()
    var progress: [JSON] = []
    var sweep: JSON?
    try client.stream("Sweep") { reply in
      sweep = reply["sweep"] ?? sweep
      if let one = reply["progress"], !one.isNull { progress.append(one) }
    }
    #expect(sweep?["deletedCount"] == 8_000)
    #expect(!progress.isEmpty)
    let deleting = progress.filter { $0["phase"] == "deleting" }
    let done = deleting.compactMap { $0["done"]?.integer }
    #expect(done == done.sorted())
    #expect(deleting.allSatisfy { $0["done"]!.integer! <= $0["total"]!.integer! })
  }
}
