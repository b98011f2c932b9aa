import CascadeModel
import CascadeSystem
import Testing

/// More stores than the limits of the process allow: what fits is served, and what does not is told.
@Suite struct LimitTests {
  @Worker
  @Test(
    "Stores beyond the limit of descriptors wait, are told with its name, and come up when others go"
  )
  func descriptors() throws {
    let host = try Host.ofTenants()
    let stores = try (0..<45).map { try host.addTenant("t\($0)") }
    try host.start(under: ["/usr/bin/prlimit", "--nofile=128"])
    var states: [String: String] = [:]
    try host.waitUntil("some are served") {
      states = try host.states()
      return states.values.count { $0 == "ok" } > 10
    }
    let served = stores.filter { states[$0] == "ok" }
    let waiting = stores.filter { states[$0] == "waiting" }
    #expect(waiting.count > 10)
    #expect(
      host.log.contains(
        "t44/app.db: cascaded may have 128 descriptors (LimitNOFILE), and other stores need them"))
    for store in [served[0], served[served.count / 2]] {
      try host.deleteAlbum(of: store)
      try host.waitUntilSwept(store)
    }
    for store in served { try #require(try run(["/bin/rm", store]).status == 0) }
    try host.waitUntil("some that waited are served") {
      let states = try host.states()
      return waiting.count { states[$0] == "ok" } > 8
    }
    #expect(try host.end() == .exit(0))
  }

  @Worker
  @Test(
    "A store that cannot be watched is looked at every few seconds, and says so",
    .enabled(if: (try? run(withFewWatches + ["/bin/true"]).status) == 0, "no user namespaces"))
  func watches() throws {
    let host = try Host.ofTenants()
    let stores = try (0..<30).map { try host.addTenant("t\($0)") }
    try host.start(under: withFewWatches)
    try host.waitUntil("all are served") {
      let states = try host.states()
      return stores.allSatisfy { states[$0] == "ok" }
    }
    let all = try host.ctl("--json", "status").json["stores"]?.array ?? []
    let polled = all.filter { $0["polled"]?.string != nil }.compactMap { $0["store"]?.string }
    #expect(!polled.isEmpty && polled.count < 30)
    let store = try #require(polled.last)
    let reason = "this user has no inotify watch left (sysctl fs.inotify.max_user_watches)"
    #expect(try host.ctl("--store", store, "status").output.contains(reason))
    let check = try host.ctl("--store", store, "check")
    #expect(check.status == 1 && check.output.contains(reason))
    #expect(host.log.contains("the store is looked at every 5 s, because"))
    try host.deleteAlbum(of: store)
    try host.waitUntilSwept(store)
    let change = #"{"changes": [{"put": ["notes", "1"]}]}"#
    try host.scratch.write("1.json", change)
    #expect(try run(["/bin/mv", host.scratch.path("1.json"), "\(store).cascade/new/"]).status == 0)
    try host.waitUntil("the change file is judged") {
      try run(["/bin/ls", "\(store).cascade/new"]).output.isEmpty
    }
    #expect(try host.end() == .exit(0))
  }
}

/// Begins a program that may have 30 inotify watches.
private let withFewWatches = [
  "/usr/bin/unshare", "-Ur", "/bin/sh", "-c",
  #"echo 30 >/proc/sys/user/max_inotify_watches && exec "$@""#, "sh",
]
