import CascadeModel
import CascadePostgres
import CascadeSystem
import PostgresSupport
import Testing

/// The programs with a database of a server, as with a file.
@Worker
@Suite("cascaded-postgres", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresTests {
  private static let schema = """
    CREATE TABLE artist(id text PRIMARY KEY);
    CREATE TABLE album(id text PRIMARY KEY, artist_id text);
    CREATE TABLE song(id int PRIMARY KEY, album_id text);
    CREATE INDEX ON album(artist_id); CREATE INDEX ON song(album_id);
    INSERT INTO artist VALUES('anna'), ('bob');
    INSERT INTO album VALUES('a1', 'anna'), ('a2', 'anna'), ('b1', 'bob');
    INSERT INTO song VALUES(1, 'a1'), (2, 'a1'), (3, 'a2'), (4, 'b1');
    """

  private static let model = """
    { collections: {
        artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
        songs: { table: "song", key: "id" } },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "artist_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "album", from: "songs", to: "albums", column: "album_id",
          rules: ["deleteSourceIfDestinationDeleted", "notifyIfDestinationDeleted"] }] }
    """

  @Test("What an application deletes is swept at once, and cascadectl tells of it")
  func sweep() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try store.waitUntil("it is swept") { try store.texts("SELECT id FROM song") == ["4"] }
    #expect(try store.texts("SELECT id FROM album") == ["b1"])
    try store.waitUntil("it is told") {
      try store.ctl("--json", "batches").lines.first?["deletedCount"]?.integer == 5
    }
    let status = try store.ctl("--json", "status").json["stores"]?.array?.first
    #expect(status?["store"]?.string == store.database.location)
    let why = try store.ctl("--json", "why", "songs/1").json
    #expect(why["state"]?.string == "deleted")
    #expect(try store.ctl("--json", "sweep").json["outcome"]?.string == "nothing")
    #expect(try store.ctl("--json", "check").status == 0)
    let plan = try store.ctl("--json", "plan", "artists/bob").json
    #expect(plan["deletedCount"]?.integer == 3)
  }

  @Test("The metrics tell of sweeps, and nothing of a file that is not there")
  func metrics() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    func delays() throws -> Double {
      let text = try store.ctl("metrics").output
      return try #require(Metric.value("cascaded_sweep_delay_seconds_count", in: text))
    }
    let before = try delays()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try store.waitUntil("it is swept") { try store.texts("SELECT id FROM song") == ["4"] }
    try store.waitUntil("it is told") { try delays() > before }
    let text = try store.ctl("metrics").output
    for name in ["log", "disk_free"] { #expect(!text.contains("cascaded_\(name)_bytes")) }
    #expect(Metric.value("cascaded_oldest_held_plan_seconds", in: text) == 0)
    #expect(Metric.value("cascaded_waiting_files", in: text) == 0)
  }

  @Test("A change file takes effect once, also when the daemon is killed")
  func changeFile() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    let file = #"{ "id": "one", "changes": [{ "delete": ["artists", "bob"] }] }"#
    #expect(try store.ctl("--json", "apply", "-", input: file).json["deletedCount"]?.integer == 3)
    store.kill()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try store.start()
    try store.waitUntil("it is swept") { try store.texts("SELECT id FROM song").isEmpty }
    let again = try store.ctl("--json", "apply", "-", input: file).json
    #expect(again["outcome"]?.string == "duplicate")
    let other = #"""
      {"changes": [{"link": {"name": "cover", "from": ["albums", "b1"],
        "to": {"file": "a.jpg", "root": "media"}, "rules": []}}]}
      """#
    let refused = try store.ctl("--json", "apply", "-", input: other)
    #expect(refused.status == 65)
    #expect(refused.output.contains(#"the model has no file root \"media\""#))
  }

  @Test("Limits that the role has for its statements are not the daemon's")
  func statementTimeout() throws {
    let database = try Database(schema: Self.schema)
    try database.session(as: "postgres").execute(
      "ALTER ROLE cascaded IN DATABASE \(database.name) SET statement_timeout = 1")
    let store = try PostgresDaemon(model: Self.model, on: database)
    try store.start()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try store.waitUntil("it is swept") { try store.texts("SELECT id FROM song") == ["4"] }
    #expect(try store.ctl("check").status == 0)
  }

  @Test("An application changes the type of a column between migrate begin and migrate end")
  func migration() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    let change = "ALTER TABLE album ALTER artist_id TYPE varchar(40)"
    #expect(throws: (any Error).self) { try store.bySQL(change) }
    #expect(try store.ctl("migrate", "begin").status == 0)
    try store.bySQL(change)
    #expect(try store.ctl("migrate", "end").status == 0)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try store.waitUntil("it is swept") { try store.texts("SELECT id FROM song") == ["4"] }
  }

  @Test("What a foreign key keeps is told, and goes by itself when nothing keeps it any more")
  func blocked() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    try store.bySQL(
      "CREATE TABLE chart(id text REFERENCES album); INSERT INTO chart VALUES('a1')")
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try store.waitUntil("the rest is swept") {
      try store.texts("SELECT id FROM album ORDER BY 1") == ["a1", "b1"]
    }
    try store.waitUntil("it is told") {
      let blocked = try store.status?["lastSweep"]?["blocked"]?.array
      return blocked?.first?["message"]?.string?.contains("chart_id_fkey") == true
    }
    #expect(try store.ctl("check").output.contains("albums/a1 refers by \"artist\""))
    try store.bySQL("DELETE FROM chart")
    try store.waitUntil("it goes, too") {
      try store.texts("SELECT id FROM song ORDER BY 1") == ["4"]
    }
  }

  @Test("While one row is locked, others' followers go on, and it is told who has locked it")
  func locked() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    let other = try store.database.session()
    try other.execute("BEGIN; DELETE FROM album WHERE id = 'a2'")
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try store.waitUntil("the rest is swept", limit: .seconds(5)) {
      try store.texts("SELECT id FROM album ORDER BY 1") == ["a2", "b1"]
    }
    try store.waitUntil("it is told") {
      let blocked = try store.status?["lastSweep"]?["blocked"]?.array
      let message = blocked?.first?["message"]?.string ?? ""
      return message.hasPrefix("albums/a2 must stay: another session") && message.contains("locked")
    }
    try store.bySQL("DELETE FROM artist WHERE id = 'bob'")
    try store.waitUntil("another deletion is followed", limit: .seconds(5)) {
      try store.texts("SELECT id FROM song ORDER BY 1") == ["3"]
    }
    #expect(try store.state == "ok")
    try other.execute("ROLLBACK")
    try store.waitUntil("it goes when it is free", limit: .seconds(10)) {
      try store.texts("SELECT id FROM song").isEmpty
    }
  }

  @Test("Attach prints the foreign keys that only the tables' owner may create")
  func constraints() throws {
    let model = Self.model.replacing(
      "\"deleteSourceIfDestinationDeleted\", \"notifyIfDestinationDeleted\"",
      with: "\"denyDestinationDeletion\"")
    let store = try PostgresDaemon(model: model, schema: Self.schema)
    let attached = try store.ctl("attach", "--create-constraints")
    #expect(attached.status == 0)
    #expect(attached.output.contains("the owner of the tables, may run:"))
    let report = try store.ctl("--json", "attach", "--create-constraints").json
    let sql = try #require(report["statements"]?.array?.first?.string)
    #expect(sql.contains("FOREIGN KEY (\"album_id\") REFERENCES public.album"))
    try store.bySQL(sql)
    let again = try store.ctl("--json", "attach", "--create-constraints").json
    #expect(again["statements"]?.array?.isEmpty == true)
  }

  @Test("Detaching takes everything out of the database, and attaching begins again")
  func detach() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    #expect(try store.ctl("detach").status == 0)
    #expect(try store.texts("SELECT count(*) FROM pg_namespace WHERE nspname = 'cascade'") == ["0"])
    #expect(try store.ctl("attach").status == 0)
    store.stop()
    let offline = try PostgresDaemon.run(["--detach", "--model", store.modelFile])
    #expect(offline.status == 0, "\(offline.error)")
    #expect(try store.texts("SELECT count(*) FROM pg_namespace WHERE nspname = 'cascade'") == ["0"])
  }

  @Test("Each program refuses the other's stores, and names the other")
  func engines() throws {
    let scratch = try Scratch()
    try scratch.write(
      "server.json", "{ store: 'postgresql:///x?host=/nowhere', spool: '\(scratch.path("s"))' }")
    try scratch.write("file.json", "{ store: '\(scratch.path("x.db"))' }")
    for arguments in [
      ["--check-config", scratch.path("server.json")], ["--model", scratch.path("server.json")],
    ] {
      let refused = try run([Programs.cascaded] + arguments)
      #expect(refused.status == 78)
      #expect(refused.error.contains("cascaded-postgres serves it"))
    }
    let other = try PostgresDaemon.run(["--model", scratch.path("file.json")])
    #expect(other.status == 78)
    #expect(other.error.contains("cascaded serves files"))
  }

  @Test("The file of a swept row is moved into the trash of its root, and an undo brings it back")
  func files() throws {
    let media = try Scratch()
    try media.write("a.jpg", "picture")
    let relation = """
      relationships: [{ name: "cover", from: "albums", to: { files: "media" }, column: "cover",
        rules: ["deleteDestinationIfAllSourcesDeleted"] },
      """
    let more = ", files: { media: \"\(media.path)\" } }"
    let model = Self.model.replacing("relationships: [", with: relation).dropLast() + more
    let store = try PostgresDaemon(
      model: String(model),
      schema: Self.schema
        + "ALTER TABLE album ADD cover text; UPDATE album SET cover = 'a.jpg' WHERE id = 'b1'")
    try store.bySQL("DELETE FROM artist WHERE id = 'bob'")
    try store.waitUntil("the file is in the trash") {
      (try? media.directory.text("a.jpg")) == nil
    }
    let batch = try store.ctl("--json", "batches").lines.first?["batch"]?.integer
    #expect(try store.ctl("undo", "\(try #require(batch))").status == 0)
    #expect((try? media.directory.text("a.jpg")) == "picture")
    let edges = try store.ctl("--json", "edges", "--name", "cover").lines
    #expect(edges.first?["kind"]?.string == "file")
  }

  @Test("What is not there yet is refused with its place")
  func unsupported() throws {
    let scratch = try Scratch()
    try scratch.write(
      "model.json",
      """
      { store: "postgresql://u:secret@h/x", files: { m: "/srv/m" },
        collections: { notes: {} },
        relationships: [{ name: "r", from: "notes", to: "others", toMany: true }] }
      """)
    let refused = try PostgresDaemon.run(["--check-config", scratch.path("model.json")])
    #expect(refused.status == 78)
    for text in [
      "store: a password does not belong", "spool: missing",
      "relationships[0]: destinations that are not collections",
    ] {
      #expect(refused.error.contains(text))
    }
  }
}
