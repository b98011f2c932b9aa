import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import Testing

/// Artists by their country, and albums by their year.
@Suite("Partitioned tables on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PartitionTests {
  private static let schema = """
    CREATE TABLE artist(id text, country text, PRIMARY KEY(id, country)) PARTITION BY LIST (country);
    CREATE TABLE artist_de PARTITION OF artist FOR VALUES IN ('de');
    CREATE TABLE artist_fr PARTITION OF artist FOR VALUES IN ('fr');
    CREATE TABLE album(id text, artist_id text, photo_id int, year int) PARTITION BY RANGE (year);
    CREATE TABLE album_old PARTITION OF album FOR VALUES FROM (1900) TO (2000);
    CREATE TABLE album_new PARTITION OF album FOR VALUES FROM (2000) TO (2100);
    CREATE INDEX ON album(id); CREATE INDEX ON album(artist_id); CREATE INDEX ON album(photo_id);
    CREATE TABLE photo(id int PRIMARY KEY);
    INSERT INTO photo VALUES(1), (2);
    INSERT INTO artist VALUES('anna', 'de'), ('bob', 'fr');
    INSERT INTO album VALUES('a1', 'anna', 1, 1990), ('a2', 'anna', 2, 2010), ('b1', 'bob', 2, 2010);
    """

  private static func store(
    _ rule: String = "deleteSourceIfDestinationDeleted", albums: String = "album",
    schema: String = ""
  ) throws -> PostgresFixture {
    let store = try PostgresFixture(
      """
      { collections: { artists: { table: "artist", key: "id" }, photos: { table: "photo", key: "id" },
          albums: { table: "\(albums)", key: "id" } },
        relationships: [
          { name: "artist", from: "albums", to: "artists", column: "artist_id", rules: ["\(rule)"] },
          { name: "photo", from: "albums", to: "photos", column: "photo_id",
            rules: ["deleteDestinationIfAllSourcesDeleted"] }] }
      """, schema: PartitionTests.schema + schema)
    #expect(store.writer.bindingProblems.isEmpty)
    try store.sweep([.all])
    return store
  }

  private static let albums = "SELECT id FROM album ORDER BY 1"

  @Test(
    "A deletion is followed through all partitions, whichever table the statement names",
    arguments: ["artist", "artist_de"])
  func deletion(table: String) throws {
    let store = try Self.store()
    #expect(try store.reader.checkSetup().isEmpty)
    try store.bySQL("DELETE FROM \(table) WHERE id = 'anna'")
    let result = try store.sweep()
    #expect(result.byCollection == ["albums": 2, "photos": 1])
    let undone = try store.writer.undo(#require(result.batch), by: "me", at: 2)
    #expect(undone.restored == 3)
    #expect(
      try store.texts("SELECT tableoid::regclass || id FROM album ORDER BY 1")
        == ["album_newa2", "album_newb1", "album_olda1"])
  }

  @Test("A row that moves to another partition is not gone, and keeps what it refers to")
  func movement() throws {
    let store = try Self.store()
    try store.bySQL(
      "UPDATE artist SET country = 'fr' WHERE id = 'anna'; UPDATE album SET year = year + 10")
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.texts(Self.albums) == ["a1", "a2", "b1"])
    #expect(try store.texts("SELECT id FROM album_new ORDER BY 1") == ["a1", "a2", "b1"])
    try store.bySQL("UPDATE album SET year = 1950, photo_id = 2 WHERE id = 'a1'")
    #expect(try store.sweep().byCollection == ["photos": 1])
    try store.bySQL("UPDATE album_old SET photo_id = 0; UPDATE album_new SET photo_id = NULL")
    #expect(try store.sweep().byCollection == ["photos": 1])
    #expect(try store.journalIsEmpty)
  }

  @Test("A denial refuses to delete a row, and lets it move")
  func denial() throws {
    let store = try Self.store("denyDestinationDeletion")
    try store.bySQL("UPDATE artist SET country = 'fr' WHERE id = 'anna'")
    for table in ["artist", "artist_fr"] {
      let error = #expect(throws: PostgresError.self) { try store.bySQL("DELETE FROM \(table)") }
      #expect(error?.sqlState == "23503")
    }
    #expect(throws: PostgresError.self) {
      try store.bySQL("UPDATE artist SET country = 'de', id = 'x' WHERE id = 'anna'")
    }
    try store.bySQL("BEGIN; DELETE FROM album; DELETE FROM artist; COMMIT")
  }

  @Test("The owner adds partitions, whose rows are seen; one that goes with its rows is noticed")
  func partitions() throws {
    let store = try Self.store()
    try store.bySQL(
      """
      CREATE TABLE artist_it PARTITION OF artist FOR VALUES IN ('it');
      INSERT INTO artist VALUES('carla', 'it');
      INSERT INTO album VALUES('c1', 'carla', NULL, 2011);
      DELETE FROM artist_it;
      """)
    #expect(try store.sweep().byCollection == ["albums": 1])
    try store.writer.followSchema()
    try store.sweep([.all])
    #expect(try store.writer.rescanReason == nil)
    try store.bySQL("ALTER TABLE artist DETACH PARTITION artist_de")
    try store.writer.followSchema()
    #expect(try store.writer.rescanReason == .watchGap)
    #expect(try store.sweep([.all]).byCollection == ["albums": 2, "photos": 1])
    try store.bySQL("DELETE FROM artist_de")
    #expect(try store.journalIsEmpty)
    #expect(try store.reader.checkSetup().isEmpty)
  }

  @Test("A partition that comes with rows is looked through")
  func attached() throws {
    let store = try Self.store()
    try store.bySQL(
      """
      CREATE TABLE album_very_old(id text, artist_id text, photo_id int, year int);
      INSERT INTO album_very_old VALUES('v', 'nobody', 1, 1800);
      ALTER TABLE album ATTACH PARTITION album_very_old FOR VALUES FROM (1800) TO (1900);
      """)
    try store.writer.followSchema()
    #expect(try store.writer.rescanReason == .watchGap)
    #expect(try store.sweep([.all]).byCollection == ["albums": 1])
  }

  @Test(
    "A TRUNCATE of one partition is noticed",
    .enabled(if: TestedDialect.current == .fast, "the portable dialect has no such trigger"),
    arguments: ["artist", "artist_de"])
  func truncation(table: String) throws {
    let store = try Self.store()
    try store.bySQL("TRUNCATE \(table)")
    #expect(try store.writer.rescanReason == .watchGap)
  }

  @Test("A partition may be a collection by itself")
  func partition() throws {
    let store = try Self.store(albums: "album_new")
    try store.bySQL("DELETE FROM album WHERE id = 'a2'; DELETE FROM artist WHERE id = 'bob'")
    #expect(try store.sweep().byCollection == ["albums": 1, "photos": 1])
    #expect(try store.texts(Self.albums) == ["a1"])
  }

  @Test("Tables that others inherit from are refused")
  func inheritance() throws {
    let store = try PostgresFixture(
      Music.model(), schema: Music.schema + "CREATE TABLE single() INHERITS (album);")
    #expect(
      store.writer.bindingProblems.contains { $0.message.contains("tables inherit from") })
  }

  @Test("A missing index is to be created for the whole table")
  func indexes() throws {
    let store = try Self.store(schema: "DROP INDEX album_photo_id_idx;")
    let findings = try store.reader.checkSetup()
    #expect(
      findings.first?.message.hasSuffix("CREATE INDEX ON public.album(\"photo_id\")") == true)
  }
}
