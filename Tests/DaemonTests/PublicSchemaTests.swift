import CascadeModel
import CascadeSystem
import Testing

/// Schemas of many tables as they are found in the world, and programs in other languages that
/// write to them as ever: Python's sqlite3 and the sqlite3 shell.
@Suite struct PublicSchemaTests {
  @Worker @Test func deletesWhatHangsOnDeletedArtists() throws {
    let store = try Shop.store()
    try store.python("db.execute('DELETE FROM Artist WHERE ArtistId BETWEEN 1 AND 4')")
    try store.settle()
    #expect(try store.status()["lastSweep"]?["deletedCount"] == 89)
    #expect(try store.sizes("Artist", "Album", "Track", "Genre") == [96, 192, 1_920, 24])
    #expect(try store.sizes("Playlist", "PlaylistTrack") == [10, 3_840])
    #expect(try store.sizes("Employee", "Customer", "Invoice", "InvoiceLine") == [8, 60, 300, 600])
    let why = try store.ctl("why", "genres/1").output.split(separator: "\n").dropFirst()
    #expect(
      Array(why) == [
        "  - genres/1  by deleteDestinationIfAllSourcesDeleted of tracks/1 -genre-> genres/1",
        "  - tracks/1  by deleteSourceIfDestinationDeleted of tracks/1 -album-> albums/1",
        "  - albums/1  by deleteSourceIfDestinationDeleted of albums/1 -artist-> artists/1",
        "  - artists/1",
      ])
    try store.expectOrder()
    #expect(try store.ctl("sweep").output == "nothing: 0 nodes deleted\n")
  }

  @Worker @Test func refusesToDeleteATrackThatIsSold() throws {
    let store = try Shop.store()
    let message =
      #"'tracks/1001 must stay: invoiceLines/1 holds it by "sold" (denyDestinationDeletion)'"#
    let delete = "DELETE FROM Track WHERE TrackId = 1001"
    #expect(try store.complaint("db.execute('\(delete)')").contains(message))
    #expect(try store.shell(delete).error.contains(message))
    #expect(try store.sizes("Track") == [2_000])
    try store.sql("DELETE FROM InvoiceLine WHERE TrackId = 1001; \(delete)")
    try store.settle()
    #expect(try store.sizes("Track", "PlaylistTrack") == [1_999, 3_998])
    try store.expectOrder()
  }

  /// The artist is gone by the time that anybody asks what hangs on him.
  @Worker @Test func tellsWhichTracksHadToStay() throws {
    let store = try Shop.store()
    try store.python("db.execute('DELETE FROM Artist WHERE ArtistId = 60')")
    try store.settle()
    #expect(try store.sizes("Album", "Track") == [200, 2_000])
    let sweep = try store.ctl("--json", "sweep").json
    #expect(sweep["outcome"] == "blocked")
    let reasons = sweep["blocked"]?.array?.compactMap { $0["message"]?.string } ?? []
    // Each track once, although a foreign key says the same as the model; each album by its tracks.
    #expect(reasons.count { $0.contains(#"holds it by "sold""#) } == 20)
    #expect(reasons.count { $0.contains(#"holds it by "FOREIGN KEY (AlbumId)""#) } == 20)
    #expect(reasons.count == 40)
    let text = try store.ctl("sweep")
    #expect(text.status == 4)
    #expect(text.output.hasPrefix("blocked: 0 nodes deleted\n  ! tracks/1181 must stay: "))
    #expect(text.output.hasSuffix("  … and 20 more\n"))
    #expect(try store.ctl("check").status == 1)
    try store.sql("INSERT INTO Artist VALUES(60, 'is back')")
    try store.expectOrder()
  }

  @Worker @Test func forgetsTheBossAndTheSupport() throws {
    let store = try Shop.store()
    try store.python("db.execute('DELETE FROM Employee WHERE EmployeeId IN (1, 3)')")
    try store.settle()
    let employees = try store.sql("SELECT EmployeeId, ReportsTo FROM Employee ORDER BY 1")
    #expect(employees == "2|\n4|2\n5|2\n6|\n7|\n8|4\n")
    let customers = try store.sql("SELECT SupportRepId, count(*) FROM Customer GROUP BY 1")
    #expect(customers == "|20\n4|20\n5|20\n")
    try store.expectOrder()
  }

  @Worker @Test func seesReferencesThatAreReplacedAndChanged() throws {
    let store = try Shop.store()
    try store.python(
      """
      db.execute("UPDATE Track SET GenreId = 3 WHERE GenreId = 2 AND TrackId <> 81")
      db.execute("INSERT OR REPLACE INTO Track VALUES(81, 'again', 9, 1, NULL, 1, 0.99)")
      db.execute("INSERT OR REPLACE INTO Playlist VALUES(1, 'renamed')")
      """)
    try store.settle()
    #expect(try store.integers("SELECT GenreId FROM Genre WHERE GenreId < 5") == [1, 3, 4])
    #expect(try store.sizes("Track", "PlaylistTrack") == [2_000, 4_000])
    let why = try store.ctl("why", "genres/2").output
    let rule = "deleteDestinationIfAllSourcesDeleted"
    #expect(why.hasSuffix("\n  - genres/2  by \(rule) of tracks/82 -genre-> genres/2\n"))
    try store.expectOrder()
  }

  @Worker @Test func seesNothingOfWhatWasRolledBack() throws {
    let store = try Shop.store()
    try store.python(
      """
      db.execute("BEGIN")
      db.execute("DELETE FROM Album WHERE AlbumId = 20")
      db.execute("SAVEPOINT much")
      db.execute("DELETE FROM Album")
      db.execute("ROLLBACK TO much")
      db.execute("DELETE FROM Playlist WHERE PlaylistId = 10")
      db.execute("COMMIT")
      """)
    try store.settle()
    #expect(try store.sizes("Album", "Track", "Playlist") == [199, 1_990, 9])
    #expect(try store.integers("SELECT count(*) FROM PlaylistTrack WHERE PlaylistId = 10") == [0])
    try store.expectOrder()
  }

  @Worker @Test func letsForeignKeysThatAreOnRefuseFirst() throws {
    let store = try Shop.store()
    let delete = "PRAGMA foreign_keys = ON; DELETE FROM Album WHERE AlbumId = 30"
    #expect(try store.shell(delete).error.contains("FOREIGN KEY constraint failed"))
    try store.apply(#"{"changes": [{"delete": ["albums", 30]}]}"#)
    #expect(try store.sizes("Album", "Track") == [199, 1_990])
    try store.expectOrder()
  }

  @Worker @Test func leavesTheSchemaAsItWas() throws {
    let store = try TestStore(model: Shop.model, schema: Shop.schema + Shop.rows, starts: false)
    let before = try store.wholeSchema()
    try store.start()
    try store.sql(
      """
      CREATE TABLE scratch(x); INSERT INTO scratch VALUES(1), (2); DELETE FROM scratch;
      DROP TABLE scratch; DELETE FROM Playlist; DELETE FROM Artist WHERE ArtistId <= 20
      """)
    try store.settle()
    #expect(try store.sizes("Artist", "Album", "Track", "Genre") == [80, 160, 1_600, 20])
    #expect(try store.sizes("Playlist", "PlaylistTrack") == [0, 0])
    #expect(try store.wholeSchema() != before)
    let detached = try store.ctl("detach")
    #expect(detached.status == 0)
    #expect(detached.output.contains("\n  removed 28 triggers\n  removed 37 tables\n"))
    #expect(try store.wholeSchema() == before)
    #expect(try store.sql("PRAGMA integrity_check; PRAGMA foreign_key_check") == "ok\n")
  }

  // MARK: - What a house records

  @Worker @Test func forgetsAttributesThatNoStateHas() throws {
    let store = try Recorder.store()
    // As its own purge does it: under foreign keys, which want the references gone first.
    try store.python(
      """
      db.execute("PRAGMA foreign_keys = ON")
      db.execute("BEGIN")
      db.execute("UPDATE states SET old_state_id = NULL WHERE old_state_id <= 1000")
      db.execute("DELETE FROM states WHERE state_id <= 1000")
      db.execute("DELETE FROM events WHERE event_id <= 505")
      db.execute("COMMIT")
      """)
    try store.settle()
    #expect(try store.sizes("states", "state_attributes") == [1_000, 208])
    #expect(try store.sizes("events", "event_data", "statistics") == [495, 50, 2_000])
    try store.expectOrder()
  }

  @Worker @Test func forgetsWhatADeviceLeft() throws {
    let store = try Recorder.store()
    try store.sql(
      """
      DELETE FROM states_meta WHERE entity_id = 'sensor.s1';
      DELETE FROM statistics_meta WHERE statistic_id = 'sensor.s1'
      """)
    try store.settle()
    #expect(try store.sizes("states", "state_attributes", "statistics") == [1_900, 308, 1_900])
    try store.expectOrder()
    try store.ctl("detach")
    #expect(try !store.wholeSchema().contains("cascade_"))
    #expect(try store.sql("PRAGMA integrity_check; PRAGMA foreign_key_check") == "ok\n")
  }
}

extension TestStore {
  /// Until nothing is left in the journal.
  fileprivate func settle() throws {
    try waitUntil("all is swept") { try status()["journal"] == 0 }
  }

  /// Runs Python with `db`, a connection to the store without foreign keys.
  fileprivate func python(_ script: String) throws {
    let complaint = try complaint(script)
    if !complaint.isEmpty { throw TooLate(description: complaint) }
  }

  /// What Python says of an error; nothing if there was none.
  fileprivate func complaint(_ script: String) throws -> String {
    let connect = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)

      """
    let outcome = try run(["/usr/bin/python3", "-c", connect + script, path])
    return outcome.status == 0 ? "" : "python3 ended so: \(outcome.ending) \(outcome.error)"
  }

  fileprivate func sizes(_ tables: String...) throws -> [Int] {
    let counts = tables.map { "SELECT count(*) FROM \($0);" }.joined()
    return try sql(counts).split(separator: "\n").compactMap { Int($0) }
  }

  /// Byte for byte, in SQLite's own order.
  fileprivate func wholeSchema() throws -> String {
    try sql("SELECT type, name, tbl_name, sql FROM sqlite_schema")
  }

  /// Neither we nor SQLite find anything wrong.
  fileprivate func expectOrder() throws {
    let check = try ctl("check")
    #expect(check.status == 0, "\(check.output)\(check.error)")
    #expect(try sql("PRAGMA foreign_key_check") == "")
  }
}
