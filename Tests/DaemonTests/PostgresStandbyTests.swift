import CascadeModel
import CascadePostgres
import CascadeSystem
import Glibc
import PostgresSupport
import Testing

/// What cannot be taken back waits until a standby that could be promoted has what it follows from.
@Worker
@Suite("Standbys on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresStandbyTests {
  private static let schema = """
    CREATE TABLE artist(id int PRIMARY KEY);
    CREATE TABLE album(id int PRIMARY KEY, artist_id int, cover text);
    CREATE INDEX ON album(artist_id); CREATE INDEX ON album(cover);
    INSERT INTO artist SELECT generate_series(1, 9);
    INSERT INTO album SELECT n, n, n || '.jpg' FROM generate_series(1, 9) n;
    """

  private static func model(_ media: Scratch, _ more: String) -> String {
    """
    { collections: {
        artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" } },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "artist_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "cover", from: "albums", to: { files: "media" }, column: "cover",
          rules: ["deleteDestinationIfAllSourcesDeleted"] }],
      files: { media: "\(media.path)" }, \(more) }
    """
  }

  private let media: Scratch

  init() throws {
    media = try Scratch()
    for number in 1...9 { try media.write("\(number).jpg", "picture \(number)") }
  }

  private func store(
    on cluster: Cluster, _ more: String = "", parameters: String = ""
  ) throws -> PostgresDaemon {
    let store = try PostgresDaemon(
      model: Self.model(media, more), on: Database(schema: Self.schema, on: cluster),
      parameters: parameters)
    try store.start()
    return store
  }

  private func delete(_ artist: Int, in store: PostgresDaemon) throws {
    try store.enqueue(
      FileName("\(artist).json"), #"{"changes": [{"delete": ["artists", \#(artist)]}]}"#)
  }

  private func waitForReceivers(_ names: [String], _ store: PostgresDaemon) throws {
    try store.waitUntil("\(names) receive the log") {
      try store.texts(
        "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming' ORDER BY 1")
        == names
    }
  }

  /// What it has not sent yet is lost with it.
  private func stopSender(to name: String, _ store: PostgresDaemon) throws {
    let sender = try store.texts(
      "SELECT pid FROM pg_stat_replication WHERE application_name = '\(name)'")
    #expect(try kill(pid_t(#require(Int32(sender[0]))), SIGSTOP) == 0)
  }

  private func isThere(_ file: FileName) -> Bool { (try? media.directory.text(file)) != nil }

  private func artists(_ store: PostgresDaemon) throws -> [String] {
    try store.texts("SELECT id FROM artist ORDER BY id")
  }

  // MARK: - Who counts

  @Test(
    "A file that an archiver has, and no standby, stays in the queue, and is not lost with the primary",
    arguments: [true, false])
  func archiver(isSynchronous: Bool) throws {
    let cluster = try Cluster(withStandby: true)
    let store = try store(on: cluster)
    try cluster.archive(.first, as: "archive", synchronous: isSynchronous)
    try waitForReceivers(["archive", "second"], store)
    try stopSender(to: "second", store)
    try delete(1, in: store)
    try store.waitUntil("it waits for a standby") {
      try store.state == "waiting" && store.reason.contains("no standby has yet what")
    }
    #expect(try store.texts("SELECT id FROM cascade.ledger WHERE part >= 0") == ["1.json"])
    #expect(try store.queued == 1)
    try cluster.crash(.first)
    try cluster.promote(.second)
    try store.waitUntil("it is applied") { try store.queued == 0 }
    #expect(try artists(store).first == "2")
  }

  @Test("An archiver alone is not waited for", arguments: [true, false])
  func archiverAlone(isSynchronous: Bool) throws {
    let cluster = try Cluster()
    let store = try store(on: cluster)
    try cluster.archive(.first, as: "archive", synchronous: isSynchronous)
    try waitForReceivers(["archive"], store)
    let file = #"{"changes": [{"delete": ["artists", 1]}]}"#
    #expect(try store.ctl("--json", "apply", "-", input: file).json["outcome"]?.string == "applied")
    #expect(try store.state == "ok")
  }

  @Test("A receiver counts if the URI names it, and no other one does")
  func named() throws {
    let cluster = try Cluster()
    let parameter = "&standby=arch%69ve"
    let administrator = try Session(cluster.location("postgres", as: "postgres"))
    try administrator.execute("GRANT pg_monitor TO cascaded")
    let store = try store(on: cluster, #"limits: { standby: "always" }"#, parameters: parameter)
    try delete(1, in: store)
    try cluster.archive(.first, as: "other", synchronous: true)
    try store.waitUntil("it waits for the one that is named") {
      try store.reason.contains("other receives the log, and is none")
    }
    #expect(try store.queued == 1)
    try cluster.archive(.first, as: "archive", synchronous: true)
    try store.waitUntil("it is applied") { try store.queued == 0 }
    try store.waitUntil("all is well") { try store.state == "ok" && store.reason == "" }
  }

  @Test("A role that may not see the standbys is told the GRANT, by status and check")
  func hidden() throws {
    let cluster = try Cluster(withStandby: true)
    let store = try store(on: cluster)
    try store.database.session(as: "postgres").execute("REVOKE pg_monitor FROM cascaded")
    try store.waitUntil("status names the GRANT") {
      try store.reason.contains("GRANT pg_monitor TO cascaded")
    }
    #expect(try store.ctl("check").output.contains("GRANT pg_monitor TO cascaded"))
    try delete(1, in: store)
    try store.waitUntil("it is applied") { try store.queued == 0 }
    try store.database.session(as: "postgres").execute("GRANT pg_monitor TO cascaded")
    try store.waitUntil("nothing is told") { try store.reason == "" }
  }

  // MARK: - One that is away

  @Test("A standby that is away is waited for a while; then the server goes on alone, and says so")
  func away() throws {
    let cluster = try Cluster(withStandby: true)
    let store = try store(on: cluster, #"limits: { standby: "4s" }"#)
    try cluster.kill(.second)
    try delete(1, in: store)
    try store.waitUntil("it waits") {
      try store.reason.contains("no standby is there that could be promoted")
    }
    #expect(try store.queued == 1)
    try store.waitUntil("it goes on") { try store.queued == 0 }
    try store.waitUntil("it says so") {
      try store.state == "ok" && store.reason.contains("goes on alone")
    }
    #expect(store.log.contains("goes on alone"))
    try cluster.start(.second)
    try store.waitUntil("nothing is told") { try store.state == "ok" && store.reason == "" }
  }

  @Test("A standby that is always waited for is, also by the next daemon; rules are kept meanwhile")
  func always() throws {
    let cluster = try Cluster(withStandby: true)
    let store = try store(on: cluster, #"limits: { standby: "always" }"#)
    try cluster.kill(.second)
    store.kill()
    try store.launch()
    try delete(1, in: store)
    try store.bySQL("DELETE FROM artist WHERE id = 2")
    try store.waitUntil("it is swept") {
      try store.texts("SELECT id FROM album WHERE id <= 2").isEmpty
    }
    try store.waitUntil("it waits") {
      try store.reason.contains("no standby is there that could be promoted")
    }
    #expect(try store.queued == 1)
    #expect(isThere("1.jpg") && isThere("2.jpg"))
    try cluster.start(.second)
    try store.waitUntil("it is applied") { try store.queued == 0 }
    try store.waitUntil("the files are moved") { !isThere("1.jpg") && !isThere("2.jpg") }
  }

  // MARK: - Files

  @Test(
    "A file whose row went is not moved as long as no standby knows that", arguments: ["1d", "0"])
  func files(trash: String) throws {
    let cluster = try Cluster(withStandby: true)
    let store = try store(on: cluster, #"trash: "\#(trash)""#)
    try waitForReceivers(["second"], store)
    try stopSender(to: "second", store)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    try store.waitUntil("its file waits") {
      try store.state == "degraded" && store.reason.contains("no standby has yet what")
    }
    #expect(try store.texts("SELECT id FROM album WHERE id = 1").isEmpty)
    #expect(isThere("1.jpg"))
    try cluster.crash(.first)
    try cluster.promote(.second)
    try store.waitUntil("it is served") { try store.state == "ok" }
    #expect(try store.texts("SELECT id FROM album WHERE id = 1") == ["1"])
    #expect(isThere("1.jpg"))
    try store.bySQL("DELETE FROM artist WHERE id = 2")
    try store.waitUntil("the next one goes") { !isThere("2.jpg") }
  }

  @Test("A file whose row is there again after a promotion comes back out of the trash by itself")
  func comesBack() throws {
    let cluster = try Cluster(withStandby: true)
    let store = try store(on: cluster, #"limits: { standby: "0" }"#)
    try cluster.stop(.second)
    try store.bySQL("DELETE FROM artist WHERE id IN (1, 2)")
    try store.waitUntil("the files are moved") { !isThere("1.jpg") && !isThere("2.jpg") }
    try cluster.kill(.first)
    try cluster.start(.second)
    try cluster.promote(.second)
    try store.waitUntil("the files are back") { isThere("1.jpg") && isThere("2.jpg") }
    #expect(try store.texts("SELECT count(*) FROM album") == ["9"])
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    try store.waitUntil("it goes, and stays away") { !isThere("1.jpg") }
    let batch = try store.ctl("--json", "batches").lines.first?["batch"]?.integer
    #expect(try store.ctl("undo", "\(try #require(batch))").status == 0)
    try store.waitUntil("it is back") { isThere("1.jpg") }
  }
}
