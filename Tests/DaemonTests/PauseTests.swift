import CascadeModel
import CascadeSystem
import Testing

/// A store that is left alone for a while.
@Suite struct PauseTests {
  private static let put = #"{"changes": [{"put": ["a", "1"]}]}"#

  @Worker @Test func nothingIsDoneWhileItIsPaused() throws {
    let store = try TestStore()
    #expect(try store.ctl("pause").status == 0)
    #expect(try store.state() == "paused")
    try store.enqueue("waits.json", PauseTests.put)
    for arguments in [["sweep"], ["undo", "1"], ["approve", "1"], ["apply", "-"]] {
      let refused = try run(
        [Programs.cascadectl, "--store", store.path] + arguments, input: PauseTests.put)
      #expect(refused.status == 75, "\(arguments): \(refused.error)")
      #expect(refused.error.contains("`cascadectl resume` continues"))
    }
    #expect(try store.ctl("nodes", "a").output == "")
    #expect(try store.ctl("sweep", "--dry-run").status == 0)
    #expect(try store.ctl("check", "--repair").status == 75)
    #expect(try store.count(in: "new") == 1)
    #expect(try store.ctl("resume").status == 0)
    try store.waitUntilIdle()
    #expect(try store.ctl("nodes", "a").output == "a/1\n")
    #expect(try store.state() == "ok")
  }

  @Worker @Test func aPauseOutlivesTheDaemon() throws {
    let store = try TestStore()
    try store.ctl("pause")
    try store.end(9)
    try store.start()
    #expect(try store.state() == "paused")
    try store.enqueue("waits.json", PauseTests.put)
    #expect(try store.ctl("resume").status == 0)
    try store.waitUntilIdle()
    try store.end()
    try store.start()
    #expect(try store.state() == "ok")
  }

  @Worker @Test func whatIsPutInThePlaceOfAPausedStoreIsPaused() throws {
    let store = try TestStore()
    let copy = store.scratch.path("copy.db")
    try store.sql(".backup '\(copy)'")
    try store.ctl("pause")
    try store.scratch.directory.rename(
      "copy.db", to: store.scratch.directory, as: FileName(store.name))
    try store.ctl("nodes", "a")
    try store.ctl("ack", "1")
    #expect(try store.state() == "paused")
    #expect(try store.integers("SELECT count(*) FROM cascade_meta WHERE name = 'paused'") == [1])
  }

  @Worker @Test func whatAnApplicationDeletedMeanwhileIsSweptAfterwards() throws {
    let sweep = try LongSweep(rows: 50, sweeps: "", resumes: false)
    #expect(try sweep.store.ctl("sweep").status == 75)
    #expect(try sweep.rest() == 50)
    try sweep.store.ctl("resume")
    try sweep.store.waitUntil("it is swept") { try sweep.rest() == 0 }
  }

  @Worker @Test func aSweepStopsAtItsStepAndGoesOn() throws {
    let store = try LongSweep(rows: 40_000)
    let sweep = try store.begin()
    try store.store.waitUntil("it deletes") { try store.rest() < 40_000 }
    #expect(try store.store.ctl("pause").status == 0)
    #expect(try sweep.finish().status == 75)
    let left = try store.rest()
    #expect(left > 0)
    #expect(try store.store.state() == "paused")
    #expect(try store.rest() == left)
    try store.store.ctl("resume")
    try store.store.waitUntil("the rest is swept") { try store.rest() == 0 }
  }

  @Worker @Test func aPauseEndsWhereItsStoreIsDetached() throws {
    let store = try TestStore()
    try store.ctl("pause")
    #expect(try store.ctl("detach").status == 0)
    #expect(try store.ctl("resume").status == 75)
    #expect(try store.ctl("pause").status == 75)
    #expect(try store.ctl("attach").status == 0)
    #expect(try store.state() == "ok")
    try store.apply(PauseTests.put)
  }

  @Worker @Test func saysForProgramsThatItIsDone() throws {
    let store = try TestStore()
    #expect(try store.ctl("--json", "pause").json == ["outcome": "paused"])
    #expect(try store.ctl("--json", "resume").json == ["outcome": "resumed"])
    #expect(try store.ctl("pause").output == "")
  }
}
