import CascadeKit
import CascadeModel
import CascadeSystem
import Testing

/// `top`, in a pseudo-terminal whose screen a script reads.
@Suite struct TopTests {
  private static func use(_ store: TestStore, _ what: String) throws {
    try use(store.path, what, ["\(store.identifier)"])
  }

  /// Of a store, or of the daemon behind a socket.
  private static func use(_ target: String, _ what: String, _ more: [String] = []) throws {
    let tests = "\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/")
    let outcome = try run(
      ["/usr/bin/python3", "-B", "/\(tests)/Foreign/top.py", Programs.cascadectl, target, what]
        + more, environment: ["PATH=/usr/bin:/bin"], limit: .seconds(120))
    #expect(outcome.status == 0, "\(outcome.error)")
  }

  @Worker
  @Test(arguments: [
    "shows", "resizes", "is_quiet", "ends", "stops", "stalls", "waits", "wraps",
  ])
  func isUsedByAPerson(what: String) throws {
    try TopTests.use(try Library.store(), what)
  }

  @Worker @Test func showsOfManyStoresThoseAroundTheChosenOne() throws {
    let host = try Host()
    for number in 0..<30 { try host.model("one-\(number < 10 ? "0" : "")\(number)") }
    try host.start()
    try host.wait(for: "one-29", toBe: "ok")
    try TopTests.use(host.socket, "many")
  }

  @Worker @Test func showsHeldPlans() throws {
    let store = try Library.store(more: "limits: { hold: { deletes: 1, share: 0 } },")
    try store.sql("DELETE FROM artist WHERE id = 'nina'")
    try TopTests.use(store, "holds")
  }

  @Worker @Test func showsHowFarASweepIs() throws {
    let sweep = try LongSweep(rows: 200_000)
    try TopTests.use(sweep.store, "progresses")
  }

  @Worker @Test func saysWhatToDoWithoutATerminalOrADaemon() throws {
    let store = try Library.store()
    let piped = try store.ctl("top")
    #expect(piped.status == 64)
    #expect(piped.error.contains("events --follow"))
    try store.end()
    let alone = try run(
      ["/usr/bin/script", "-qec", "\(Programs.cascadectl) --store \(store.path) top", "/dev/null"])
    #expect(alone.status == 75)
    #expect(alone.output.contains("is cascaded running? Start `cascaded STORE.db`"))
  }

  @Worker @Test func statusHasWhatTopShows() throws {
    let store = try Library.store(more: "limits: { hold: { deletes: 1, share: 0 } },")
    #expect(try store.status()["progress"] == .null)
    #expect(try store.status()["heldPlans"] == [])
    try store.sql("DELETE FROM artist WHERE id = 'nina'")
    try store.waitUntil("it is held") { try store.state() == "held" }
    let plan = try #require(try store.status()["heldPlans"]?.array?.first)
    #expect(plan["plan"]?.integer != nil && plan["kinds"] == ["cascade", "refcount"])
    #expect(plan["deletedCount"] == 3 && plan["byCollection"] == ["albums": 1, "songs": 2])
    let held = try store.ctl("--json", "plan", plan["plan"]!.text).json
    #expect(held["plan"] == plan["plan"] && held["kinds"] == ["cascade", "refcount"])
    #expect(held["deletedCount"] == 3)
    let nodes = held["steps"]?.array?.map { $0["node"] }
    #expect(nodes == [["albums", 1], ["songs", 10], ["songs", 11]])
    #expect(try store.ctl("plan", "77").status == 65)
    try store.ctl("approve", plan["plan"]!.text)
    let status = try store.status()
    #expect(status["heldPlans"] == [])
    #expect(status["lockMs"]?["max"]?.number ?? 0 > 0)
  }

  @Worker
  @Test(arguments: [
    #"{"delete": ["albums", 1]}, {"put": ["notes", "x"]}"#, #"{"deleteAll": "albums"}"#,
  ])
  func plansOfHeldFilesListWhatTheyWouldDelete(changes: String) throws {
    let store = try Library.store(more: "limits: { hold: { deletes: 1, share: 0 } },")
    let held = try store.ctl("--json", "apply", "-", input: #"{"changes": [\#(changes)]}"#).json
    let number = try #require(held["plan"])
    let plan = try store.ctl("--json", "plan", number.text).json
    #expect(plan["plan"] == number && plan["file"]?.string != nil && plan["kinds"] == .null)
    #expect(plan["deletedCount"] == held["deletedCount"])
    #expect(plan["byRule"]?["deleteSourceIfDestinationDeleted"]?.integer ?? 0 > 1)
    let text = try store.ctl("plan", number.text).output
    #expect(text.hasPrefix("plan \(number.text) of change file"))
  }

  @Worker @Test func batchesCanBeginWithTheNewest() throws {
    let store = try Library.store()
    try store.ctl("apply", "-", input: #"{"changes": [{"delete": ["songs", 10]}]}"#)
    try store.ctl("apply", "-", input: #"{"changes": [{"delete": ["songs", 20]}]}"#)
    var client = try store.client()
    let newest = try client.call("Batches", ["newest": true, "limit": 1])["batches"]
    let all = try client.call("Batches")["batches"]?.array ?? []
    #expect(all.count == 2)
    #expect(newest == .array([try #require(all.last)]))
  }
}
