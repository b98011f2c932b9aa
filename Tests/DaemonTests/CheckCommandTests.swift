import CascadeModel
import CascadeSystem
import Testing

/// `check`: what is not as the model says, a finding a line.
@Suite struct CheckCommandTests {
  @Worker @Test func findsNothingInAStoreInOrder() throws {
    let store = try Library.store()
    let outcome = try store.ctl("check")
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome.output)")
    #expect(try store.ctl("--json", "check").output == "")
    #expect(try TestStore().ctl("check").status == 0)
  }

  @Worker @Test func findsReferencesToNothing() throws {
    let store = try Library.store(Library.rows + Library.dangling)
    let text = try store.ctl("check")
    #expect(text.status == 1)
    #expect(
      text.output.hasPrefix(
        "dangling: \"album\" of songs/90 refers to albums/9, which does not exist\n"))
    let findings = try store.ctl("--json", "check").lines
    #expect(findings.count == 2)
    #expect(findings[0]["kind"] == "dangling" && findings[0]["node"] == ["songs", 90])
    #expect(findings[0]["edge"]?["to"] == ["albums", 9])
    #expect(try store.ctl("--quiet", "check").status == 1)
  }

  @Worker @Test func listsNoMoreThanItIsAskedFor() throws {
    let store = try Library.store(Library.rows + Library.dangling)
    let outcome = try store.ctl("check", "--limit", "1")
    #expect(outcome.output.split(separator: "\n").count == 1)
    #expect(outcome.error.contains("… and 1 more"))
    #expect(try store.ctl("check", "--limit", "0").status == 1)
    #expect(try store.ctl("check", "--limit", "-1").status == 64)
    #expect(try store.ctl("check", "--limit", "few").status == 64)
  }

  @Worker @Test func findsAndMakesMissingIndexes() throws {
    let store = try Library.store()
    try store.sql("DROP INDEX song_album")
    let finding = try #require(try store.ctl("--json", "check").lines.first)
    #expect(finding["kind"] == "missingIndex" && finding["table"] == "song")
    let repaired = try store.ctl("check", "--repair")
    #expect(repaired.status == 0)
    #expect(repaired.output == "repaired: created index cascade_index_song(album_id)\n")
    #expect(try store.ctl("check").status == 0)
  }

  /// The triggers went with the old table, and the daemon may still be about to create them again.
  @Worker @Test func findsNothingRightAfterATableWasRebuilt() throws {
    let store = try Library.store()
    let rebuild = """
      BEGIN IMMEDIATE;
      CREATE TABLE new_album(id INTEGER PRIMARY KEY, title TEXT UNIQUE, artist_id TEXT);
      INSERT INTO new_album SELECT * FROM album;
      DROP TABLE album;
      ALTER TABLE new_album RENAME TO album;
      CREATE INDEX album_artist ON album(artist_id);
      COMMIT;
      """
    for _ in 1...20 {
      try store.sql(rebuild)
      let outcome = try store.ctl("check")
      #expect(outcome.status == 0 && outcome.output == "", "\(outcome.output)")
    }
  }

  @Worker @Test func findsATableThatIsNotThere() throws {
    let store = try Library.store()
    try store.sql("DROP TABLE contract")
    let findings = try store.ctl("--json", "check").lines
    #expect(findings.contains { $0["kind"] == "binding" })
    #expect(try store.ctl("check", "--repair").status == 1)
  }

  @Worker @Test func findsWhatEverybodyMayWrite() throws {
    let store = try TestStore()
    #expect(try run(["/bin/chmod", "755", store.scratch.path, store.spool]).status == 0)
    #expect(try store.ctl("check").status == 0)
    for path in [store.spool, "\(store.spool)/new", store.socket] {
      #expect(try run(["/bin/chmod", "o+w", path]).status == 0)
      let findings = try store.ctl("--json", "check").lines
      #expect(findings.map { $0["kind"] } == ["access"])
      #expect(findings.first?["message"]?.string?.hasPrefix("\(path) can be written by") == true)
      #expect(try run(["/bin/chmod", "o-w", path]).status == 0)
    }
    #expect(try run(["/bin/chmod", "o+w", store.socket]).status == 0)
    #expect(try run(["/bin/chmod", "750", store.spool]).status == 0)
    #expect(try store.ctl("check").status == 0)
  }

  @Worker @Test(.enabled(if: Process.userIdentifier == 0))
  func findsFilesThatTheirOwnerCannotWrite() throws {
    let store = try Library.store()
    #expect(try store.ctl("check").status == 0)
    #expect(try run(["/bin/chown", "65534", store.path]).status == 0)
    let findings = try store.ctl("--json", "check").lines
    #expect(findings.map { $0["kind"] } == ["ownership", "ownership", "access"])
    #expect(findings[2]["message"]?.string?.contains("serve a store as its owner") == true)
    #expect(
      findings[0]["message"]?.string?.hasPrefix("\(store.path)-wal belongs to user 0") == true)
    #expect(try run(["/bin/chown", "65534", "\(store.path)-wal", "\(store.path)-shm"]).status == 0)
    #expect(try store.ctl("--json", "check").lines.map { $0["kind"] } == ["access"])
  }
}
