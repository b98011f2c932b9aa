import CascadeModel
import CascadeSystem
import Testing

/// What Cascade keeps in the store: made at the start, made again, taken away.
@Suite struct AttachCommandTests {
  @Worker @Test func attachesAtItsStart() throws {
    let store = try Library.store()
    let triggers = try store.triggers()
    #expect(!triggers.isEmpty)
    let again = try store.ctl("attach")
    #expect(again.status == 0)
    #expect(
      again.output == "attached \(store.path): albums, artists, contracts, songs\n")
    #expect(
      try store.ctl("--json", "attach").json == [
        "store": .string(store.path),
        "collections": ["albums", "artists", "contracts", "songs"], "triggers": [],
        "indexes": [], "missingIndexes": [], "problems": [], "dangling": 0, "plan": nil,
      ])
    #expect(try store.triggers() == triggers)
  }

  @Worker @Test func makesIndexesWhenItIsAsked() throws {
    let store = try Library.store()
    try store.sql("DROP INDEX song_album")
    let report = try store.ctl("--json", "attach").json
    #expect(report["missingIndexes"] == [["table": "song", "column": "album_id"]])
    let text = try store.ctl("attach", "--create-indexes").output
    #expect(text.contains("  created 1 index: cascade_index_song(album_id)\n"))
    #expect(try store.ctl("--json", "attach").json["missingIndexes"] == [])
  }

  @Worker @Test func leavesNoTraceWhenItIsDetached() throws {
    let store = try Library.store(starts: false)
    let before = try store.schema()
    try store.start()
    try store.apply(#"{"changes": [{"put": ["notes", "1"]}, {"delete": ["songs", 20]}]}"#)
    let report = try store.ctl("--json", "detach").json
    #expect(report["tables"]?.array?.contains("cascade_node") == true)
    #expect(try store.schema() == before)
    #expect(try FileStatus.of("\(store.path)-wal")?.size ?? 0 == 0)
    let again = try store.ctl("detach")
    #expect(again.status == 0 && again.output.contains("nothing to remove"))
    try store.sql("DELETE FROM artist WHERE id = 'nina'")
    #expect(try store.songs() == [10, 11])
  }

  @Worker @Test func letsEverythingWaitWhileItIsDetached() throws {
    let store = try Library.store()
    let text = try store.ctl("detach").output
    #expect(text.hasPrefix("detached \(store.path)\n  removed "))
    #expect(try store.state() == "paused")
    #expect(try store.status()["reason"]?.string?.hasPrefix("detached: ") == true)
    try store.enqueue("a.json", #"{"changes": [{"delete": ["albums", 1]}]}"#)
    for command in ["node songs/10", "apply -", "sweep", "check", "approve 1", "edges", "ack 1"] {
      let arguments = command.split(separator: " ").map(String.init)
      let outcome = try run(
        [Programs.cascadectl, "--store", store.path] + arguments, input: #"{"changes": []}"#)
      #expect(outcome.status == 75, "\(command)")
      #expect(outcome.error.contains("detached: "), "\(command): \(outcome.error)")
    }
    #expect(try store.count(in: "new") == 1)
    #expect(try store.ctl("attach").output.contains("  created "))
    try store.waitUntilIdle()
    #expect(try store.songs() == [20])
    #expect(try store.state() == "ok")
  }

  @Worker @Test func isAttachedAgainByARestart() throws {
    let store = try Library.store()
    let triggers = try store.triggers()
    try store.ctl("detach")
    #expect(try store.end() == .exit(0))
    try store.start()
    #expect(try store.triggers() == triggers)
    #expect(try store.state() == "ok")
  }

  @Worker @Test func tellsThoseWhoWaitThatItIsDetached() throws {
    let store = try Library.store()
    let follower = try Running(
      [Programs.cascadectl, "--store", store.path, "notices", "--follow"],
      input: FileDescriptor.open("/dev/null"))
    try store.waitUntil("somebody follows") { try store.connections() == 1 }
    try store.ctl("detach")
    let outcome = try follower.finish()
    #expect(outcome.status == 75 && outcome.error.contains("detached: "))
  }

  // MARK: - What was there before

  @Worker @Test func holdsWhatDangledBeforeAnybodyWatched() throws {
    let store = try Library.store(Library.rows + Library.dangling)
    try store.wait(forState: "held")
    #expect(try store.status()["reason"]?.string?.contains("cascadectl approve 1") == true)
    #expect(store.log.contains("is held: it would delete 2 nodes"))
    let report = try store.ctl("--json", "attach").json
    #expect(report["dangling"] == 2 && report["plan"] == 1)
    #expect(try store.ctl("sweep").status == 3)
    #expect(try store.songs() == [10, 11, 20, 90, 91])
    let approved = try store.ctl("approve", "1")
    #expect(approved.output == "plan 1: applied: 2 nodes deleted\n  - songs/90\n  - songs/91\n")
    #expect(try store.songs() == [10, 11, 20])
    #expect(try store.state() == "ok")
  }

  @Worker @Test func holdsItAgainAfterARestart() throws {
    let store = try Library.store(Library.rows + Library.dangling)
    try store.wait(forState: "held")
    try store.end()
    try store.start()
    try store.wait(forState: "held")
    #expect(try store.ctl("--json", "attach").json["plan"] == 1)
    #expect(try store.ctl("approve", "1").status == 0)
    #expect(try store.songs() == [10, 11, 20])
  }

  /// Also where nothing sweeps by itself.
  @Worker @Test func knowsWhatWaitsAfterARestart() throws {
    let store = try TestStore(model: "{ sweeps: {}, limits: { hold: { deletes: 0, share: 0 } } }")
    try store.apply(#"{"put": ["a", "1"]}"#)
    try store.apply(#"{"put": ["a", "2"]}"#)
    try store.apply(
      #"{"link": {"name": "n", "from": ["a", "1"], "to": ["a", "2"], "rules": ["deleteDestinationIfSourceDeleted"]}}"#
    )
    try store.sql("DELETE FROM cascade_node WHERE key = '1'")
    #expect(try store.ctl("sweep").status == 3)
    #expect(try store.state() == "held")
    try store.end()
    try store.start()
    #expect(try store.state() == "held")
    #expect(try store.ctl("approve", "1").status == 0)
    #expect(try store.state() == "ok")
  }

  @Worker @Test func goesOnSweepingWhileThatIsHeld() throws {
    let store = try Library.store(Library.rows + Library.dangling)
    try store.wait(forState: "held")
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("the album's songs are gone") { try store.songs() == [20, 90, 91] }
    #expect(try store.state() == "held")
  }

  /// From the first answer on, what the application deletes is not taken for what dangled before.
  @Worker @Test func sweepsAtOnceWhatGoesNow() throws {
    let store = try Library.store(Library.rows + Library.dangling)
    try store.sql("DELETE FROM album WHERE id = 1")
    let swept = try store.ctl("--json", "sweep")
    #expect(swept.status == 3)
    #expect(try store.songs() == [20, 90, 91])
    let plan = try swept.json["plan"]?.integer ?? 0
    let approved = try store.ctl("approve", "\(plan)")
    #expect(approved.status == 0, "\(approved.output)\(approved.error)\(store.log)")
    #expect(try store.songs() == [20])
  }

  @Worker @Test func needsNoConstraints() throws {
    let store = try Library.store()
    let refused = try store.ctl("attach", "--create-constraints")
    #expect(refused.status != 0)
    #expect(refused.error.contains("needs no constraints"))
  }

  @Worker @Test func hasNoUsageForMore() throws {
    let store = try Library.store()
    #expect(try store.ctl("attach", "--create").status == 64)
    #expect(try store.ctl("detach", "now").status == 64)
  }
}
