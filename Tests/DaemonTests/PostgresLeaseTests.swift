import CascadeModel
import CascadeSystem
import Glibc
import PostgresSupport
import Testing

/// Leases as applications take them: by SQL, and over the socket.
@Worker
@Suite("Leases beside PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresLeaseTests {
  private static let schema = """
    CREATE TABLE artist(id text PRIMARY KEY);
    CREATE TABLE photo(id int PRIMARY KEY);
    CREATE TABLE album(id int PRIMARY KEY, artist_id text, photo_id int);
    CREATE TABLE song(id int PRIMARY KEY, album_id int);
    CREATE INDEX ON album(artist_id); CREATE INDEX ON album(photo_id);
    CREATE INDEX ON song(album_id);
    INSERT INTO artist VALUES('anna'), ('bob'); INSERT INTO album VALUES(1, 'anna'), (2, 'bob');
    INSERT INTO song VALUES(10, 1), (11, 1), (20, 2);
    """
  private static let drop = "DELETE FROM album WHERE id = 1"

  private func store() throws -> PostgresDaemon {
    try PostgresDaemon(model: MusicModel.text(), schema: Self.schema)
  }

  private func waitForSongs(_ store: PostgresDaemon, _ songs: [String]) throws {
    try store.waitUntil("the songs are \(songs)") {
      try store.texts("SELECT id FROM song ORDER BY id") == songs
    }
  }

  @Test("What an application leases is spared, and swept when the lease is deleted")
  func bySQL() throws {
    let store = try store()
    try store.bySQL(
      "INSERT INTO cascade.lease(collection, key, owner) VALUES('songs', 10, 'upload')")
    #expect(try store.ctl("why", "songs/10").output.contains("leased by upload until "))
    try store.bySQL(Self.drop)
    try waitForSongs(store, ["10", "20"])
    try store.bySQL("DELETE FROM cascade.lease")
    try waitForSongs(store, ["20"])
    let why = try store.ctl("why", "songs/10").output
    #expect(why.contains("albums/1"), "\(why)")
  }

  @Test("The end of a lease wakes a sweep")
  func end() throws {
    let store = try store()
    try store.bySQL(
      """
      INSERT INTO cascade.lease(collection, expires)
      VALUES('songs', extract(epoch FROM now()) + 2); \(Self.drop)
      """)
    try waitForSongs(store, ["20"])
    #expect(try store.texts("SELECT count(*) FROM cascade.lease") == ["0"])
  }

  @Test("A client holds a node as long as it is connected")
  func connection() throws {
    let store = try store()
    let holder = try Running(
      [Programs.cascadectl, "--socket", "\(store.spool)/control", "lease", "songs/10"],
      input: FileDescriptor.open("/dev/null"))
    #expect(try holder.lines(1)[0].contains("as long as it is connected"))
    try store.bySQL(Self.drop)
    try waitForSongs(store, ["10", "20"])
    #expect(try store.ctl("lease", "--list").output.contains("songs/10"))
    holder.process.send(SIGINT)
    _ = holder.process.wait()
    try waitForSongs(store, ["20"])
  }

  @Test("Leases are taken, listed and released, and those of an earlier daemon's clients end")
  func commands() throws {
    let store = try store()
    let taken = try store.ctl(
      "--json", "lease", "songs/10", "--collection", "artists", "--owner", "me", "--for", "1h"
    ).lines
    #expect(taken.map { $0["node"] ?? $0["collection"] } == [["songs", 10], "artists"])
    #expect(try store.ctl("--json", "lease", "--list").lines == taken)
    #expect(try !store.ctl("plan", "albums/1").output.contains("songs/10"))
    let file = #"{"changes": [{"delete": ["albums", 1]}]}"#
    #expect(try store.ctl("apply", "-", input: file).status == 0)
    try waitForSongs(store, ["10", "20"])
    #expect(try store.ctl("lease", "--release", "songs/10").output == "1 lease released\n")
    try waitForSongs(store, ["20"])
    store.kill()
    _ = try store.texts("INSERT INTO cascade.lease(collection, connection) VALUES('songs', 1)")
    try store.start()
    #expect(try store.texts("SELECT collection FROM cascade.lease") == ["artists"])
  }
}
