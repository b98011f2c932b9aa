import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// What others commit is swept by itself, and nobody works for nothing.
@Suite struct WatchingTests {
  @Worker @Test func sweepsWhatAnApplicationDeletes() throws {
    let store = try Library.store()
    try store.sql("DELETE FROM artist WHERE id = 'nina'")
    try store.waitUntil("the songs are gone") { try store.songs() == [20] }
    try store.waitUntil("the sweep is told") {
      try store.status()["lastSweep"]?["deletedCount"] == 3
    }
    let status = try store.status()
    #expect(status["journal"] == 0)
    #expect(status["lastSweep"]?["kinds"] == ["cascade", "refcount"])
    #expect(status["lastSweep"]?["outcome"] == "done")
    #expect(try store.ctl("why", "songs/10").output.hasPrefix("songs/10 was deleted at "))
  }

  /// Each song is the last of its album.
  @Worker @Test func followsALoopOfCommitsInPortions() throws {
    let store = try Library.store(
      Library.rows + """
        WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1099)
        INSERT INTO song SELECT i, i FROM n;
        INSERT INTO album(id, title) SELECT id, id FROM song WHERE id >= 1000;
        """)
    let loop = try store.python("Tests/Foreign/transactions.py", "loop", store.path)
    #expect(loop.status == 0, "\(loop.error)")
    try store.waitUntil("the albums are gone") {
      try store.integers("SELECT count(*) FROM album") == [2]
    }
    // The loop takes at least half a second, which are three portions.
    #expect(try store.integers("SELECT count(*) FROM cascade_ledger WHERE deleted")[0] < 25)
  }

  /// The application's trigger deletes a cover with its album, and a print goes with its cover.
  @Worker @Test func sweepsWhatTriggersDoAboutItsOwnDeletions() throws {
    let store = try TestStore(
      model: """
        { collections: {
            artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
            covers: { table: "cover", key: "id" }, prints: { table: "print", key: "id" } },
          relationships: [
            { name: "artist", from: "albums", to: "artists", column: "artist",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "cover", from: "prints", to: "covers", column: "cover",
              rules: ["deleteSourceIfDestinationDeleted"] } ] }
        """,
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY);
        CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER);
        CREATE TABLE cover(id INTEGER PRIMARY KEY);
        CREATE TABLE print(id INTEGER PRIMARY KEY, cover INTEGER);
        CREATE INDEX album_artist ON album(artist);
        CREATE INDEX print_cover ON print(cover);
        CREATE TRIGGER no_cover AFTER DELETE ON album BEGIN
          DELETE FROM cover WHERE id = OLD.id;
        END;
        INSERT INTO artist VALUES(1), (2);
        INSERT INTO album SELECT id, id FROM artist;
        INSERT INTO cover SELECT id FROM artist;
        INSERT INTO print SELECT id, id FROM artist;
        """)
    for artist in 1...2 {
      try store.sql("DELETE FROM artist WHERE id = \(artist)")
      try store.waitUntil("the print is gone") {
        try store.integers("SELECT count(*) FROM print") == [Int64(2 - artist)]
      }
    }
    try store.waitUntil("the journal is empty") { try store.status()["journal"] == 0 }
  }

  /// A note names a row before an application inserts it.
  @Worker @Test func holdsWhatAnApplicationInserts() throws {
    let store = try TestStore(
      model: """
        { collections: { rows: { table: "r", key: "id" }, notes: {} },
          relationships: [ { name: "kept", from: "notes", to: "rows", property: "kept",
            rules: ["denyDestinationDeletion"] } ] }
        """,
      schema: "CREATE TABLE r(id INTEGER PRIMARY KEY)")
    try store.apply(#"{"changes": [{"put": ["notes", "n"], "value": {"kept": 7}}]}"#)
    #expect(try store.ctl("check").status == 1)
    try store.sql("INSERT INTO r VALUES(7)")
    try store.waitUntil("the note holds it") {
      try store.ctl("edges", "--to", "rows/7", "--count").output == "1\n"
    }
    #expect(throws: (any Error).self) { try store.sql("DELETE FROM r") }
  }

  @Worker @Test func countsReferences() throws {
    let store = try Library.store()
    try store.sql("DELETE FROM song WHERE id = 10")
    try store.sql("UPDATE song SET album_id = 2 WHERE id = 11")
    try store.waitUntil("the album is gone") {
      try store.integers("SELECT id FROM album") == [2]
    }
    #expect(try store.songs() == [11, 20])
  }

  @Worker @Test func sweepsWhatWasDeletedWhileItWasAway() throws {
    let store = try Library.store()
    try store.end()
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.start()
    try store.waitUntil("the songs are gone") { try store.songs() == [20] }
  }

  @Worker @Test func tellsFollowersOfItsNotices() throws {
    let store = try TestStore(
      model: """
        { collections: { songs: { table: "song", key: "id" } },
          relationships: [ { name: "next", from: "songs", to: "songs", column: "next",
            rules: ["notifyIfDestinationDeleted"] } ] }
        """,
      schema:
        "CREATE TABLE song(id INTEGER PRIMARY KEY, next); INSERT INTO song VALUES(1, 2), (2, 3)")
    let follower = try Running(
      [Programs.cascadectl, "--store", store.path, "notices", "--follow"],
      input: FileDescriptor.open("/dev/null"))
    #expect(try follower.lines(1)[0].hasPrefix("1  songs/2 lost songs/3"))
    try store.sql("DELETE FROM song WHERE id = 2")
    #expect(try follower.lines(2)[1].hasPrefix("2  songs/1 lost songs/2"))
  }

  @Worker @Test func sweepsABurstOfCommitsInFewSweeps() throws {
    let store = try Library.store(starts: false)
    try store.sql(
      """
      WITH RECURSIVE n(i) AS (VALUES(100) UNION ALL SELECT i + 1 FROM n LIMIT 500)
      INSERT INTO album SELECT i, 'title ' || i, 'ella' FROM n;
      INSERT INTO song SELECT id, id FROM album WHERE id >= 100
      """)
    try store.start()
    let application = try Connection(path: store.path, access: .readWrite)
    application.setBusyTimeout(milliseconds: 10_000)
    for number in 100..<600 {
      try application.run("DELETE FROM album WHERE id = ?", .integer(Int64(number)))
    }
    try store.waitUntil("all songs are gone") { try store.songs() == [10, 11, 20] }
    try store.waitUntil("the journal is empty") { try store.status()["journal"] == 0 }
    #expect(try store.status()["lastSweep"]?["sweep"]?.integer ?? .max < 250)
  }

  @Worker @Test func holdsALargeSweepAndDoesNotRepeatIt() throws {
    let store = try Library.store(more: "limits: { hold: { deletes: 1, share: 0 } }")
    try store.sql("DELETE FROM artist WHERE id = 'nina'")
    try store.wait(forState: "held")
    // The application closes its connection only then.
    try store.waitUntilQuiet()
    let sweep = try #require(try store.status()["lastSweep"])
    #expect(sweep["outcome"] == "held" && sweep["deletedCount"] == 3)
    #expect(try store.status()["journal"] == 0)
    // Another commit is no reason to look again.
    try store.sql("INSERT INTO artist VALUES('x', 'x')")
    try store.waitUntilQuiet()
    #expect(try store.status()["lastSweep"] == sweep)
    #expect(try store.status()["heldPlans"]?.array?.map { $0["plan"] } == [sweep["plan"]])
    #expect(store.log.split(separator: "\n").count { $0.contains("is held") } == 1)
    #expect(try store.ctl("approve", sweep["plan"]?.text ?? "").status == 0)
    #expect(try store.songs() == [20])
    #expect(try store.state() == "ok")
  }

  @Worker @Test func letsNothingPassWhoseReasonIsGone() throws {
    let store = try Library.store(more: "limits: { hold: { deletes: 1, share: 0 } }")
    try store.sql("DELETE FROM artist WHERE id = 'nina'")
    try store.wait(forState: "held")
    try store.sql("INSERT INTO artist VALUES('nina', 'back')")
    try store.waitUntilQuiet()
    #expect(try store.state() == "held")
    #expect(try store.ctl("--json", "plan", "1").json["deletedCount"] == 0)
    #expect(try store.ctl("--json", "approve", "1").json["deletedCount"] == 0)
    #expect(try store.state() == "ok")
  }

  /// The other kind runs when somebody asks for it.
  @Worker @Test func sweepsWhatAnotherSweepLeft() throws {
    let store = try TestStore(
      model: """
        { collections: { songs: { table: "song", key: "id" }, tags: { table: "tag", key: "id" },
            notes: { table: "note", key: "id" } },
          relationships: [
            { name: "tag", from: "songs", to: "tags", column: "tag",
              rules: ["deleteDestinationIfAllSourcesDeleted"] },
            { name: "about", from: "notes", to: "tags", column: "tag",
              rules: ["deleteSourceIfDestinationDeleted"] } ],
          sweeps: { cascade: "immediate" } }
        """,
      schema: """
        CREATE TABLE song(id INTEGER PRIMARY KEY, tag); CREATE TABLE tag(id INTEGER PRIMARY KEY);
        CREATE TABLE note(id INTEGER PRIMARY KEY, tag);
        INSERT INTO song VALUES(1, 1); INSERT INTO tag VALUES(1); INSERT INTO note VALUES(1, 1);
        """)
    try store.sql("DELETE FROM song")
    try store.waitUntilQuiet()
    #expect(try store.integers("SELECT id FROM tag") == [1])
    try store.ctl("sweep", "refcount")
    try store.waitUntil("the note follows") { try store.integers("SELECT id FROM note") == [] }
  }

  @Worker @Test func takesUpABackupFromBeforeItself() throws {
    let store = try Library.store(starts: false)
    try store.sql("VACUUM INTO '\(store.scratch.path("backup.db"))'")
    try store.start()
    let triggers = try store.triggers()
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("it is swept") { try store.songs() == [20] }
    try store.sql(".restore \(store.scratch.path("backup.db"))")
    try store.waitUntil("it is watched again") { try store.triggers() == triggers }
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("it is swept again") { try store.songs() == [20] }
    #expect(try store.state() == "ok")
    #expect(!store.log.contains("trying again"))
  }

  @Worker @Test func sweepsNothingByItselfWhereTheModelSaysSo() throws {
    let store = try Library.store(more: "sweeps: { dangling: '@daily' }")
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("it is in the journal") { try store.status()["journal"] == 1 }
    try store.waitUntilQuiet()
    #expect(try store.songs() == [10, 11, 20])
    #expect(try store.ctl("status").output.contains(", 1 in the journal)"))
    #expect(try store.ctl("sweep", "cascade").status == 0)
    #expect(try store.songs() == [20])
  }

  @Worker @Test func restsAfterASweep() throws {
    let store = try Library.store()
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("the songs are gone") { try store.songs() == [20] }
    try store.waitUntilQuiet()
  }

  @Worker @Test func hearsOfCommitsAfterALongSweep() throws {
    let sweep = try LongSweep(rows: 3_000, sweeps: "")
    try sweep.store.waitUntil("it is swept") { try sweep.rest() == 0 }
    try sweep.store.waitUntilQuiet()
    try sweep.store.sql(
      "INSERT INTO root VALUES('r'); INSERT INTO leaf VALUES('l', 'r'); DELETE FROM root")
    try sweep.store.waitUntil("that is swept too", limit: .seconds(20)) { try sweep.rest() == 0 }
  }

  @Worker @Test func hearsNoWritesOfAStoreWithoutTables() throws {
    let (objects, tables) = try (TestStore(), Library.store())
    try objects.waitUntil("its files are watched") { try objects.watches().count == 2 }
    try tables.waitUntil("its files are watched") { try tables.watches().count == 2 }
    let writes: UInt32 = 0x2
    #expect(try objects.watches().allSatisfy { $0 & writes == 0 })
    #expect(try tables.watches().contains { $0 & writes != 0 })
  }
}

extension TestStore {
  /// Until no thread of the daemon has been awake for a while.
  func waitUntilQuiet() throws {
    var last = try wakeUps()
    var quiet = Deadline(.milliseconds(500))
    try waitUntil("it rests") {
      let now = try wakeUps()
      if now != last { (last, quiet) = (now, Deadline(.milliseconds(500))) }
      return quiet.isOver
    }
  }

  private func wakeUps() throws -> [String] {
    try Directory.open("/proc/\(identifier)/task").names().map { task in
      // A thread may end before it is asked.
      let status = (try? kernelText("\(identifier)/task/\(task)/status")) ?? ""
      return status.split(separator: "\n").filter { $0.contains("ctxt_switches") }.joined()
    }.sorted()
  }

  /// How many directories the daemon watches.
  /// What inotify tells of, for each watch.
  fileprivate func watches() throws -> [UInt32] {
    try Directory.open("/proc/\(identifier)/fdinfo").names().flatMap { file in
      let text = (try? kernelText("\(identifier)/fdinfo/\(file)")) ?? ""
      return text.split(separator: "\n").filter { $0.hasPrefix("inotify ") }.compactMap { line in
        line.split(separator: " ").first { $0.hasPrefix("mask:") }
          .flatMap { UInt32($0.dropFirst("mask:".count), radix: 16) }
      }
    }
  }
}
