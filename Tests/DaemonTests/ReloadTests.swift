import Glibc
import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// Models that change while the daemon runs.
@Suite struct ReloadTests {
  private static let cascade = """
    relationships: [{ name: "r", from: "b", to: "a", deleteRule: "noAction",
      inverse: { name: "rs", deleteRule: "cascade" } }]
    """
  private static let data = """
    {"changes": [{"put": ["a", "1"]}, {"put": ["b", "1"]},
      {"link": {"name": "r", "from": ["b", "1"], "to": ["a", "1"]}}]}
    """

  @Worker @Test func tellsWhatChanged() throws {
    let host = try Host()
    for store in ["changes", "goes", "stays"] { try host.model(store) }
    try host.start()
    try host.wait(for: "changes", toBe: "ok")
    #expect(try host.ctl("reload").output == "nothing changed\n")
    try host.model("changes", "\(ReloadTests.cascade), trash: \"3d\"")
    try host.remove("goes.json")
    try host.model("comes")
    let reload = try host.ctl("--json", "reload")
    #expect(reload.status == 0)
    let json = try reload.json
    #expect(json["added"] == [.string(host.path("comes"))])
    #expect(json["removed"] == [.string(host.path("goes"))])
    #expect(json["unchanged"] == [.string(host.path("stays"))])
    #expect(json["failed"] == [])
    let changed = json["changed"]?.array?.first
    #expect(changed?["store"] == .string(host.path("changes")))
    #expect(changed?["changes"] == ["relationship b.r added", "trash changed"])
    try host.wait(for: "comes", toBe: "ok")
    try host.wait(for: "goes", toBe: nil)
    #expect(try host.end() == .exit(0))
  }

  @Worker @Test func theNewModelRules() throws {
    let host = try Host()
    try host.model("one")
    try host.start()
    try host.wait(for: "one", toBe: "ok")
    try host.model("one", ReloadTests.cascade)
    host.send(SIGHUP)
    try host.waitUntil("it is reloaded") { host.log.contains("has another model") }
    #expect(try host.ctl("apply", "-", input: ReloadTests.data).status == 0)
    let delete = try host.ctl(
      "--json", "apply", "-", input: #"{"changes": [{"delete": ["a", "1"]}]}"#)
    #expect(try delete.json["deletedCount"] == 2)
  }

  @Worker @Test func aBadModelLeavesEverythingAsItIs() throws {
    let host = try Host()
    for store in ["one", "two"] { try host.model(store) }
    try host.start()
    try host.wait(for: "two", toBe: "ok")
    try host.remove("two.json")
    try host.write("one.json", "{ store: \"one.db\", limitz: {} }")
    let reload = try host.ctl("reload")
    #expect(reload.status == 78)
    #expect(reload.error.contains("one.json: "))
    #expect(reload.error.contains("did you mean \"limits\"?"))
    #expect(try host.states().count == 2)
    host.send(SIGHUP)
    try host.waitUntil("it is told") {
      host.log.components(of: "reload failed, nothing was changed") == 2
    }
    #expect(try host.states().values.allSatisfy { $0 == "ok" })
  }

  @Worker @Test func whoWaitsForAFileStillLearnsWhatBecameOfIt() throws {
    let store = try TestStore(model: "{}")
    // Somebody else has the lock, so that the file waits.
    let holder = try Connection(path: store.path, access: .readWrite)
    holder.setBusyTimeout(milliseconds: 10_000)
    try holder.begin()
    let input = try FileDescriptor.open("/dev/null")
    try store.scratch.write("change.json", #"{"changes": [{"put": ["a", "1"]}]}"#)
    let apply = try Running(
      [Programs.cascadectl, "--store", store.path, "apply", store.scratch.path("change.json")],
      input: input)
    try store.waitUntil("it is in the queue") { try store.count(in: "new") == 1 }
    try Directory.open(store.spool).file("model.json", .append).writeAll(Array("// yes".utf8))
    kill(store.identifier, SIGHUP)
    holder.rollback()
    #expect(try apply.finish().status == 0)
  }
}

extension String {
  fileprivate func components(of part: String) -> Int {
    var count = 0
    var rest = self[...]
    while let found = rest.firstRange(of: part) {
      count += 1
      rest = rest[found.upperBound...]
    }
    return count
  }
}
