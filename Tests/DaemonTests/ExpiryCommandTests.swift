import CascadeModel
import Testing

/// Rows that go because of their age, as people and scripts see it.
@Suite struct ExpiryCommandTests {
  private static func model(_ rest: String = "") -> String {
    """
    { collections: {
        events: { table: "event", key: "id", expires: { column: "at", after: "30d", as: "unix" } },
        notes: { table: "note", key: "id" } },
      relationships: [
        { name: "event", from: "notes", to: "events", column: "event",
          rules: ["deleteSourceIfDestinationDeleted"] }],
      limits: { hold: { deletes: 5, share: 0.1 } }\(rest) }
    """
  }

  /// `old` events of a year ago with a note each, and a new one.
  private func store(old: Int, _ rest: String = "") throws -> TestStore {
    try TestStore(
      model: ExpiryCommandTests.model(rest),
      schema: """
        CREATE TABLE event(id INTEGER PRIMARY KEY, at INTEGER);
        CREATE TABLE note(id INTEGER PRIMARY KEY, event INTEGER);
        CREATE INDEX event_at ON event(at); CREATE INDEX note_event ON note(event);
        INSERT INTO event SELECT value, unixepoch() - 365 * 86400
          FROM generate_series(1, \(old));
        INSERT INTO note SELECT id, id FROM event; INSERT INTO event VALUES(1000, unixepoch());
        """)
  }

  private func events(_ store: TestStore) throws -> String {
    String(
      try store.sql("SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM note)").dropLast())
  }

  private func expired(_ store: TestStore) throws -> JSON? {
    try store.ctl("--json", "status").json["stores"]?.array?.first?["expired"]
  }

  @Worker @Test("A sweep takes what is overdue, in one batch, and tells why")
  func swept() throws {
    let store = try store(old: 2)
    #expect(try expired(store)?["waiting"] == 2)
    #expect(try expired(store)?["oldest"]?.integer ?? 0 > 334 * 86_400)
    let dry = try store.ctl("--json", "sweep", "expired", "--dry-run").json
    #expect(dry["deletedCount"] == 4 && dry["outcome"] == "done")
    let sweep = try store.ctl("--json", "sweep", "expired").json
    #expect(sweep["outcome"] == "done" && sweep["byCollection"] == ["events": 2, "notes": 2])
    #expect(sweep["kinds"] == ["expired"])
    #expect(try events(store) == "1|0")
    #expect(try expired(store) == ["waiting": 0, "oldest": .null])
    let why = try store.ctl("--json", "why", "notes/1").json["deleted"]
    #expect(why?["cause"] == "expired" && why?["batch"] == sweep["batch"])
    #expect(try store.ctl("why", "notes/1").output.contains("age"))
    #expect(try store.ctl("--json", "sweep", "expired").json["outcome"] == "nothing")
    #expect(try store.ctl("undo", "\(sweep["batch"]?.integer ?? 0)").status == 0)
    #expect(try events(store) == "3|2")
  }

  @Worker @Test("The first pass waits, and its approval stands for the later ones")
  func held() throws {
    let store = try store(old: 20)
    let held = try store.ctl("--json", "sweep", "expired")
    let plan = try #require(try held.json["plan"]?.integer)
    #expect(try held.status == 3 && held.json["outcome"] == "held")
    let status = try store.ctl("--json", "status").json["stores"]?.array?.first
    #expect(status?["state"] == "held")
    #expect(status?["heldPlans"]?.array?.first?["kinds"] == ["expired"])
    #expect(try store.ctl("plan", "\(plan)").status == 0)
    #expect(try store.ctl("approve", "\(plan)").status == 0)
    #expect(try events(store) == "1|0")
    _ = try store.sql(
      "INSERT INTO event SELECT value, 1700000000 FROM generate_series(1, 15)")
    #expect(try store.ctl("sweep", "all").status == 0)
    #expect(try events(store) == "1|0")
  }

  @Worker @Test("What is overdue goes by itself, also where the model names other kinds")
  func scheduled() throws {
    let store = try store(old: 2, #", sweeps: { cascade: "immediate", expired: "@every 1s" }"#)
    try store.waitUntil("they are gone") { try events(store) == "1|0" }
    let schedules = try store.ctl("--json", "status").json["stores"]?.array?.first?["schedules"]
    let entry = schedules?.array?.first { $0["kind"] == "expired" }
    #expect(entry?["schedule"] == "@every 1s" && entry?["last"]?["outcome"] != nil)
  }

  @Worker @Test("Without a schedule in the model it is hourly")
  func hourly() throws {
    let store = try store(old: 1, #", sweeps: { cascade: "immediate" }"#)
    let schedules = try store.ctl("--json", "status").json["stores"]?.array?.first?["schedules"]
    let entry = schedules?.array?.first { $0["kind"] == "expired" }
    #expect(entry?["schedule"] == "@hourly" && entry?["next"]?.integer != nil)
  }

  @Worker @Test("A rejected pass is not asked for again")
  func rejected() throws {
    let store = try store(old: 20)
    let plan = try #require(try store.ctl("--json", "sweep", "expired").json["plan"]?.integer)
    #expect(try store.ctl("reject", "\(plan)").status == 0)
    #expect(try store.ctl("--json", "sweep", "expired").json["outcome"] == "nothing")
    #expect(try events(store) == "21|20")
  }
}
