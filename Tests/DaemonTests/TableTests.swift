import Glibc
import CascadeModel
import CascadeSystem
import Testing

/// What an application does to its tables and its file, and what the daemon makes of it.
@Suite struct TableTests {
  @Worker @Test func deletesNothingWithoutATable() throws {
    let store = try Library.store()
    try store.sql(
      "BEGIN; ALTER TABLE album RENAME TO other; DELETE FROM song WHERE id = 20; COMMIT")
    try store.wait(forState: "degraded")
    #expect(try store.status()["reason"]?.string?.contains("no table \"album\"") == true)
    let sweep = try store.ctl("sweep")
    #expect(sweep.status == 4)
    #expect(sweep.output.contains("  ! collections.albums: there is no table \"album\""))
    #expect(try store.integers("SELECT id FROM other ORDER BY id") == [1, 2])
    try store.sql("ALTER TABLE other RENAME TO album")
    try store.wait(forState: "ok")
    try store.waitUntil("the album without songs is gone") {
      try store.integers("SELECT id FROM album") == [1]
    }
    #expect(store.log.contains("the tables match the model again"))
  }

  @Worker @Test(arguments: [false, true])
  func seesWhatLetsGoUnderAnotherName(isNewName: Bool) throws {
    let store = try Library.store()
    try store.sql("ALTER TABLE song RENAME TO track")
    try store.wait(forState: "degraded")
    try store.sql("DELETE FROM track WHERE id = 20")
    if isNewName {
      try store.write(
        model: Library.model().replacing(#"table: "song""#, with: #"table: "track""#))
      #expect(try store.ctl("reload").status == 0)
    } else {
      try store.sql("ALTER TABLE track RENAME TO song")
    }
    try store.waitUntil("the album without songs is gone") {
      try store.integers("SELECT id FROM album") == [1]
    }
  }

  @Worker @Test func appliesWhatDeletesNothingMeanwhile() throws {
    let store = try Library.store()
    try store.sql("ALTER TABLE album RENAME TO other")
    try store.wait(forState: "degraded")
    #expect(
      try store.ctl("apply", "-", input: #"{"changes": [{"put": ["notes", 1]}]}"#).status == 0)
    try store.end()
    try store.enqueue("a.json", #"{"changes": [{"put": ["notes", 2]}]}"#)
    try store.enqueue("b.json", #"{"changes": [{"delete": ["notes", 1]}]}"#)
    try store.start()
    try store.waitUntil("the first file is applied") { try store.count(in: "new") == 1 }
    try store.waitUntil("the second waits") {
      try store.status()["reason"]?.string?.contains("nothing is deleted while") == true
    }
    #expect(try store.ctl("nodes", "notes").output == "notes/1\nnotes/2\n")
    try store.sql("ALTER TABLE other RENAME TO album")
    try store.waitUntilIdle()
    #expect(try store.ctl("nodes", "notes").output == "notes/2\n")
    try store.wait(forState: "ok")
  }

  @Worker @Test func looksForWhatWasDeletedWithoutItsTriggers() throws {
    let store = try Library.store()
    let triggers = try store.triggers()
    let drops = triggers.map { "DROP TRIGGER \"\($0)\";" }.joined()
    try store.sql("BEGIN; \(drops) DELETE FROM album WHERE id = 1; COMMIT")
    try store.waitUntil("the songs are gone") { try store.songs() == [20] }
    #expect(try store.triggers() == triggers)
  }

  @Worker @Test func seesRowsThatAreReplaced() throws {
    let store = try Library.store()
    // Displaces album 1 by its title, and no delete trigger fires.
    try store.sql("INSERT OR REPLACE INTO album VALUES(3, 'Pastel Blues', 'nina')")
    try store.waitUntil("the songs are gone") { try store.songs() == [20] }
    try store.sql("INSERT OR REPLACE INTO song VALUES(20, NULL)")
    try store.waitUntil("the last song took its album along") {
      try store.integers("SELECT id FROM album") == [3]
    }
  }

  @Worker @Test func refusesADeniedDeletionAtOnce() throws {
    let store = try Library.store()
    let refused = try store.shell("DELETE FROM artist WHERE id = 'ella'")
    #expect(refused.status != 0)
    #expect(refused.error.contains("\"binds\""), "\(refused.error)")
    #expect(try store.texts("SELECT id FROM artist ORDER BY id") == ["ella", "nina"])
    try store.sql("DELETE FROM contract; DELETE FROM artist WHERE id = 'ella'")
    try store.waitUntil("her songs are gone") { try store.songs() == [10, 11] }
    #expect(try store.ctl("plan", "artists/nina").output.hasPrefix("4 nodes would be deleted\n"))
  }

  @Worker @Test func changesRowsByChangeFiles() throws {
    let store = try Library.store()
    try store.apply(
      """
      {"changes": [{"put": ["albums", 3], "value": {"title": "Ella", "artist_id": "ella"}},
        {"delete": ["albums", 1]}]}
      """)
    #expect(try store.songs() == [20])
    #expect(try store.texts("SELECT title FROM album WHERE id = 3") == ["Ella"])
    let denied = try store.ctl(
      "apply", "-", input: #"{"changes": [{"delete": ["artists", "ella"]}]}"#)
    #expect(denied.status == 4)
  }

  // MARK: - The file

  @Worker @Test func takesUpTheFileThatIsRenamedOverIts() throws {
    let store = try Library.store()
    try store.sql(".backup '\(store.scratch.path("copy.db"))'")
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("the songs are gone") { try store.songs() == [20] }
    try rename("copy.db", in: store)
    try store.waitUntil("it is noticed") { store.log.contains("another file is there now") }
    try store.wait(forState: "ok")
    #expect(try store.songs() == [10, 11, 20])
    #expect(try store.ctl("node", "songs/10").output.hasPrefix("songs/10  {"))
    try store.apply(#"{"changes": [{"delete": ["songs", 20]}]}"#)
    #expect(try store.integers("SELECT id FROM album") == [1])
  }

  /// It has no log, and whoever opens it wants it alone: the daemon must let go of the old one.
  @Worker @Test func takesUpACopyThatIsWrittenOverIt() throws {
    let store = try Library.store()
    let copy = store.scratch.path("copy.db")
    try store.sql("VACUUM INTO '\(copy)'")
    try store.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(try run(["/bin/cp", copy, store.path]).status == 0)
    try store.waitUntil("it is noticed") { store.log.contains("a copy was written over it") }
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("the songs are gone") { try store.songs() == [20] }
    try store.wait(forState: "ok")
    #expect(try store.texts("PRAGMA journal_mode") == ["wal"])
  }

  @Worker @Test func looksThroughAFileThatSomebodyElseChanged() throws {
    let store = try Library.store()
    let copy = store.scratch.path("copy.db")
    try store.sql(".backup '\(copy)'")
    let hush = "INSERT INTO cascade_muted VALUES(1); DELETE FROM album; DELETE FROM cascade_muted"
    #expect(try run(["/usr/bin/sqlite3", copy, hush]).status == 0)
    try rename("copy.db", in: store)
    try store.waitUntil("what dangles is gone") { try store.songs().isEmpty }
    try store.wait(forState: "ok")
  }

  @Worker @Test func waitsForAFileThatIsAway() throws {
    let store = try Library.store()
    try store.scratch.directory.rename(
      FileName(store.name), to: store.scratch.directory, as: "away")
    try store.waitUntil("it is missed") {
      try store.status()["reason"]?.string?.hasSuffix("no longer exists") == true
    }
    #expect(try store.state() == "degraded")
    try store.enqueue("a.json", #"{"changes": [{"delete": ["albums", 1]}]}"#)
    #expect(try FileStatus.of(store.path) == nil)
    try rename("away", in: store)
    try store.waitUntilIdle()
    #expect(try store.songs() == [20])
    try store.wait(forState: "ok")
  }

  @Worker @Test func readsNoFileThroughTheLogOfAnother() throws {
    let store = try Library.store()
    try store.sql(".backup '\(store.scratch.path("copy.db"))'")
    kill(store.identifier, SIGSTOP)
    try store.sql("INSERT INTO song VALUES(30, 2)")
    try rename("copy.db", in: store)
    kill(store.identifier, SIGCONT)
    try store.waitUntil("it refuses") {
      try store.status()["reason"]?.string?.contains("-wal belongs to the old file") == true
    }
    try store.scratch.directory.remove(FileName("\(store.name)-wal"))
    try store.scratch.directory.remove(FileName("\(store.name)-shm"))
    try store.wait(forState: "ok")
    #expect(try store.songs() == [10, 11, 20])
  }

  @Worker @Test func savesWhatOnlyTheLogHad() throws {
    let store = try Library.store()
    try store.sql("INSERT INTO song VALUES(30, 2)")
    try removeLog(of: store)
    try store.waitUntil("it is noticed") { store.log.contains("its commits were saved") }
    #expect(try store.songs() == [10, 11, 20, 30])
    try store.sql("DELETE FROM album WHERE id = 2")
    try store.waitUntil("it is swept") { try store.songs() == [10, 11] }
    #expect(try store.texts("PRAGMA integrity_check") == ["ok"])
  }

  @Worker @Test func leavesAloneWhatOthersWroteWithoutTheLog() throws {
    let store = try Library.store()
    kill(store.identifier, SIGSTOP)
    try removeLog(of: store)
    try store.sql("INSERT INTO song VALUES(30, 2)")
    kill(store.identifier, SIGCONT)
    try store.waitUntil("it is noticed") { store.log.contains("commits that only it had are lost") }
    try store.wait(forState: "ok")
    #expect(try store.songs().contains(30))
    #expect(try store.texts("PRAGMA integrity_check") == ["ok"])
  }

  private func removeLog(of store: TestStore) throws {
    for suffix in ["wal", "shm"] {
      try store.scratch.directory.remove(FileName("\(store.name)-\(suffix)"))
    }
  }

  private func rename(_ name: FileName, in store: TestStore) throws {
    try store.scratch.directory.rename(
      name, to: store.scratch.directory, as: FileName(store.name))
  }
}
