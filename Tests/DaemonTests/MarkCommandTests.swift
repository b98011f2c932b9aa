import CascadeModel
import Testing

/// Rows that are marked as gone for others, as people and scripts see it.
@Suite struct MarkCommandTests {
  private func store(_ rest: String = "") throws -> TestStore {
    try TestStore(
      model: """
        { collections: {
            albums: { table: "album", key: "id", softDelete: { column: "deleted_at", keep: "30d" } },
            songs: { table: "song", key: "id", softDelete: { column: "deleted_at" } } },
          relationships: [
            { name: "album", from: "songs", to: "albums", column: "album",
              rules: ["deleteSourceIfDestinationDeleted"] }],
          limits: { hold: { deletes: 5, share: 0.1 } }\(rest) }
        """,
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY, deleted_at INTEGER);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, deleted_at INTEGER);
        CREATE INDEX album_mark ON album(deleted_at); CREATE INDEX song_album ON song(album);
        INSERT INTO album VALUES(1, NULL), (2, NULL);
        INSERT INTO song SELECT value, 1 + (value > 2), NULL FROM generate_series(1, 12);
        """)
  }

  private func marked(_ store: TestStore) throws -> String {
    String(try store.sql("SELECT count(*) FROM song WHERE deleted_at = 7").dropLast())
  }

  @Worker @Test("What follows a mark is marked at once, told, and comes back")
  func followed() throws {
    let store = try store()
    try store.sql("UPDATE album SET deleted_at = 7 WHERE id = 1")
    try store.waitUntil("the marks are followed") { try marked(store) == "2" }
    let batch = try #require(
      try store.ctl("--json", "batches").json["batches"]?.array?.last
        ?? store.ctl("--json", "batches").json)
    #expect(try store.ctl("batches").output.contains("2 nodes marked, 2 of songs"))
    let why = try store.ctl("--json", "why", "songs/1").json["marked"]?.array?.first
    #expect(why?["because"] == ["albums", 1] && why?["batch"]?.integer != nil, "\(batch)")
    #expect(try store.ctl("why", "songs/1").output.contains("because of albums/1"))
    #expect(try store.ctl("undo", "\(why?["batch"]?.integer ?? 0)").output == "restored: 3 nodes\n")
    #expect(try marked(store) == "0")
  }

  @Worker @Test("A sweep follows marks where none does by itself")
  func swept() throws {
    let store = try store(", sweeps: {}")
    try store.sql("UPDATE album SET deleted_at = 7 WHERE id = 1")
    let sweep = try store.ctl("--json", "sweep", "cascade").json
    #expect(sweep["marked"] == 2 && sweep["outcome"] == "done" && sweep["deletedCount"] == 0)
    #expect(try marked(store) == "2")
    try store.sql("UPDATE album SET deleted_at = NULL WHERE id = 1")
    #expect(try store.ctl("sweep", "cascade").output.hasPrefix("nothing"))
    #expect(try marked(store) == "0")
  }

  @Worker @Test("Many marks wait, and are approved or rejected")
  func held() throws {
    let store = try store()
    try store.sql("UPDATE album SET deleted_at = 7 WHERE id = 2")
    try store.waitUntil("the marks are followed") {
      try store.ctl("--json", "status").json["stores"]?.array?.first?["heldPlans"]?.array?.count
        == 1
    }
    let job = try #require(
      try store.ctl("--json", "status").json["stores"]?.array?.first?["jobs"]?.array?.first)
    #expect(job["subject"] == ["softDelete": true] && job["of"] == 10)
    let plan = "\(job["plan"]?.integer ?? 0)"
    #expect(try store.ctl("--json", "plan", plan).json["deletedCount"] == 10)
    #expect(try store.ctl("reject", plan).status == 0)
    #expect(try store.sql("SELECT count(*) FROM album WHERE deleted_at IS NULL") == "2\n")
    try store.sql("UPDATE album SET deleted_at = 7 WHERE id = 2")
    let sweep = try store.ctl("--json", "sweep", "cascade").json
    #expect(sweep["outcome"] == "held" && sweep["heldCount"] == 10)
    #expect(try store.ctl("approve", "\(sweep["plan"]?.integer ?? 0)").status == 0)
    try store.waitUntil("the marks are followed") { try marked(store) == "10" }
  }
}
