import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// The spool, as other producers use it, and the commands for what lies in it.
@Suite struct SpoolTests {
  @Worker @Test func appliesWhatIsRenamedIntoTheQueue() throws {
    let store = try TestStore()
    try store.enqueue("one.json", #"{"changes": [{"put": ["a", "1"]}]}"#)
    try store.enqueue("two.ndjson", "{\"put\": [\"a\", \"2\"]}\n{\"put\": [\"a\", \"3\"]}\n")
    try store.waitUntilIdle()
    #expect(try store.ctl("nodes", "a").output == "a/1\na/2\na/3\n")
    #expect(
      try store.texts("SELECT id FROM cascade_ledger ORDER BY id") == ["one.json", "two.ndjson"])
  }

  @Worker @Test func appliesWhatCameWhileItDidNotRun() throws {
    let store = try TestStore()
    try store.end()
    for name in ["b", "a", "c"] {
      try store.enqueue(FileName("\(name).json"), #"{"changes": [{"put": ["a", "\#(name)"]}]}"#)
    }
    try store.start()
    try store.waitUntilIdle()
    let applied = try store.texts("SELECT id FROM cascade_ledger ORDER BY seq")
    #expect(applied == ["a.json", "b.json", "c.json"])
  }

  @Worker @Test func servesADirectoryThatReplacedItsOwn() throws {
    let store = try TestStore()
    try store.enqueue("one.json", #"{"changes": [{"put": ["a", "1"]}]}"#)
    try store.waitUntilIdle()
    for name in ["new", "rejected"] as [FileName] {
      let spool = try Directory.open(store.spool)
      try spool.rename(name, to: spool, as: "old")
      try spool.makeDirectory(name)
      try store.enqueue("2.json", #"{"changes": [{"put": ["a", "2"]}]}"#)
      try store.enqueue("3.json", "nonsense")
      try store.waitUntil("both are taken") {
        try store.count(in: "new") == 0 && store.count(in: "rejected") == 2
      }
      #expect(try store.ctl("nodes", "a").output == "a/1\na/2\n")
      try store.apply(#"{"changes": [{"delete": ["a", "2"]}]}"#)
      try store.ctl("spool", "drop", "3.json")
      try spool.directory("old").removeContents()
      try spool.removeDirectory("old")
      try store.sql("DELETE FROM cascade_ledger")
    }
  }

  @Worker @Test func dropsADuplicate() throws {
    let store = try TestStore()
    for name: FileName in ["one.json", "two.json"] {
      try store.enqueue(name, #"{"id": "x", "changes": [{"put": ["a", "1"]}]}"#)
      try store.waitUntilIdle()
    }
    #expect(try store.count(in: "rejected") == 0)
    #expect(try store.integers("SELECT count(*) FROM cascade_ledger") == [1])
  }

  @Worker @Test func leavesTheReasonsBesideARejectedFile() throws {
    let store = try TestStore()
    let text = "{\"author\": \"me\", \"changes\": [\n  {\"patch\": [\"a\", \"1\"], \"set\": {}}]}"
    try store.enqueue("bad.json", text)
    try store.waitUntilIdle()
    let rejected = try store.directory("rejected")
    #expect(try rejected.text("bad.json") == text)
    let reasons = try JSON.parse(try rejected.text("bad.json.reason.json"))
    #expect(reasons["file"] == "bad.json" && reasons["id"] == "bad.json")
    #expect(reasons["author"] == "me")
    #expect(
      reasons["reasons"]?.array?.first?["message"] == "a/1 cannot be patched: it does not exist")
    #expect(reasons["reasons"]?.array?.first?["path"] == "changes[0]")
    // The file moves first, and is told of then.
    try store.waitUntil("the rejection is told") { store.log.contains("rejected bad.json") }
  }

  @Worker @Test func keepsNothingOfWhatWasRejectedOverTheSocket() throws {
    let store = try TestStore()
    let bad = #"{"changes": [{"patch": ["a", "1"], "set": {"n": 1}}]}"#
    for _ in 1...3 { #expect(try store.ctl("apply", "-", input: bad).status == 65) }
    #expect(try store.ctl("apply", "-", input: "no JSON").status == 65)
    try store.enqueue("late.json", bad)
    try store.waitUntilIdle()
    try store.waitUntil("only the file of the spool is left") {
      try store.count(in: "rejected") == 2
    }
    #expect(try store.ctl("--json", "spool").lines.map { $0["file"] } == ["late.json"])
  }

  @Worker @Test func namesTheLineOfABadLine() throws {
    let store = try TestStore()
    try store.enqueue("bad.ndjson", "{\"batch\": 1}\n{\"put\": [\"a\", \"1\"]}\n{\"putt\": 1}\n")
    try store.waitUntilIdle()
    let reasons = try JSON.parse(try store.directory("rejected").text("bad.ndjson.reason.json"))
    #expect(reasons["reasons"]?.array?.first?["line"] == 3)
    #expect(try store.ctl("nodes", "a").output == "")
  }

  @Worker @Test func keepsEveryRejectedFileOfOneName() throws {
    let store = try TestStore()
    let names = ["bad.json", "bad.json.reason.json", String(repeating: "n", count: 250) + ".json"]
    for name in names {
      for text in ["first", "second", "third"] {
        try store.enqueue(FileName(name), text)
        try store.waitUntilIdle()
      }
    }
    let listed = try store.ctl("--json", "spool").lines
    #expect(listed.count == 9)
    #expect(listed.allSatisfy { $0["reasons"]?.array?.count == 1 })
    let rejected = try store.directory("rejected")
    let texts = try listed.map { try rejected.text(FileName($0["file"]?.string ?? "")) }
    #expect(texts.filter { $0 == "second" }.count == 3)
    #expect(try store.count(in: "rejected") == 18)
  }

  @Worker @Test func tellsLongNamesApartByTheirReasons() throws {
    let store = try TestStore()
    for end in ["x", "y"] {
      let name = String(repeating: "n", count: 249) + "\(end).json"
      try store.enqueue(FileName(name), #"{"changes": [{"\#(end)": 1}]}"#)
    }
    try store.waitUntilIdle()
    let reasons = try store.ctl("--json", "spool").lines.compactMap {
      $0["reasons"]?.array?.first?["message"]?.string
    }
    #expect(reasons.count == 2)
    #expect(reasons.first?.contains("\"x\"") == true && reasons.last?.contains("\"y\"") == true)
  }

  @Worker @Test func listsRetriesAndDrops() throws {
    let store = try TestStore()
    try store.enqueue("late.json", #"{"changes": [{"patch": ["a", "1"], "set": {"n": 1}}]}"#)
    try store.enqueue("never.json", "no")
    try store.waitUntilIdle()
    let listed = try store.ctl("--json", "spool", "list").lines
    #expect(listed.map { $0["file"] } == ["late.json", "never.json"])
    #expect(listed.allSatisfy { $0["state"] == "rejected" })
    let words = try store.ctl("spool").output
    let reason = "changes[0]: a/1 cannot be patched: it does not exist"
    #expect(words.hasPrefix("rejected  late.json\n  ! \(reason)\n"))
    try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#)
    #expect(try store.ctl("spool", "retry", "late.json").status == 0)
    try store.waitUntilIdle()
    #expect(try store.ctl("node", "a/1").output == "a/1  {\"n\":1}\n")
    #expect(try store.ctl("spool", "drop", "never.json").status == 0)
    #expect(try store.count(in: "rejected") == 0)
    #expect(try store.ctl("spool").output == "")
  }

  @Worker @Test(arguments: ["retry", "drop"])
  func knowsOnlyFilesOfTheSpool(verb: String) throws {
    let store = try TestStore()
    let missing = try store.ctl("spool", verb, "none.json")
    #expect(missing.status == 65)
    #expect(missing.error.contains("there is no file none.json among the rejected"))
    for name in ["../store.db", "..", ".lock", "a/b", ""] {
      #expect(try store.ctl("spool", verb, name).status == 64)
    }
    #expect(try FileStatus.of(store.path) != nil)
  }

  @Worker @Test func neverReplacesAHeldFile() throws {
    let store = try TestStore(model: "{ limits: { hold: { deletes: 0, share: 0 } } }")
    try store.apply(#"{"changes": [{"put": ["a", "1"]}, {"put": ["a", "2"]}]}"#)
    for key in ["1", "2"] {
      try store.enqueue("same.json", #"{"changes": [{"delete": ["a", "\#(key)"]}]}"#)
      try store.waitUntilIdle()
    }
    #expect(try store.count(in: "held") == 1)
    let rejected = try store.ctl("spool").output
    #expect(rejected.contains("another file named same.json is already held"))
    #expect(try store.ctl("approve", "1").status == 0)
    #expect(try store.ctl("nodes", "a").output == "a/2\n")
  }

  @Worker @Test func neverReplacesAWaitingFileByARetriedOne() throws {
    let store = try TestStore()
    try store.enqueue("same.json", "no")
    try store.waitUntilIdle()
    let application = try Connection(path: store.path, access: .readWrite)
    application.setBusyTimeout(milliseconds: 10_000)
    try application.begin()
    try store.enqueue("same.json", #"{"changes": [{"put": ["a", "1"]}]}"#)
    let outcome = try store.ctl("spool", "retry", "same.json")
    #expect(outcome.status == 75)
    #expect(outcome.error.contains("another file named same.json is in the queue"))
    try application.commit()
    try store.waitUntilIdle()
    #expect(try store.ctl("node", "a/1").output == "a/1\n")
    #expect(try store.ctl("spool", "retry", "same.json").status == 0)
  }

  @Worker @Test func retriesAndDropsWhatIsHeld() throws {
    let store = try TestStore(model: "{ limits: { hold: { deletes: 0, share: 0 } } }")
    try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#)
    try store.enqueue("delete.json", #"{"changes": [{"delete": ["a", "1"]}]}"#)
    try store.waitUntilIdle()
    let listed = try store.ctl("--json", "spool").lines
    let entry: JSON = ["file": "delete.json", "state": "held", "plan": 1, "deletedCount": 1]
    #expect(listed == [entry])
    #expect(
      try store.ctl("spool").output
        == "held  delete.json\n  plan 1: 1 node would be deleted; cascadectl approve 1 allows it\n"
    )
    #expect(
      try store.status()["reason"] == "1 file is held: `cascadectl spool` shows the plans")
    let retried = try store.ctl("--json", "spool", "retry", "delete.json")
    #expect(try retried.json == ["file": "delete.json", "outcome": "retried"])
    try store.waitUntil("it is held again") { try store.count(in: "held") == 1 }
    #expect(try store.ctl("--json", "spool").lines == [entry])
    let dropped = try store.ctl("--json", "spool", "drop", "delete.json")
    #expect(try dropped.json == ["file": "delete.json", "outcome": "dropped"])
    #expect(try store.ctl("approve", "1").status == 65)
    #expect(try store.integers("SELECT count(*) FROM cascade_plan") == [0])
    #expect(try store.count(in: "held") == 0)
    #expect(try store.ctl("node", "a/1").output == "a/1\n")
  }

  @Worker @Test func waitsWhileAnotherProgramHoldsTheLock() throws {
    let store = try TestStore()
    let application = try Connection(path: store.path, access: .readWrite)
    application.setBusyTimeout(milliseconds: 10_000)
    try application.begin()
    try store.enqueue("one.json", #"{"changes": [{"put": ["a", "1"]}]}"#)
    try store.waitUntil("it says that it waits", limit: .seconds(20)) {
      try store.ctl("--json", "status").json["stores"]?.array?.first?["state"] == "degraded"
    }
    #expect(try store.count(in: "new") == 1)
    try application.commit()
    try store.waitUntilIdle()
    #expect(try store.ctl("node", "a/1").output == "a/1\n")
    #expect(try store.ctl("--json", "status").json["stores"]?.array?.first?["state"] == "ok")
  }

  @Worker @Test func showsNoControlCharactersOfNames() throws {
    let store = try TestStore()
    try store.enqueue("a\nb\u{1b}[2J.json", "no")
    try store.waitUntilIdle()
    #expect(try store.ctl("spool").output.hasPrefix("rejected  \"a\\nb\\u001b[2J.json\"\n"))
    try store.waitUntil("the rejection is told") {
      store.log.contains("rejected \"a\\nb\\u001b[2J.json\":1:1")
    }
    #expect(try store.ctl("--json", "spool").json["file"] == "a\nb\u{1b}[2J.json")
    #expect(try store.ctl("spool", "drop", "a\nb\u{1b}[2J.json").status == 0)
  }

  // MARK: - Sweeps

  @Worker @Test(arguments: [[], ["cascade"], ["refcount"], ["dangling", "trash"], ["all"]])
  func sweepsNothingFromACleanStore(kinds: [String]) throws {
    let store = try TestStore()
    let command = [Programs.cascadectl, "--store", store.path, "--json", "sweep"] + kinds
    let sweep = try run(command)
    #expect(sweep.status == 0)
    let named = kinds.isEmpty ? ["all"] : kinds
    #expect(try sweep.json["kinds"] == .array(named.map(JSON.string)))
    #expect(try sweep.json["outcome"] == "nothing" && sweep.json["deletedCount"] == 0)
    #expect(try run(command + ["--dry-run"]).json["outcome"] == "nothing")
    let status = try store.ctl("--json", "status").json["stores"]?.array?.first
    #expect(status?["lastSweep"]?["outcome"] == "nothing")
  }

  @Worker @Test func sweepsWhatSomebodyLeftDangling() throws {
    let store = try TestStore()
    try store.apply(
      #"""
      {"changes": [{"put": ["a", "1"]}, {"put": ["b", "1"], "edges": [{"name": "e",
      "to": ["a", "1"], "rules": ["deleteSourceIfDestinationDeleted"]}]}]}
      """#)
    do {
      let vandal = try Connection(path: store.path, access: .readWrite)
      try vandal.execute("DELETE FROM cascade_node WHERE key = '1' AND collection = 1")
    }
    #expect(try store.ctl("sweep", "--dry-run").output == "done: 1 node would be deleted\n")
    #expect(
      try store.ctl("sweep", "--dry-run", "--no-wait").output == "done: 1 node would be deleted\n")
    #expect(try store.ctl("nodes", "b").output == "b/1\n")
    let sweep = try store.ctl("--json", "sweep", "dangling").json
    #expect(sweep["outcome"] == "done" && sweep["deletedCount"] == 1)
    #expect(try store.ctl("nodes", "b").output == "")
    #expect(try store.ctl("sweep").output == "nothing: 0 nodes deleted\n")
  }

  @Worker @Test func holdsASweepUntilItIsApproved() throws {
    let store = try TestStore(model: "{ limits: { hold: { deletes: 0, share: 0 } } }")
    try store.apply(
      #"""
      {"changes": [{"put": ["a", "1"]}, {"put": ["b", "1"], "edges": [{"name": "e",
      "to": ["a", "1"], "rules": ["deleteSourceIfDestinationDeleted"]}]}]}
      """#)
    do {
      let vandal = try Connection(path: store.path, access: .readWrite)
      try vandal.execute("DELETE FROM cascade_node WHERE key = '1' AND collection = 1")
    }
    #expect(try store.ctl("sweep", "--dry-run").status == 3)
    let held = try store.ctl("--json", "sweep")
    #expect(held.status == 3)
    #expect(try held.json["outcome"] == "held")
    let plan = try #require(try held.json["plan"]?.integer)
    #expect(try store.ctl("nodes", "b").output == "b/1\n")
    #expect(try store.ctl("--json", "sweep").json["plan"] == .integer(plan))
    let approved = try store.ctl("--json", "approve", String(plan))
    #expect(approved.status == 0)
    #expect(try approved.json["outcome"] == "applied" && approved.json["deletedCount"] == 1)
    #expect(try store.ctl("nodes", "b").output == "")
    #expect(try store.ctl("approve", String(plan)).status == 65)
  }

  @Worker @Test func namesTheNearestKindOfSweep() throws {
    let store = try TestStore()
    let outcome = try store.ctl("sweep", "dangeling")
    #expect(outcome.status == 64)
    let complaint = "\"dangeling\" is not a kind of sweep, did you mean dangling?"
    #expect(outcome.error.contains(complaint))
  }
}
