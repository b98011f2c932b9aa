import CascadeModel
import CascadePostgres
import PostgresSupport
import Testing

/// Of a store that a newer version has served, it is told what to do. The others are served.
@Suite("Stores of newer versions")
struct NewerStoreTests {
  private func expectRefusal(_ text: String, detaching command: String) {
    #expect(text.contains("a newer version of Cascade made the tables (layout 99;"), "\(text)")
    #expect(text.contains("`\(command)`"), "\(text)")
  }

  @Worker @Test("One of many SQLite stores is refused, until it is detached")
  func sqlite() throws {
    let host = try Host()
    for store in ["one", "two"] { try host.model(store) }
    try host.start()
    for store in ["one", "two"] { try host.wait(for: store, toBe: "ok") }
    #expect(try host.end() == .exit(0))
    try host.makeNewer("two")
    try host.start()
    try host.wait(for: "two", toBe: "degraded")
    #expect(try host.states()[host.path("one")] == "ok")
    let status = try host.ctl(of: "two", "--json", "status").json["stores"]?.array?.first
    let path = host.path("two")
    expectRefusal(status?["reason"]?.string ?? "", detaching: "cascaded --detach \(path)")
    let detachment = try run([Programs.cascaded, "--detach", path])
    #expect(detachment.status == 0, "\(detachment.error)")
    try host.wait(for: "two", toBe: "ok")
  }

  @Worker @Test("A SQLite store alone is refused, until it is detached")
  func alone() throws {
    let store = try Library.store()
    try store.end()
    try store.sql("UPDATE cascade_meta SET value = 99 WHERE name = 'version'")
    let refused = try run([Programs.cascaded, store.path])
    #expect(refused.status == 65)
    expectRefusal(refused.error, detaching: "cascaded --detach \(store.path)")
    let model = "\(store.spool)/model.json"
    let judged = try run([Programs.cascaded, "--check-config", "--model", model, store.path])
    expectRefusal(judged.error, detaching: "cascaded --detach \(store.path)")
    #expect(try run([Programs.cascaded, "--detach", store.path]).status == 0)
    try store.start()
    #expect(try store.state() == "ok")
  }

  @Worker
  @Test(
    "A PostgreSQL database is refused, until it is detached",
    .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
  func postgres() throws {
    let store = try PostgresDaemon(
      model: MusicModel.text(), schema: MusicServer.schema(artists: 1, albums: 1, songs: 1))
    store.stop()
    try store.database.session(as: "postgres").execute(
      "UPDATE cascade.meta SET value = 99 WHERE key = 'version'")
    let refused = try PostgresDaemon.run(["--model", store.modelFile])
    #expect(refused.status == 65)
    expectRefusal(refused.error, detaching: "cascaded-postgres --detach --model FILE")
    let judged = try PostgresDaemon.run(["--check-config", "--model", store.modelFile])
    expectRefusal(judged.error, detaching: "cascaded-postgres --detach --model FILE")
    #expect(try PostgresDaemon.run(["--detach", "--model", store.modelFile]).status == 0)
    try store.start()
  }
}

extension Host {
  fileprivate func makeNewer(_ store: String) throws {
    let sql = "UPDATE cascade_meta SET value = 99 WHERE name = 'version'"
    #expect(try run(["/usr/bin/sqlite3", path(store), sql]).status == 0)
  }
}
