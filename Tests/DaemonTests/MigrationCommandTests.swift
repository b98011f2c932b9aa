import CascadeModel
import CascadeSystem
import Glibc
import Testing

/// An application rebuilds its tables, as Django and Alembic do it.
@Suite struct MigrationCommandTests {
  private static let model = """
    { collections: { artists: { table: "artist", key: "id" }, tours: { table: "tour", key: "year" },
        songs: { table: "song", key: "id" } },
      relationships: [
        { name: "singer", from: "tours", to: "artists", column: "artist_id",
          rules: ["denyDestinationDeletion"] },
        { name: "artist", from: "songs", to: "artists", column: "artist_id",
          rules: ["deleteSourceIfDestinationDeleted"] } ],
      sweeps: { cascade: "immediate", refcount: "immediate", dangling: "17 3 * * *" } }
    """
  private static let schema = """
    CREATE TABLE artist(id TEXT PRIMARY KEY);
    CREATE TABLE tour(year INTEGER PRIMARY KEY, artist_id TEXT);
    CREATE INDEX tour_artist ON tour(artist_id);
    CREATE TABLE song(id INTEGER PRIMARY KEY, artist_id TEXT);
    CREATE INDEX song_artist ON song(artist_id);
    INSERT INTO artist VALUES('a'), ('b'), ('c');
    INSERT INTO tour VALUES(1965, 'a');
    INSERT INTO song VALUES(1, 'a'), (2, 'b'), (3, 'c');
    """

  private static func rebuild(
    _ table: String, _ columns: String, where condition: String = "1"
  ) -> String {
    """
    PRAGMA foreign_keys = OFF;
    BEGIN;
    CREATE TABLE "new__\(table)"(\(columns), added TEXT NULL);
    INSERT INTO "new__\(table)" SELECT *, NULL FROM "\(table)" WHERE \(condition);
    DROP TABLE "\(table)";
    ALTER TABLE "new__\(table)" RENAME TO "\(table)";
    COMMIT;
    """
  }

  private static let tour = rebuild("tour", "year INTEGER PRIMARY KEY, artist_id TEXT")

  private func store() throws -> TestStore {
    try TestStore(model: MigrationCommandTests.model, schema: MigrationCommandTests.schema)
  }

  @Worker @Test func betweenBeginAndEndAnyTableCanBeRebuilt() throws {
    let store = try store()
    try store.sql("DELETE FROM artist WHERE id = 'b'")
    try store.waitUntil("the song is gone") {
      try store.integers("SELECT count(*) FROM song") == [2]
    }
    #expect(try store.shell(MigrationCommandTests.tour).status != 0)
    #expect(try store.ctl("migrate", "begin").status == 0)
    try store.sql(MigrationCommandTests.tour)
    let end = try store.ctl("--json", "migrate", "end")
    #expect(end.status == 0)
    #expect(try end.json["problems"]?.array?.isEmpty == true)
    #expect(try store.shell("DELETE FROM artist WHERE id = 'a'").status != 0)
    #expect(try store.ctl("undo", "1").status == 0)
    #expect(try store.integers("SELECT count(*) FROM song") == [3])
    #expect(try store.state() == "ok")
  }

  @Worker @Test func whatHappenedMeanwhileIsFoundAtTheEnd() throws {
    let store = try store()
    try store.ctl("migrate", "begin")
    let artist = MigrationCommandTests.rebuild("artist", "id TEXT PRIMARY KEY", where: "id <> 'c'")
    try store.sql("\(artist); DELETE FROM artist WHERE id = 'b'")
    #expect(try store.integers("SELECT count(*) FROM song") == [3])
    #expect(try store.ctl("migrate", "end").status == 0)
    #expect(try store.ctl("sweep").status == 0)
    #expect(try store.integers("SELECT id FROM song") == [1])
  }

  @Worker @Test func aMigrationOutlivesTheDaemonAndIsEndedByItsOwnCommand() throws {
    let store = try store()
    #expect(try store.ctl("migrate").status == EX_USAGE)
    #expect(try store.ctl("migrate", "begin").status == 0)
    #expect(try store.ctl("migrate", "begin").status == 0)
    try store.end()
    try store.start()
    #expect(try store.state() == "paused")
    for refused in [["resume"], ["sweep"]] {
      let outcome = try run([Programs.cascadectl, "--store", store.path] + refused)
      #expect(outcome.status == 75)
      #expect(outcome.error.contains("cascadectl migrate end"))
    }
    try store.sql(MigrationCommandTests.tour)
    #expect(try store.ctl("migrate", "end").status == 0)
    #expect(try store.ctl("migrate", "end").status == 0)
    #expect(try store.state() == "ok")
  }
}
