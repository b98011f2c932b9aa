import CascadeModel
import CascadePostgres
import CascadeSystem
import PostgresSupport
import Testing

/// What the daemon's role may, and what an operator is told of what it may not.
@Worker
@Suite("The role on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresRoleTests {
  /// Without a database of its own, for the roles are the server's.
  private static let schema = """
    CREATE TABLE artist(id int PRIMARY KEY);
    CREATE TABLE album(id int PRIMARY KEY, artist_id int, owner_type text, owner_id int);
    INSERT INTO artist VALUES(1), (2); INSERT INTO album VALUES(1, 1), (2, 2);
    """

  private static let types = (1...8).map { "T\($0): \"artists\"" }.joined(separator: ", ")

  private static let model = """
    { collections: {
        artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" } },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "artist_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "owner", from: "albums", column: "owner_id", typeColumn: "owner_type",
          to: { \(types) } }] }
    """

  private func bySuperuser(_ sql: String, _ store: PostgresDaemon) throws {
    try store.database.session(as: "postgres").execute(sql)
  }

  /// What `status` says is to be typed.
  private func statements(_ store: PostgresDaemon) throws -> String {
    let reason = try store.reason
    return reason.split(separator: "tables: ", maxSplits: 1).last.map(String.init) ?? reason
  }

  @Test(
    "A missing GRANT is named exactly as it is to be typed, and waited for, one after the other")
  func missing() throws {
    let store = try PostgresDaemon(model: Self.model, on: Database(schema: Self.schema))
    let name = store.database.name
    try bySuperuser(
      """
      REVOKE CREATE ON DATABASE \(name) FROM cascaded;
      REVOKE USAGE ON SCHEMA public FROM cascaded, PUBLIC;
      REVOKE DELETE, TRIGGER ON album FROM cascaded; REVOKE ALL ON artist FROM cascaded
      """, store)
    try store.launch()
    try store.waitUntil("it waits") { try store.state == "waiting" }
    let all = [
      "GRANT CREATE ON DATABASE \(name) TO cascaded;", "GRANT USAGE ON SCHEMA public TO cascaded;",
      "GRANT DELETE, TRIGGER ON public.album TO cascaded;",
      "GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON public.artist TO cascaded;",
    ]
    for number in all.indices {
      let wanted = all[number...].joined(separator: " ")
      try store.waitUntil("\(wanted) is named") { try statements(store) == wanted }
      try bySuperuser(all[number], store)
    }
    try store.waitUntil("it is served") { try store.state == "ok" }
    #expect(store.log.contains(all[0]))
    #expect(!store.log.contains("cascade.journal"))
    store.stop()
    let advice = try store.ctl("status")
    #expect(advice.status == 75 && !advice.error.contains("STORE.db"), "\(advice)")
  }

  @Test("A right that is taken away while the daemon serves is named, and the work goes on with it")
  func revoked() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    try bySuperuser("REVOKE DELETE ON album FROM cascaded", store)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    let grant = "GRANT DELETE ON public.album TO cascaded;"
    try store.waitUntil("it is named") { try statements(store) == grant }
    try bySuperuser(grant, store)
    try store.waitUntil("it is swept") { try store.texts("SELECT id FROM album") == ["2"] }
    try store.waitUntil("all is well") { try store.state == "ok" }
  }

  @Test("A role that may not connect is waited for")
  func connect() throws {
    let store = try PostgresDaemon(model: Self.model, on: Database(schema: Self.schema))
    let name = store.database.name
    try bySuperuser("REVOKE CONNECT ON DATABASE \(name) FROM PUBLIC", store)
    try store.launch()
    try store.waitUntil("it waits") {
      try store.state == "waiting" && store.reason.contains("permission denied for database")
    }
    try bySuperuser("GRANT CONNECT ON DATABASE \(name) TO cascaded", store)
    try store.waitUntil("it is served") { try store.state == "ok" }
  }

  @Test("One index that several relationships lack is told once")
  func index() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    let lines = try store.ctl("check").output.split(separator: "\n")
    #expect(lines.count { $0.contains("ON public.album(\"owner_id\")") } == 1, "\(lines)")
    #expect(lines.count { $0.contains("CREATE INDEX") } == 2)
  }

  @Test("An application prepares its transactions, and what it deletes is followed when they end")
  func prepared() throws {
    let cluster = try Cluster(settings: "-c max_prepared_transactions=4")
    let store = try PostgresDaemon(
      model: Self.model, on: Database(schema: Self.schema, on: cluster))
    try store.start()
    let application = try store.database.session()
    for artist in 1...2 {
      try application.execute(
        "BEGIN; DELETE FROM artist WHERE id = \(artist); PREPARE TRANSACTION 'one'")
      #expect(try store.texts("SELECT id FROM album WHERE artist_id = \(artist)").count == 1)
      try application.execute("COMMIT PREPARED 'one'")
      try store.waitUntil("it is followed", limit: .seconds(5)) {
        try store.texts("SELECT id FROM album WHERE artist_id = \(artist)").isEmpty
      }
    }
    #expect(try store.texts("SELECT count(*) FROM cascade.asleep") == ["0"])
  }

  @Test("A row that a prepared transaction has locked stays until it ends, and its name is told")
  func lockedByPrepared() throws {
    let cluster = try Cluster(settings: "-c max_prepared_transactions=4")
    let store = try PostgresDaemon(
      model: Self.model, on: Database(schema: Self.schema, on: cluster))
    try store.start()
    try store.database.session().execute(
      "BEGIN; UPDATE album SET owner_id = 7 WHERE id = 1; PREPARE TRANSACTION 'one'")
    try store.bySQL("DELETE FROM artist")
    try store.waitUntil("the other one is swept") {
      try store.texts("SELECT id FROM album") == ["1"]
    }
    try store.waitUntil("it is told") {
      let blocked = try store.status?["lastSweep"]?["blocked"]?.array
      return blocked?.first?["message"]?.string?.contains("the prepared transaction 'one'") == true
    }
    try store.bySQL("ROLLBACK PREPARED 'one'")
    try store.waitUntil("it goes") { try store.texts("SELECT id FROM album").isEmpty }
  }

  @Test("Where the URI says that no transaction is prepared, triggers notify all the same")
  func notified() throws {
    let cluster = try Cluster(settings: "-c max_prepared_transactions=4")
    let store = try PostgresDaemon(
      model: Self.model, on: Database(schema: Self.schema, on: cluster), parameters: "&notify=on")
    try store.start()
    try store.waitUntil("the daemon sleeps") {
      try store.texts("SELECT count(*) FROM cascade.asleep") == ["1"]
    }
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    try store.waitUntil("it is swept") { try store.texts("SELECT id FROM album") == ["2"] }
  }
}
