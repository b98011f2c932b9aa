import CascadeModel
import CascadeSystem
import Glibc
import Testing

/// One model for every database that matches, those to come too.
@Suite struct TemplateTests {
  @Worker @Test("What matches is served, what comes is taken up, and what is gone is let go")
  func follows() throws {
    let host = try Host.ofTenants()
    let (one, two) = (try host.addTenant("one"), try host.addTenant("two"))
    try host.start()
    try host.waitUntil("all are served") {
      try host.states() == [host.path("own"): "ok", one: "ok", two: "ok"]
    }
    let deletion = ["/usr/bin/sqlite3", "-cmd", ".timeout 5000", one, "DELETE FROM album"]
    try #require(try run(deletion).status == 0)
    try host.waitUntil("it is swept") {
      try run(["/usr/bin/sqlite3", one, "SELECT count(*) FROM song"]).output == "0\n"
    }
    let three = try host.addTenant("three")
    try host.waitUntil("it is taken up") { try host.states()[three] == "ok" }
    #expect(try run(["/bin/rm", "-r", host.scratch.path("tenants/two")]).status == 0)
    try host.waitUntil("it is let go") { try host.states()[two] == nil }
    #expect(host.log.contains("two/app.db is gone, and no longer served"))
    #expect(try host.ctl("reload").status == 0)
    #expect(try host.states().count == 3)
    #expect(try host.end() == .exit(0))
  }

  @Worker
  @Test("Of very many stores a few stay open, and one that is closed is followed like any other")
  func closesWhatIsIdle() throws {
    let host = try Host.ofTenants()
    let stores = try (0..<36).map { try host.addTenant("t\($0)") }
    try host.start()
    try host.waitUntil("all are served") {
      let states = try host.states()
      return stores.allSatisfy { states[$0] == "ok" }
    }
    var closed: String?
    try host.waitUntil("some are closed") {
      let files = try host.openFiles
      closed = stores.first { !files.contains("\($0)\n") }
      return closed != nil
    }
    let store = try #require(closed)
    let status = try host.ctl("--store", store, "--json", "status").json["stores"]?.array
    #expect(status?.first?["journal"] == 0)
    #expect(try host.ctl("metrics", "--all").output.contains("store=\"\(store)\""))
    #expect(try !host.openFiles.contains("\(store)\n"), "to tell how it is does not open it")
    try #require(
      try run(["/usr/bin/sqlite3", "-cmd", ".timeout 5000", store, "DELETE FROM album"]).status == 0
    )
    try host.waitUntil("it is swept") {
      try run(["/usr/bin/sqlite3", store, "SELECT count(*) FROM song"]).output == "0\n"
    }
    let put = #"{"put": ["albums", 2], "value": {"cover": null}}"#
    for store in stores {
      #expect(try host.ctl("--store", store, "apply", "-", input: put).status == 0)
    }
    #expect(try host.end() == .exit(0))
  }

  @Worker @Test("What a model of many stores says wrongly is told")
  func refused() throws {
    let host = try Host.ofTenants("files: { media: \"/srv/media\" }")
    let check = try run([Programs.cascaded, "--check-config", host.models])
    #expect(check.status == 78 && check.error.contains("all stores would share it"))
    try host.write("tenants.json", "{ stores: \"tenants/*/app.db\", store: \"/x.db\" }")
    let other = try run([Programs.cascaded, "--check-config", host.models])
    #expect(other.error.contains("is not an absolute path"))
  }

  @Worker @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
  func eachUserSeesItsOwn() throws {
    let host = try Host.ofTenants("access: { user: \"*\" }")
    let (one, two) = (try host.addTenant("1236"), try host.addTenant("1237"))
    try host.start()
    try host.waitUntil("all are served") {
      let states = try host.states()
      return states[one] == "ok" && states[two] == "ok"
    }
    #expect(try run(["/bin/chmod", "755", host.scratch.path]).status == 0)
    #expect(try run(["/bin/chmod", "666", host.socket]).status == 0)
    let asked = try run(
      ["/usr/bin/setpriv", "--reuid=1237", "--regid=1237", "--clear-groups", Programs.cascadectl]
        + ["--socket", host.socket, "--json", "status"])
    let stores = try asked.json["stores"]?.array?.compactMap { $0["store"]?.string }
    #expect(stores.map(Set.init) == [host.path("own"), two])
  }
}
