import CascadeModel
import CascadeSystem
import PostgresSupport
import Testing

/// Tables that stop matching the model, and match it again, while the daemon runs.
@Worker
@Suite("Mismatches on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresMismatchTests {
  private static let schema = """
    CREATE TABLE artist(id text PRIMARY KEY);
    CREATE TABLE album(id text PRIMARY KEY, artist_id text);
    CREATE TABLE song(id int PRIMARY KEY, album_id text);
    CREATE TABLE club(id int PRIMARY KEY);
    CREATE TABLE fan(id int PRIMARY KEY, club_id int);
    CREATE INDEX ON album(artist_id); CREATE INDEX ON song(album_id); CREATE INDEX ON fan(club_id);
    INSERT INTO artist VALUES('anna'), ('bob'); INSERT INTO album VALUES('a1', 'anna'), ('b1', 'bob');
    INSERT INTO song VALUES(1, 'a1'), (2, 'b1');
    INSERT INTO club SELECT generate_series(1, 9); INSERT INTO fan SELECT n, n FROM generate_series(1, 9) n;
    """

  private static let model = """
    { collections: {
        artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
        songs: { table: "song", key: "id" }, clubs: { table: "club", key: "id" },
        fans: { table: "fan", key: "id" } },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "artist_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "album", from: "songs", to: "albums", column: "album_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "club", from: "fans", to: "clubs", column: "club_id",
          rules: ["deleteSourceIfDestinationDeleted"] }] }
    """

  private func expectOthersGoOn(_ store: PostgresDaemon, _ club: Int) throws {
    try store.bySQL("DELETE FROM club WHERE id = \(club)")
    try store.waitUntil("others go on", limit: .seconds(10)) {
      try store.texts("SELECT count(*) FROM fan WHERE id = \(club)") == ["0"]
    }
  }

  @Test(
    "A table that stops matching is told, others go on, and it is followed when it matches again",
    arguments: [
      ("album ENABLE ROW LEVEL SECURITY", "album DISABLE ROW LEVEL SECURITY", "has row security"),
      ("album RENAME artist_id TO singer", "album RENAME singer TO artist_id", "called \"singer\""),
    ])
  func mismatch(_ change: String, _ back: String, _ reason: String) throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    try store.bySQL("ALTER TABLE \(change)")
    try store.waitUntil("it is told", limit: .seconds(5)) { try store.state == "degraded" }
    #expect(try store.status?["reason"]?.string?.contains(reason) == true)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try expectOthersGoOn(store, 1)
    for command in ["reload", "resume"] {
      let told = try store.ctl(command)
      #expect(told.status == 78)
      #expect(told.output.contains(reason), "\(told.output)")
    }
    #expect(try store.ctl("--json", "reload").json["mismatched"]?.array?.count == 1)
    #expect(try store.texts("SELECT count(*) FROM album") == ["2"])
    store.kill()
    try store.launch()
    try store.waitUntil("it is told again") { try store.state == "degraded" }
    try expectOthersGoOn(store, 2)
    try store.bySQL("ALTER TABLE \(back)")
    try store.waitUntil("it fits again", limit: .seconds(5)) { try store.state == "ok" }
    try store.waitUntil("what it lost is followed", limit: .seconds(5)) {
      try store.texts("SELECT id FROM song") == ["2"]
    }
    for command in ["reload", "resume"] { #expect(try store.ctl(command).status == 0) }
    #expect(try store.ctl("check").status == 0)
  }

  @Test(
    "Whoever asks for a sweep is told at once that a table or a column has another name",
    arguments: ["album RENAME TO record", "album RENAME artist_id TO singer"])
  func asked(change: String) throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    try store.bySQL("ALTER TABLE \(change)")
    let told = try store.ctl("sweep")
    #expect(told.status == 4)
    #expect(told.output.contains("called"), "\(told.output)")
    try store.waitUntil("it is told", limit: .seconds(5)) { try store.state == "degraded" }
  }

  @Test("Two collections may swap their names at a reload")
  func swapped() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    let swapped = Self.model.replacing("clubs", with: "others").replacing("fans", with: "clubs")
      .replacing("others", with: "fans")
    try store.write(model: swapped)
    #expect(try store.ctl("reload").status == 0)
    try store.waitUntil("it is served again") { try store.state == "ok" }
    try expectOthersGoOn(store, 3)
    #expect(try store.ctl("check").status == 0)
  }

  @Test("A trigger that is disabled and enabled around a deletion is noticed without another write")
  func disabled() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    try store.bySQL(
      """
      ALTER TABLE artist DISABLE TRIGGER USER; DELETE FROM artist WHERE id = 'anna';
      ALTER TABLE artist ENABLE TRIGGER USER
      """)
    try store.waitUntil("it is followed", limit: .seconds(10)) {
      try store.texts("SELECT id FROM song") == ["2"]
    }
    #expect(try store.state == "ok")
    try expectOthersGoOn(store, 1)
  }

  @Test("A change file for a table that does not fit is set aside, and applied when it fits")
  func changeFile() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    try store.bySQL("ALTER TABLE album ENABLE ROW LEVEL SECURITY")
    try store.waitUntil("it is told", limit: .seconds(5)) { try store.state == "degraded" }
    try store.enqueue("1.json", #"{"changes": [{"delete": ["albums", "b1"]}]}"#)
    try store.enqueue("2.json", #"{"changes": [{"delete": ["clubs", 1]}]}"#)
    try store.waitUntil("the next one is applied") {
      try store.texts("SELECT count(*) FROM fan") == ["8"]
    }
    #expect(try store.status?["spool"]?["stuck"]?.integer == 1)
    try store.bySQL("ALTER TABLE album DISABLE ROW LEVEL SECURITY")
    try store.waitUntil("it is applied", limit: .seconds(10)) {
      try store.texts("SELECT id FROM song") == ["1"]
    }
    #expect(try store.status?["spool"]?["stuck"]?.integer == 0)
  }
}
