import Glibc
import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// A daemon of several stores: `--config DIR`.
@Suite struct ManyStoresTests {
  private static let put = #"{"changes": [{"put": ["a", "1"]}]}"#

  @Worker @Test func servesEveryModelOfADirectory() throws {
    let host = try Host()
    for store in ["one", "two"] { try host.model(store) }
    try host.write("notes.txt", "no model")
    try host.start()
    try host.wait(for: "two", toBe: "ok")
    #expect(try host.states() == [host.path("one"): "ok", host.path("two"): "ok"])
    #expect(try host.ctl(of: "two", "apply", "-", input: ManyStoresTests.put).status == 0)
    #expect(try host.ctl(of: "two", "nodes", "a").output == "a/1\n")
    #expect(try host.ctl(of: "one", "nodes", "a").output == "")
    let unsaid = try host.ctl("nodes", "a")
    #expect(unsaid.status == 69)
    #expect(unsaid.error.contains("several are served"))
    #expect(try host.ctl(of: "none", "nodes", "a").status == 69)
    let status = try host.ctl(of: "one", "--json", "status").json
    #expect(status["stores"]?.array?.map { $0["store"]?.string } == [host.path("one")])
    #expect(try host.ctl(of: "none", "status").status == 69)
    let sweeps = try host.ctl("--json", "sweep").output.split(separator: "\n").map {
      try JSON.parse(String($0))["store"]?.string
    }
    #expect(Set(sweeps) == [host.path("one"), host.path("two")])
    #expect(try host.end() == .exit(0))
  }

  @Worker @Test func oneStoresTroubleIsItsOwn() throws {
    let host = try Host()
    for store in ["good", "bad"] { try host.model(store) }
    try host.model("mapped", #"collections: { a: { table: "a", key: "id" } }"#)
    try host.scratch.write("bad.db", String(repeating: "no database ", count: 1_000))
    try host.start()
    try host.wait(for: "bad", toBe: "degraded")
    try host.wait(for: "mapped", toBe: "waiting")
    #expect(try host.ctl(of: "good", "apply", "-", input: ManyStoresTests.put).status == 0)
    let refused = try host.ctl(of: "bad", "nodes", "a")
    #expect(refused.status == 75)
    #expect(refused.error.contains("bad.db"))
    // A database of an application is the application's to make.
    #expect(try FileStatus.of(host.path("mapped")) == nil)
    #expect(host.log.contains("mapped.db does not exist"))
    let sweep = try host.ctl("sweep")
    #expect(sweep.status == 75)
    #expect(sweep.output.contains("good.db: nothing"))
    let pause = try host.ctl("pause")
    #expect(pause.status == 75)
    for part in ["bad.db", "the others are paused"] { #expect(pause.error.contains(part)) }
    #expect(try host.ctl(of: "good", "resume").status == 0)
    try host.scratch.directory.remove("bad.db")
    try host.wait(for: "bad", toBe: "ok")
    #expect(host.log.contains("bad.db: works again"))
  }

  /// Not even for the time that somebody waits for a lock, or for the other end of a pipe.
  @Worker @Test func nobodyWaitsForAStoreThatIsLocked() throws {
    let host = try Host()
    let table = #"collections: { a: { table: "a", key: "id" } }"#
    for store in ["good", "locked", "pipe"] { try host.model(store, table) }
    let schema = "CREATE TABLE a(id INTEGER PRIMARY KEY)"
    try Connection(path: host.path("good"), access: .create).execute(schema)
    let other = try Connection(path: host.path("locked"), access: .create)
    try other.execute("\(schema); BEGIN EXCLUSIVE")
    #expect(try run(["/usr/bin/mkfifo", host.path("pipe")]).status == 0)
    try host.start()
    try host.wait(for: "good", toBe: "ok")
    let start = ContinuousClock.now
    for _ in 0..<5 { _ = try host.ctl("--json", "status").json }
    #expect(ContinuousClock.now - start < .seconds(3))
    try host.wait(for: "pipe", toBe: "degraded")
    #expect(host.log.contains("pipe.db is not a regular file"))
    try host.wait(for: "locked", toBe: "waiting")
    try other.execute("COMMIT")
    try host.wait(for: "locked", toBe: "ok")
    #expect(try host.end() == .exit(0))
  }

  @Worker @Test(.enabled(if: geteuid() == 0, "root may enter every directory"))
  func triesAStoreAgainWhoseDirectoryCannotBeEntered() throws {
    let host = try Host()
    let closed = host.scratch.path("closed")
    _ = try Directory.openOrMake(closed)
    for name in ["a", "b"] { try host.write("\(name).json", "{ store: \"\(closed)/\(name).db\" }") }
    try host.model("good")
    #expect(try run(["/bin/chown", "-R", "65534:65534", host.scratch.path]).status == 0)
    #expect(try run(["/bin/chmod", "0", closed]).status == 0)
    try host.start(under: [
      "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    ])
    try host.wait(for: "closed/a", toBe: "degraded")
    #expect(try host.ctl("--json", "status").json["problems"] == [])
    #expect(try host.ctl(of: "good", "apply", "-", input: ManyStoresTests.put).status == 0)
    #expect(try run(["/bin/chmod", "755", closed]).status == 0)
    for name in ["closed/a", "closed/b"] { try host.wait(for: name, toBe: "ok") }
  }

  @Worker @Test func aBadDirectoryIsBadConfiguration() throws {
    let host = try Host()
    try host.model("one")
    try host.write("nameless.json", "{}")
    try host.write("twin.json", "{ store: \"\(host.path("one"))\" }")
    let spool = "\(host.path("one")).cascade"
    try host.write("spool.json", "{ store: \"\(host.path("two"))\", spool: \"\(spool)\" }")
    let check = try run([Programs.cascaded, "--check-config", host.models])
    #expect(check.status == 78)
    #expect(check.error.contains("spool.json: spool: \(host.models)/one.json has the same spool"))
    #expect(check.error.contains("nameless.json: store: missing"))
    #expect(check.error.contains("twin.json: store: \(host.models)/one.json is for the same"))
    let missing = [Programs.cascaded, "--config", "/no/such", "--socket", host.socket]
    #expect(try run(missing).status == 66)
    let mixed = try run([Programs.cascaded, "--config", host.models, "store.db"])
    #expect(mixed.status == 64)
  }

  @Worker @Test func aBadModelKeepsNoOtherStoreFromBeingServed() throws {
    let host = try Host()
    try host.model("one")
    try host.write("bad.json", "{ store: \"/bad.db\", limitz: {} }")
    try host.start()
    try host.wait(for: "one", toBe: "ok")
    #expect(try host.ctl("--json", "status").json["problems"]?.array?.count == 1)
    #expect(try host.ctl("status").output.contains("  ! \(host.models)/bad.json: "))
    #expect(host.log.contains("not served: \(host.models)/bad.json: "))
    try host.model("bad")
    #expect(try host.ctl("reload").status == 0)
    #expect(try host.ctl("--json", "status").json["problems"] == [])
    try host.wait(for: "bad", toBe: "ok")
    try host.remove("one.json")
    try host.write("bad.json", "{")
    let command = [Programs.cascaded, "--config", host.models, "--socket", host.scratch.path("s")]
    #expect(try run(command).status == 78)
  }

  @Worker @Test func wantsASocket() throws {
    let host = try Host()
    let none = try run([Programs.cascaded, "--config", host.models])
    #expect(none.status == 64)
    #expect(none.error.contains("--socket"))
  }
}
