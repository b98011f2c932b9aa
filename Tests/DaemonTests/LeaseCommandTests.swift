import Glibc
import CascadeModel
import CascadeSystem
import Testing

/// Leases as applications take them: by SQL, and over the socket.
@Suite struct LeaseCommandTests {
  private let lease = """
    INSERT INTO cascade_lease(collection, key, owner) VALUES('songs', 10, 'upload');
    """
  private let dropAlbum = "DELETE FROM album WHERE id = 1"

  @Worker @Test func sparesWhatAnApplicationLeasesAndSweepsItWhenThatIsDeleted() throws {
    let store = try Library.store()
    try store.sql(lease)
    let why = try store.ctl("why", "songs/10").output
    #expect(why.contains("leased by upload until "))
    let holders = try store.ctl("--json", "why", "songs/10").json["holders"]?.array ?? []
    #expect(holders.first?["lease"]?["owner"] == "upload")
    try store.sql(dropAlbum)
    try store.waitUntil("the other song is gone") { try store.songs() == [10, 20] }
    try store.sql("DELETE FROM cascade_lease")
    try store.waitUntil("the song is gone") { try store.songs() == [20] }
    #expect(try store.ctl("why", "songs/10").output.contains("albums/1"))
  }

  @Worker @Test func wakesWhenALeaseIsOver() throws {
    let store = try Library.store()
    try store.sql(
      """
      INSERT INTO cascade_lease(collection, owner, expires)
      VALUES('songs', 'upload', unixepoch() + 2); \(dropAlbum)
      """)
    try store.waitUntil("the songs are gone") { try store.songs() == [20] }
    #expect(try store.integers("SELECT count(*) FROM cascade_lease") == [0])
  }

  /// A client that holds a song as long as it is connected.
  private func hold(_ store: TestStore) throws -> Running {
    let input = try FileDescriptor.open("/dev/null")
    let holder = try Running(
      [Programs.cascadectl, "--store", store.path, "lease", "songs/10", "--owner", "me"],
      input: input)
    #expect(try holder.lines(1) == ["songs/10  leased by me as long as it is connected"])
    return holder
  }

  @Worker @Test func holdsAsLongAsTheConnectionLives() throws {
    let store = try Library.store()
    let holder = try hold(store)
    try store.sql(dropAlbum)
    try store.waitUntil("the other song is gone") { try store.songs() == [10, 20] }
    #expect(try store.ctl("lease", "--list").output.contains("songs/10"))
    holder.process.send(SIGINT)
    _ = holder.process.wait()
    try store.waitUntil("the song is gone") { try store.songs() == [20] }
    #expect(try store.ctl("lease", "--list").output == "")
  }

  @Worker @Test(arguments: [true, false]) func holdsWhateverIsServed(isAnotherFile: Bool) throws {
    let store = try Library.store()
    let copy = store.scratch.path("copy.db")
    try store.sql("VACUUM INTO '\(copy)'")
    let holder = try hold(store)
    if isAnotherFile {
      try store.sql("PRAGMA wal_checkpoint(TRUNCATE)")
      #expect(try run(["/bin/cp", copy, store.path]).status == 0)
      try store.waitUntil("it is noticed") { store.log.contains("a copy was written over it") }
    } else {
      try store.write(model: Library.model("trash: '3d'"))
      #expect(try store.ctl("reload").output.contains("trash changed"))
    }
    try store.sql(dropAlbum)
    try store.waitUntil("the other song is gone") { try store.songs() == [10, 20] }
    #expect(try store.ctl("lease", "--list").output.contains("songs/10"))
    holder.process.send(SIGINT)
    _ = holder.process.wait()
    try store.waitUntil("the song is gone") { try store.songs() == [20] }
  }

  @Worker @Test func saysThatADetachedStoreHoldsNothing() throws {
    let store = try Library.store()
    let holder = try hold(store)
    #expect(try store.ctl("detach").status == 0)
    let end = try holder.finish()
    #expect(end.status == 75)
    #expect(end.error.contains("detached"))
    #expect(try store.ctl("attach").status == 0)
    #expect(try store.ctl("lease", "--list").output == "")
  }

  @Worker @Test func forgetsTheConnectionsOfAnEarlierDaemon() throws {
    let store = try Library.store()
    try store.sql("INSERT INTO cascade_lease(collection, connection) VALUES('songs', 1); \(lease)")
    try store.end(SIGKILL)
    try store.start()
    #expect(try store.integers("SELECT count(*) FROM cascade_lease") == [1])
  }

  @Worker @Test func takesListsAndReleasesLeases() throws {
    let store = try Library.store()
    let taken = try store.ctl(
      "--json", "lease", "songs/10", "--collection", "notes", "--owner", "me", "--for", "1h")
    let lines = try taken.lines
    #expect(lines.map { $0["node"] ?? $0["collection"] } == [["songs", 10], "notes"])
    #expect(lines.allSatisfy { $0["owner"] == "me" && $0["connection"] == false })
    #expect(try store.ctl("--json", "lease", "--list").lines == lines)
    #expect(try store.ctl("plan", "albums/1").output.contains("songs/11"))
    #expect(try !store.ctl("plan", "albums/1").output.contains("songs/10"))
    try store.apply(#"{"changes": [{"delete": ["albums", 1]}]}"#)
    #expect(try store.songs() == [10, 20])
    let released = try store.ctl("lease", "--release", "songs/10", "--collection", "notes")
    #expect(released.output == "2 leases released\n")
    try store.waitUntil("the song is gone") { try store.songs() == [20] }
  }

  @Worker @Test func holdsObjectsOfAStoreWithoutTables() throws {
    let store = try TestStore()
    try store.apply(
      #"""
      {"changes": [{"put": ["a", "1"]}, {"put": ["b", "1"]}, {"link": {"name": "e",
        "from": ["a", "1"], "to": ["b", "1"], "rules": ["deleteDestinationIfSourceDeleted"]}}]}
      """#)
    #expect(try store.ctl("lease", "b/1", "--for", "2s").status == 0)
    try store.apply(#"{"changes": [{"delete": ["a", "1"]}]}"#)
    #expect(try store.ctl("node", "b/1").output == "b/1\n")
    try store.waitUntil("it is gone") { try store.ctl("node", "b/1").output.contains("not exist") }
  }

  @Worker @Test func refusesWhatIsNoLease() throws {
    let store = try TestStore()
    #expect(try store.ctl("lease").status == 64)
    #expect(try store.ctl("lease", "a/1", "--for", "soon").status == 64)
    #expect(try store.ctl("lease", "a", "--for", "1m").status == 64)
    #expect(try store.ctl("lease", "a/1", "--for", "9999d").status == 64)
  }

  @Worker @Test func sweepsWhatTheRootsDoNotReach() throws {
    let store = try Library.store(more: "roots: [\"artists\"]")
    try store.sql("INSERT INTO album VALUES(3, 'Lost', NULL); INSERT INTO song VALUES(30, 3)")
    #expect(
      try store.ctl("sweep", "unreachable", "--dry-run").output.hasPrefix(
        "done: 2 nodes would be deleted"))
    #expect(try store.ctl("sweep", "unreachable").output.hasPrefix("done: 2 nodes deleted"))
    #expect(try store.songs() == [10, 11, 20])
  }

  @Worker @Test(arguments: [true, false]) func sweepsWhatALeaseAloneReached(bySocket: Bool) throws {
    let store = try Library.store(more: "roots: [\"artists\"]")
    try store.sql(
      """
      INSERT INTO album VALUES(3, 'Lost', NULL); INSERT INTO song VALUES(30, 3);
      INSERT INTO cascade_lease(collection, key) VALUES('songs', 30), ('songs', 10)
      """)
    #expect(try store.ctl("sweep", "unreachable").status == 0)
    #expect(try store.songs() == [10, 11, 20, 30])
    if bySocket {
      #expect(try store.ctl("lease", "--release", "songs/30").status == 0)
    } else {
      try store.sql("DELETE FROM cascade_lease WHERE key = 30")
    }
    try store.waitUntil("the song is gone") { try store.songs() == [10, 11, 20] }
  }
}
