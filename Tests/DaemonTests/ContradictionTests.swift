import CascadeModel
import CascadeSystem
import Testing

/// What several commands tell of the same thing agrees.
@Suite struct ContradictionTests {
  private static let model = """
    { collections: { artists: { table: "artist", key: "id" }, tours: { table: "tour", key: "id" },
        songs: { table: "song", key: "id" } },
      relationships: [
        { name: "song", from: "tours", to: "songs", column: "song",
          rules: ["denyDestinationDeletion"] },
        { name: "artist", from: "songs", to: "artists", column: "artist",
          rules: ["deleteSourceIfDestinationDeleted"] } ] }
    """
  private static let schema = """
    CREATE TABLE artist(id INTEGER PRIMARY KEY);
    CREATE TABLE song(id INTEGER PRIMARY KEY, artist INTEGER);
    CREATE TABLE tour(id INTEGER PRIMARY KEY, song INTEGER);
    INSERT INTO artist VALUES(1), (2), (3);
    INSERT INTO song VALUES(1, 1), (2, 2), (3, 3);
    INSERT INTO tour VALUES(1, 1);
    """

  private func store() throws -> TestStore {
    try TestStore(model: ContradictionTests.model, schema: ContradictionTests.schema)
  }

  @Worker @Test func aSweepIsBlockedAsLongAsANodeIsDenied() throws {
    let store = try store()
    try store.sql("DELETE FROM artist WHERE id = 1")
    try store.waitUntil("the sweep is over") {
      try store.status()["lastSweep"]?["outcome"] == "blocked"
    }
    for _ in 0..<2 {
      let sweep = try store.ctl("--json", "sweep", "cascade", "refcount")
      #expect(sweep.status == 4)
      #expect(try sweep.json["blocked"]?.array?.first?["node"] == ["songs", 1])
    }
    try store.sql("UPDATE song SET artist = 2 WHERE id = 1")
    try store.waitUntil("nothing is blocked any more") {
      try store.ctl("--json", "sweep", "cascade", "refcount").json["outcome"] == "nothing"
    }
  }

  @Worker @Test func theLogNamesASweepAsTheBatchesDo() throws {
    let store = try store()
    try store.sql("DELETE FROM artist WHERE id = 2")
    try store.waitUntil("the song is gone") {
      try store.integers("SELECT count(*) FROM song") == [2]
    }
    let id = try store.ctl("--json", "batches").json["id"]?.string ?? "?"
    try store.waitUntil("the log tells of it") { store.log.contains("\(id) done, deleted 1 node") }
  }

  @Worker @Test func eventsTellOfEarlierDaemons() throws {
    let store = try store()
    try store.sql("DELETE FROM artist WHERE id = 2")
    try store.waitUntil("the song is gone") {
      try store.integers("SELECT count(*) FROM song") == [2]
    }
    try store.end()
    try store.start()
    try store.ctl("nodes", "songs")
    let event = try store.ctl("--json", "events").output.split(separator: "\n")
      .map { try JSON.parse(String($0)) }.first { $0["kind"] == "swept" }
    #expect(event?["deletedCount"] == 1)
  }

  @Worker @Test func indexesAreAnnounced() throws {
    let store = try store()
    let made = try store.ctl("attach", "--create-indexes", "--yes")
    #expect(made.status == 0)
    #expect(made.error.contains("creating 2 indexes takes less than 1 s"))
    #expect(try store.ctl("attach", "--create-indexes").error == "")
  }
}
