import CascadeKit
import CascadeModel
import CascadeSystem
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
    // An earlier daemon counted further.
    #expect(try store.ctl("--json", "events", "--after", "40").lines.count == 3)
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
    #expect(late.error.contains("events are no longer available"))
    #expect(late.output.split(separator: "\n").count >= 900)
  }

  @Worker @Test func aSweepTellsHowFarItIs() throws {
    let store = try LongSweep(rows: 40_000)
    let sweep = try EventTests.progress(of: "Sweep", in: store)["sweep"]
    #expect(sweep?["deletedCount"] == 40_000)
  }

  @Worker @Test func anUndoTellsHowFarItIs() throws {
    let store = try LongSweep(rows: 40_000, trash: "1d")
    let swept = try store.store.ctl("--json", "sweep").json
    let batch = try #require(swept["batch"])
    let undone = try EventTests.progress(of: "Undo", ["batch": batch], in: store)["undone"]
    #expect(undone?["restored"] == 40_000)
    #expect(try store.rest() == 40_000)
  }

  /// The last reply; those before tell of it in order.
  private static func progress(
    of method: String, _ parameters: JSON = [:], in store: LongSweep
  ) throws -> JSON {
    let phase: JSON = method == "Undo" ? "restoring" : "deleting"
    var client = try store.store.client()
    var progress: [JSON] = []
    var last: JSON = .null
    try client.stream(method, parameters) { reply in
      last = reply
      if let one = reply["progress"], !one.isNull { progress.append(one) }
    }
    let works = progress.filter { $0["phase"] == phase }
    #expect(!works.isEmpty)
    let done = works.compactMap { $0["done"]?.integer }
    #expect(done == done.sorted())
    #expect(works.allSatisfy { $0["done"]!.integer! <= $0["total"]!.integer! })
    return last
  }

  @Worker @Test func namesWhoDidIt() throws {
    let store = try TestStore(
      model: "{ limits: { hold: { deletes: 0, share: 0 } }, sweeps: {} }")
    let user = "uid \(Process.userIdentifier)"
    try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#)
    try store.ctl("apply", "-", input: "{")
    try store.enqueue("bad.json", "{")
    try store.waitUntil("it is rejected") { try store.count(in: "rejected") == 2 }
    let rejected = try #require(try store.ctl("--json", "spool").lines.first?["file"]?.string)
    try store.ctl("spool", "retry", rejected)
    try store.waitUntil("it is rejected again") { try store.count(in: "rejected") == 2 }
    try store.ctl("spool", "drop", rejected)
    try store.ctl("apply", "-", input: #"{"id": "x", "changes": [{"delete": ["a", "1"]}]}"#)
    try store.ctl("approve", "1")
    let why = try store.ctl("--json", "why", "a/1").json["deleted"]
    #expect(why?["author"] == .string(user))
    try store.ctl("detach")
    try store.ctl("attach")
    let events = try store.ctl("--json", "events").lines
    #expect(
      events.map { $0["kind"]?.string } == [
        "applied", "rejected", "rejected", "retried", "rejected", "dropped", "held", "approved",
        "deleted", "detached", "attached",
      ])
    // Who put a file back is told; from then on it is the spool's.
    let nameless = events.filter { $0["uid"] != .integer(Int64(Process.userIdentifier)) }
    #expect(nameless.map { $0["kind"]?.string } == ["rejected", "rejected", "deleted"])
    #expect(events[7]["message"]?.string?.hasSuffix("plan 1 approved by \(user)") == true)
  }

  @Worker @Test func namesWhoAskedForASweepOrAReload() throws {
    let store = try Library.store(more: "sweeps: {},")
    let user = "uid \(Process.userIdentifier)"
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.ctl("sweep", "cascade")
    let swept = try store.ctl("--json", "events").lines.last
    #expect(swept?["uid"] == .integer(Int64(Process.userIdentifier)))
    #expect(swept?["message"]?.string?.contains(" by \(user) done, deleted 2 nodes") == true)
    try store.write(model: Library.model("trash: '2d'"))
    #expect(try store.ctl("reload").status == 0)
    let reloaded = try store.ctl("--json", "events").lines.last
    #expect(reloaded?["uid"] == .integer(Int64(Process.userIdentifier)))
    #expect(reloaded?["message"]?.string?.hasSuffix("(reloaded by \(user))") == true)
  }
}
