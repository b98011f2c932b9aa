import CascadeModel
import CascadeSystem
import Testing

/// `sweep`, as people and programs see it.
@Suite struct SweepCommandTests {
  private static func held() throws -> TestStore {
    let store = try Library.store(
      more: "sweeps: {}, limits: { hold: { deletes: 0, share: 0 } },")
    try store.sql("DELETE FROM album WHERE id = 1")
    return store
  }

  @Worker @Test func saysWhatLetsAHeldOnePass() throws {
    let store = try SweepCommandTests.held()
    let held = try store.ctl("sweep", "cascade")
    #expect(held.status == 3)
    let text =
      "held as plan 1: 2 nodes would be deleted\n  cascadectl approve 1 allows it\n"
    #expect(held.output == text)
    #expect(try store.ctl("approve", "1").status == 0)
    #expect(try store.songs() == [20])
  }

  @Worker @Test func saysSoAlsoQuietly() throws {
    let store = try SweepCommandTests.held()
    let quiet = try store.ctl("--quiet", "sweep", "cascade")
    #expect(quiet.status == 3 && quiet.output == "" && quiet.error.contains("held as plan 1"))
  }

  @Worker @Test func makesNothingElseWait() throws {
    let store = try SweepCommandTests.held()
    #expect(try store.ctl("sweep", "cascade").status == 3)
    #expect(try store.ctl("sweep").status == 0)
    try store.sql("UPDATE song SET album_id = 2 WHERE id = 11")
    #expect(try store.ctl("--json", "plan", "1").json["deletedCount"] == 1)
    #expect(try store.ctl("approve", "1").status == 0)
    #expect(try store.songs() == [11, 20])
    #expect(try store.state() == "ok")
  }

  @Worker @Test func givesUpWhatIsRejected() throws {
    let store = try SweepCommandTests.held()
    #expect(try store.ctl("sweep", "cascade").status == 3)
    for _ in 1...2 {
      let rejected = try store.ctl("--json", "reject", "1")
      #expect(rejected.status == 0)
      #expect(try rejected.json == ["plan": 1, "restored": 0, "givenUp": 2])
    }
    #expect(try store.state() == "ok")
    #expect(try store.ctl("sweep").status == 0)
    #expect(try store.songs() == [10, 11, 20])
    let check = try store.ctl("--json", "check")
    #expect(try check.lines.filter { $0["kind"] == "givenUp" }.count == 2)
    #expect(try store.ctl("approve", "1").status != 0)
    #expect(try store.ctl("reject", "99").status != 0)
  }

  @Worker @Test func movesARejectedFile() throws {
    let store = try SweepCommandTests.held()
    let file = #"{"id": "f", "changes": [{"delete": ["songs", 20]}]}"#
    let held = try store.ctl("--json", "apply", "-", input: file)
    let plan = try #require(try held.json["plan"]?.integer)
    for _ in 1...2 { #expect(try store.ctl("reject", "\(plan)").status == 0) }
    #expect(try store.count(in: "held") == 0)
    #expect(try store.ctl("--json", "spool").lines.count == 1)
    #expect(try store.songs() == [10, 11, 20])
  }

  @Worker @Test func holdsWhatNothingRefersTo() throws {
    let store = try Library.store(more: "sweeps: {},")
    try store.sql("INSERT INTO album VALUES(3, 'Unheard', NULL)")
    let check = try store.ctl("check")
    #expect(check.status == 0)
    #expect(check.error.contains("note: unreferenced: 1 node of \"albums\""))
    let line = try store.ctl("--json", "check").lines.first
    #expect(line?["kind"] == "unreferenced" && line?["count"] == 1)
    #expect(try store.ctl("sweep").status == 0)
    #expect(try store.ctl("--json", "sweep", "unreferenced", "--dry-run").json["outcome"] == "held")
    let held = try store.ctl("sweep", "unreferenced")
    #expect(held.status == 3)
    #expect(try store.integers("SELECT id FROM album ORDER BY id") == [1, 2, 3])
    #expect(try store.ctl("--json", "plan", "1").json["deletedCount"] == 1)
    #expect(try store.ctl("approve", "1").status == 0)
    #expect(try store.integers("SELECT id FROM album ORDER BY id") == [1, 2])
    #expect(try store.ctl("why", "albums/3").output.contains("found nothing that keeps it"))
    #expect(try store.state() == "ok")
  }

  /// A checkpoint that waits for all readers has the write lock meanwhile, and the sweep reads.
  @Worker @Test func givesWayToACheckpointThatWaits() throws {
    let sweep = try LongSweep(rows: 200_000, lock: "100ms")
    SystemClock.sleep(for: .seconds(1.2))
    let begun = try sweep.begin()
    try sweep.store.waitUntil("there is a long log") {
      try FileStatus.of("\(sweep.store.path)-wal")!.size > 40 << 20
    }
    let start = ContinuousClock.now
    try sweep.store.sql("PRAGMA busy_timeout = 60000; PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(.now - start < .seconds(4))
    #expect(try begun.finish().status == 0)
    #expect(try sweep.rest() == 0)
  }

  @Worker @Test func saysHowMuchWaitsAndHowMuchIsDone() throws {
    let store = try Library.store(
      Library.rows + Library.dangling,
      more: "sweeps: {}, limits: { hold: { deletes: 1, share: 0 } },")
    try store.sql("DELETE FROM album WHERE id = 2")
    let held = try store.ctl("sweep")
    #expect(
      held.output.hasPrefix("held as plan 1: 2 nodes would be deleted, after 1 node deleted\n"))
    let again = try store.ctl("--json", "sweep").json
    #expect((again["heldCount"], again["deletedCount"]) == (2, 2))
  }

  @Worker @Test func isBegunForWhoDoesNotWait() throws {
    let store = try Library.store(more: "sweeps: {},")
    try store.sql("DELETE FROM album WHERE id = 1")
    let begun = try store.ctl("--json", "sweep", "cascade", "--no-wait")
    #expect(begun.status == 0)
    #expect(try begun.json == ["kinds": ["cascade"], "outcome": "begun"])
    try store.waitUntil("it is swept") { try store.songs() == [20] }
    #expect(try store.ctl("sweep", "--no-wait").output == "")
  }

  @Worker @Test func refusesWhoDoesNotWaitToo() throws {
    let host = try Host()
    try host.model("a")
    try host.start()
    #expect(try host.ctl(of: "a", "sweep", "--no-wait").status == 0)
    let unknown = try host.ctl(of: "a", "sweep", "cascades", "--no-wait")
    #expect(unknown.status == 64 && unknown.error.contains("did you mean cascade?"))
    #expect(try host.ctl(of: "b", "sweep", "--no-wait").status == 69)
    #expect(try host.ctl("pause").status == 0)
    #expect(try host.ctl(of: "a", "sweep", "--no-wait").status == 75)
  }
}
