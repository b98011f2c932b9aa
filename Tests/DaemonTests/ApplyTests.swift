import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// `cascadectl apply` and `approve`.
@Suite struct ApplyTests {
  private static let put = #"{"changes": [{"put": ["a", "1"], "value": {"n": 1}}]}"#

  private static func receipt(_ id: JSON, _ outcome: JSON, batch: JSON) -> JSON {
    [
      "id": id, "outcome": outcome, "batch": batch, "deleted": [], "deletedCount": 0,
      "deletedOwn": [],
      "edgesAdded": 0, "edgesRemoved": 0, "notices": 0, "passedOver": 0, "reasons": [],
    ]
  }

  @Worker @Test func appliesAFileOnce() throws {
    let store = try TestStore()
    try store.scratch.write("one.json", ApplyTests.put)
    let file = store.scratch.path("one.json")
    let first = try store.ctl("apply", file)
    #expect(first.status == 0)
    #expect(first.output == "\(file): applied\n")
    let second = try store.ctl("apply", file)
    #expect(second.status == 0)
    #expect(second.output.hasPrefix("\(file): duplicate: it was applied before, as batch"))
    #expect(try store.integers("SELECT count(*) FROM cascade_ledger") == [1])
  }

  @Worker @Test func appliesOnceWhatSomebodyPutIntoTheQueueBefore() throws {
    let store = try TestStore()
    let application = try Connection(path: store.path, access: .readWrite)
    application.setBusyTimeout(milliseconds: 10_000)
    try application.begin()
    try store.enqueue("one.json", ApplyTests.put)
    try store.scratch.write("one.json", ApplyTests.put)
    let again = try Running(
      [Programs.cascadectl, "--store", store.path, "apply", store.scratch.path("one.json")],
      input: try FileDescriptor.open("/dev/null"))
    try store.waitUntil("it is sent") { try store.connections() > 0 }
    SystemClock.sleep(for: .milliseconds(300))
    try application.commit()
    #expect(try again.finish().status == 0)
    #expect(try store.texts("SELECT id FROM cascade_ledger") == ["one.json"])
  }

  @Worker @Test func givesAReceiptAsJSON() throws {
    let store = try TestStore()
    try store.scratch.write("one.json", ApplyTests.put)
    let file = store.scratch.path("one.json")
    let first = try store.ctl("apply", "--json", file).json
    let batch = try #require(first["batch"]?.integer)
    #expect(first == ApplyTests.receipt("one.json", "applied", batch: .integer(batch)))
    let second = try store.ctl("--json", "apply", file).json
    #expect(second == ApplyTests.receipt("one.json", "duplicate", batch: .integer(batch)))
  }

  @Worker @Test func tellsInSentencesWhatAChangeDid() throws {
    let store = try TestStore()
    try store.apply(
      #"""
      {"changes": [{"put": ["a", "1"]}, {"put": ["b", "1"]}, {"put": ["c", "1"]},
      {"link": {"name": "n", "from": ["b", "1"], "to": ["a", "1"],
      "rules": ["deleteSourceIfDestinationDeleted"]}}, {"link": {"name": "n", "from": ["c", "1"],
      "to": ["a", "1"], "rules": ["notifyIfDestinationDeleted"]}}]}
      """#)
    let outcome = try store.ctl(
      "apply", "-",
      input: #"{"changes": [{"delete": ["a", "1"]}, {"delete": ["a", "2"]}]}"#)
    #expect(
      outcome.output == """
        standard input: applied: 2 edges removed, 2 nodes deleted, 1 notice, \
        1 delete or unlink found nothing
          - a/1
          - b/1

        """)
  }

  @Worker @Test func tellsWhatDeletedItself() throws {
    let store = try TestStore()
    let outcome = try store.ctl(
      "apply", "-",
      input: #"""
        {"changes": [{"put": ["b", "1"], "edges": [{"name": "n", "to": ["a", "1"],
        "rules": ["deleteSourceIfDestinationDeleted"]}]}]}
        """#)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("  ! written and deleted at once"), "\(outcome.output)")
    #expect(outcome.output.contains("leads nowhere: b/1\n"), "\(outcome.output)")
    let refused = try store.ctl(
      "--json", "apply", "-",
      input: #"""
        {"mayDeleteItself": false, "changes": [{"put": ["b", "1"], "edges": [{"name": "n",
        "to": ["a", "1"], "rules": ["deleteSourceIfDestinationDeleted"]}]}]}
        """#)
    #expect(refused.status == 65)
    #expect(try refused.json["reasons"]?.array?.first?["code"] == "deletesItself")
  }

  @Worker @Test func appliesSeveralFilesInTheirOrder() throws {
    let store = try TestStore()
    try store.scratch.write("b.json", #"{"changes": [{"put": ["a", "1"], "value": {}}]}"#)
    try store.scratch.write("a.json", #"{"changes": [{"patch": ["a", "1"], "set": {"n": 2}}]}"#)
    try store.scratch.write("c.json", #"{"changes": [{"patch": ["a", "9"], "set": {"n": 2}}]}"#)
    let files = ["b.json", "a.json", "c.json", "b.json"].map(store.scratch.path)
    let outcome = try store.ctl("--json", "apply", files[0], files[1], files[2], files[3])
    #expect(outcome.status == 65)
    #expect(
      try outcome.lines.map { $0["outcome"] } == ["applied", "applied", "rejected", "duplicate"])
    #expect(try store.ctl("node", "a/1").output == "a/1  {\"n\":2}\n")
  }

  @Worker @Test func readsStandardInputAnewEachTime() throws {
    let store = try TestStore()
    for _ in 1...2 {
      let outcome = try store.ctl("--json", "apply", "-", input: ApplyTests.put)
      #expect(try outcome.json["outcome"] == "applied")
      #expect(try outcome.json["id"]?.string?.hasPrefix("stdin-") == true)
    }
  }

  @Worker @Test func takesLinesByTheSuffix() throws {
    let store = try TestStore()
    try store.scratch.write("many.ndjson", "{\"put\": [\"a\", \"1\"]}\n\n{\"put\": [\"a\", \"2\"]}")
    #expect(try store.ctl("apply", store.scratch.path("many.ndjson")).status == 0)
    #expect(try store.ctl("nodes", "a").output == "a/1\na/2\n")
  }

  @Worker
  @Test(arguments: [
    "{\"put\": [\"a\", \"1\"]}\n{\"put\": [\"a\", \"2\"]}\n",
    "{\"author\": \"me\", \"batch\": 1}\n{\"put\": [\"a\", \"1\"]}\n{\"put\": [\"a\", \"2\"]}\n",
    "{\"put\": [\"a\", \"1\"]}\r\n{\"put\": [\"a\", \"2\"]}",
    "{\"changes\": [\n{\"put\": [\"a\", \"1\"]},\n{\"put\": [\"a\", \"2\"]}\n]}\n",
    "{\n\"changes\": [{\"put\": [\"a\", \"1\"]}, {\"put\": [\"a\", \"2\"]}]}",
  ])
  func tellsLinesFromADocument(text: String) throws {
    let store = try TestStore()
    #expect(try store.ctl("apply", "-", input: text).status == 0)
    #expect(try store.ctl("nodes", "a").output == "a/1\na/2\n")
    try store.scratch.write("changes.txt", text)
    #expect(try store.ctl("apply", store.scratch.path("changes.txt")).status == 0)
  }

  @Worker @Test func appliesOtherContentUnderAnotherName() throws {
    let store = try TestStore()
    for (directory, key) in [("x", "1"), ("y", "2"), ("z", "2")] {
      let directory = try Directory.openOrMake(store.scratch.path(directory))
      let text = #"{"changes": [{"put": ["a", "\#(key)"]}]}"#
      try directory.file("same.json", .createNew).writeAll(Array(text.utf8))
    }
    let receipts = try store.ctl(
      "--json", "apply", store.scratch.path("x/same.json"), store.scratch.path("y/same.json"),
      store.scratch.path("z/same.json")
    ).lines
    #expect(receipts.map { $0["outcome"] } == ["applied", "applied", "duplicate"])
    #expect(receipts[0]["id"] == "same.json")
    let other = try #require(receipts[1]["id"]?.string)
    #expect(other.hasPrefix("same-") && other.hasSuffix(".json"))
    #expect(receipts[2]["id"] == .string(other))
  }

  @Worker @Test func rejectsAnIdThatWasUsedForOtherContent() throws {
    let store = try TestStore()
    try store.apply(#"{"id": "x", "changes": [{"put": ["a", "1"]}]}"#)
    let outcome = try store.ctl(
      "--json", "apply", "-", input: #"{"id": "x", "changes": [{"put": ["a", "2"]}]}"#)
    #expect(outcome.status == 65)
    #expect(try outcome.json["reasons"]?.array?.first?["code"] == "idReused")
  }

  @Worker @Test func saysWhereARejectedFileIsWrong() throws {
    let store = try TestStore()
    try store.scratch.write("bad.json", "{\"changes\": [\n  {\"putt\": [\"a\", \"1\"]}\n]}")
    let file = store.scratch.path("bad.json")
    let outcome = try store.ctl("apply", file)
    #expect(outcome.status == 65)
    #expect(
      outcome.output == """
        \(file): rejected
          ! line 2, column 4, changes[0].putt: unknown key "putt", did you mean "put"?

        """)
    let receipt = try store.ctl("--json", "apply", file).json
    #expect(receipt["outcome"] == "rejected")
    #expect(receipt["reasons"]?.array?.count == 1)
    #expect(receipt["reasons"]?.array?.first?["code"] == "malformed")
    #expect(receipt["reasons"]?.array?.first?["line"] == 2)
  }

  @Worker @Test func saysWhatDeniesADeletion() throws {
    let store = try TestStore()
    try store.apply(
      #"""
      {"changes": [{"put": ["a", "1"]}, {"put": ["b", "1"]}, {"link": {"name": "n",
      "from": ["b", "1"], "to": ["a", "1"], "rules": ["denyDestinationDeletion"]}}]}
      """#)
    let delete = #"{"changes": [{"delete": ["a", "1"]}]}"#
    let outcome = try store.ctl("apply", "-", input: delete)
    #expect(outcome.status == 4)
    #expect(outcome.output.contains("a/1 must stay: b/1 holds it by \"n\""))
    let reason = try store.ctl("--json", "apply", "-", input: delete).json["reasons"]?.array?.first
    #expect(reason?["code"] == "denied")
    #expect(reason?["node"] == ["a", "1"])
    #expect(reason?["edge"]?["from"] == ["b", "1"])
  }

  @Worker @Test func holdsWhatIsOverTheLimitUntilItIsApproved() throws {
    let store = try TestStore(model: "{ limits: { hold: { deletes: 1, share: 0.5 } } }")
    try store.apply(
      #"{"changes": [{"put": ["a", "1"]}, {"put": ["a", "2"]}, {"put": ["a", "3"]}]}"#)
    let clear = #"{"changes": [{"deleteAll": "a"}]}"#
    let held = try store.ctl("--json", "apply", "-", input: clear)
    #expect(held.status == 3)
    #expect(try held.json["outcome"] == "held")
    #expect(try held.json["deletedCount"] == 3)
    #expect(try held.json["reasons"]?.array?.first?["code"] == "overLimit")
    #expect(try store.ctl("status").output.contains("held"))
    let plan = try #require(try held.json["plan"]?.integer)
    let approved = try store.ctl("--json", "approve", String(plan))
    #expect(approved.status == 0)
    #expect(try approved.json["outcome"] == "applied")
    #expect(try approved.json["deleted"] == [["a", "1"], ["a", "2"], ["a", "3"]])
    let again = try store.ctl("approve", String(plan))
    #expect(again.status == 65)
    #expect(again.error.contains("there is no plan \(plan) that waits for approval"))
  }

  /// As often as one comes before the other is done.
  @Worker @Test func letsPassWhatIsApprovedTwice() throws {
    let store = try TestStore(model: "{ limits: { hold: { deletes: 5, share: 0.1 } } }")
    let input = try FileDescriptor.open("/dev/null")
    for collection in ["a", "b", "c", "d"] {
      let puts = (1...500).map { #"{"put": ["\#(collection)", "\#($0)"]}"# }
      try store.apply(#"{"changes": [\#(puts.joined(separator: ","))]}"#)
      let clear = #"{"changes": [{"deleteAll": "\#(collection)"}]}"#
      let plan = try #require(
        try store.ctl("--json", "apply", "-", input: clear).json["plan"]?.integer)
      let approval = [Programs.cascadectl, "--store", store.path, "approve", String(plan)]
      let approvals = try (1...2).map { _ in try Running(approval, input: input) }
      let states = try approvals.map { try $0.finish().status }
      #expect(states.contains(0) && states.allSatisfy { [0, 65].contains($0) })
      #expect(try store.ctl("--json", "nodes", collection).output.isEmpty)
    }
  }

  @Worker @Test func asksForOneApprovalOfWhatIsSentTwice() throws {
    let store = try TestStore(model: "{ limits: { hold: { deletes: 0, share: 0 } } }")
    try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#)
    try store.scratch.write("one.json", #"{"changes": [{"delete": ["a", "1"]}]}"#)
    for _ in 1...2 {
      let held = try store.ctl("--json", "apply", store.scratch.path("one.json")).json
      #expect(held["outcome"] == "held")
      #expect(held["id"] == "one.json")
      #expect(held["plan"] == 1)
    }
    #expect(try store.count(in: "held") == 1)
  }

  @Worker @Test func approvesNothingThatIsNotThere() throws {
    let store = try TestStore(model: "{ limits: { hold: { deletes: 0, share: 0 } } }")
    try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#)
    try store.scratch.write("one.json", #"{"changes": [{"delete": ["a", "1"]}]}"#)
    func send() throws -> JSON {
      try store.ctl("--json", "apply", store.scratch.path("one.json")).json
    }
    #expect(try send()["outcome"] == "held")
    try Directory.open("\(store.spool)/held").removeContents()
    let approved = try store.ctl("approve", "1")
    #expect(approved.status == 65)
    #expect(approved.error.contains("there is no file one.json among the held ones"))
    #expect(try send()["outcome"] == "held")
  }

  @Worker @Test func waitsForNoTableThatIsMissing() throws {
    let store = try TestStore(model: "{ collections: { songs: { table: 'song', key: 'id' } } }")
    try store.apply(#"{"put": ["a", "1"]}"#)
    let waits = try store.ctl("apply", "-", input: #"{"delete": ["a", "1"]}"#)
    #expect(waits.status == 75)
    #expect(waits.error.contains("there is no table \"song\" in the store"))
    #expect(waits.error.contains("submitted files stay in the spool"))
    try store.sql("CREATE TABLE song(id INTEGER PRIMARY KEY)")
    try store.waitUntil("it is applied") { try store.ctl("nodes", "a").output == "" }
  }

  @Worker @Test func approvesInSentences() throws {
    let store = try TestStore(model: "{ limits: { hold: { deletes: 0, share: 0 } } }")
    try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#)
    let held = try store.ctl("apply", "-", input: #"{"changes": [{"delete": ["a", "1"]}]}"#)
    #expect(held.output.contains("standard input: held as plan 1\n"))
    #expect(held.output.contains("cascadectl approve 1 allows it"))
    #expect(
      try store.ctl("approve", "1").output == "plan 1: applied: 1 node deleted\n  - a/1\n")
  }

  @Worker @Test func saysNothingWhenQuiet() throws {
    let store = try TestStore()
    let good = try store.ctl("--quiet", "apply", "-", input: ApplyTests.put)
    #expect(good.status == 0 && good.output == "" && good.error == "")
    let bad = try store.ctl("apply", "-q", "/no/such.json")
    #expect(bad.status == 66 && bad.output == "")
    #expect(bad.error.contains("/no/such.json"))
  }

  @Worker @Test func submitsAFileOfManyParts() throws {
    let store = try TestStore()
    let text = String(repeating: "x", count: 3_000_000)
    try store.scratch.write("big.json", #"{"changes": [{"put": ["a", "1"], "value": "\#(text)"}]}"#)
    #expect(try store.ctl("apply", store.scratch.path("big.json")).status == 0)
    #expect(try store.ctl("--json", "node", "a/1").json["value"] == .string(text))
    #expect(try store.count(in: "tmp") == 0)
  }

  @Worker @Test func rejectsAnEmptyFile() throws {
    let store = try TestStore()
    let outcome = try store.ctl("apply", "-")
    #expect(outcome.status == 65)
    #expect(outcome.output.contains("rejected"))
  }

  @Worker @Test func waitsWithWhatWasSentBefore() throws {
    let store = try TestStore()
    try store.scratch.write("one.json", ApplyTests.put)
    let application = try Connection(path: store.path, access: .readWrite)
    application.setBusyTimeout(milliseconds: 10_000)
    try application.begin()
    let input = try FileDescriptor.open("/dev/null")
    let command = [
      Programs.cascadectl, "--store", store.path, "--json", "apply", store.scratch.path("one.json"),
    ]
    let interrupted = try Running(command, input: input)
    try store.waitUntil("it waits") { try store.count(in: "new") == 1 }
    interrupted.process.send(9)
    let again = try (1...3).map { _ in try Running(command, input: input) }
    try store.waitUntil("they wait") {
      try store.connections() == again.count && store.count(in: "tmp") == 0
    }
    try application.commit()
    let receipts = try again.map { try $0.finish().json }
    #expect(receipts.allSatisfy { $0["id"] == "one.json" })
    #expect(try store.integers("SELECT count(*) FROM cascade_ledger") == [1])
  }

  @Worker @Test func forgetsAnUploadWhoseSenderIsGone() throws {
    let store = try TestStore()
    let pipe = try Pipe()
    let sender = try Running(
      [Programs.cascadectl, "--store", store.path, "apply", "-"], input: pipe.reading)
    try pipe.writing.writeAll(Array("{\"changes\": [".utf8))
    try store.waitUntil("a part is there") { try store.count(in: "tmp") == 1 }
    sender.process.send(9)
    #expect(try sender.finish().ending == .signal(9))
    try store.waitUntil("it is forgotten") {
      try store.apply(ApplyTests.put)
      return try store.count(in: "tmp") == 0
    }
  }
}
