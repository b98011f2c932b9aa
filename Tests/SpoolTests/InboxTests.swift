import CascadeModel
import Spool
import CascadeStore
import CascadeSystem
import Testing

/// Change files on their way through the spool.
@Suite("The inbox")
struct InboxTests {
  let spool: TestSpool

  init() throws { spool = try TestSpool() }

  // MARK: - Order

  @Test("Files are taken in the byte order of their names")
  func order() throws {
    let names = ["b.json", "é.json", "a.json", "B.json", "a.ndjson", "10.json", "9.json"]
    for name in names {
      let change = put("last", "\"\(name)\"")
      if name.hasSuffix(".json") {
        try spool.put(FileName(name), changes: change)
      } else {
        try spool.put(FileName(name), change)
      }
    }
    let taken = try spool.drain().map { "\($0.name)" }
    #expect(taken == names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
    #expect(try spool.value("last") == "\"é.json\"")
    #expect(try spool.names("new") == [])
  }

  @Test("An empty queue is idle")
  func idle() throws {
    #expect(try spool.step() == nil)
    try spool.put("a.json", changes: put("A"))
    #expect(try spool.step()?.count == 1)
    #expect(try spool.step() == nil)
  }

  @Test("Many files share a commit")
  func sharedCommit() throws {
    for number in 0..<200 { try spool.put("\(number).json", changes: put("\(number)")) }
    #expect(try spool.step()?.count == 200)
    #expect(try spool.keys().split(separator: " ").count == 200)
  }

  @Test("Not more than 256 of them, and not more than 4 MiB")
  func groupLimits() throws {
    for number in 0..<300 { try spool.put("\(1000 + number).json", changes: put("A")) }
    #expect(try spool.step()?.count == 256)
    #expect(try spool.step()?.count == 44)
    let large = put("A", "\"\(String(repeating: "x", count: 1 << 20))\"")
    for number in 0..<6 { try spool.put("\(number).json", changes: large) }
    #expect(try spool.step()?.count == 4)
    #expect(try spool.step()?.count == 2)
  }

  @Test("A group stops when its time is over, after one file at least")
  func timeBudget() throws {
    for number in 0..<5 { try spool.put("\(number).json", changes: put("\(number)")) }
    for number in 0..<5 {
      #expect(try spool.step(budget: .zero)?.map(\.name) == ["\(number).json"])
    }
    #expect(try spool.step(budget: .zero) == nil)
    #expect(try spool.keys() == "0 1 2 3 4")
  }

  @Test("What comes while a group waits for its turn is taken in its order")
  func lateFile() throws {
    try spool.put("b.json", changes: put("A", "1"))
    try spool.put("c.json", changes: put("A", "2"))
    #expect(try spool.step(budget: .zero)?.map(\.name) == ["b.json"])
    try spool.put("a.json", changes: put("A", "3"))
    try spool.drain()
    #expect(try spool.value("A") == "3")
  }

  @Test("What cannot be moved stays, and those behind it go on")
  func stuck() throws {
    try Directory.open("\(spool.path)/spool").removeDirectory("rejected")
    try spool.put("a.json", "nonsense")
    try spool.put("b.json", changes: put("B"))
    let outcomes = try spool.drain().sorted { $0.name < $1.name }
    #expect(outcomes.map(\.receipt.outcome) == [.rejected, .applied])
    #expect(outcomes[0].trouble?.contains("rejected") == true && outcomes[1].trouble == nil)
    #expect(try spool.names("new") == ["a.json"] && spool.keys() == "B")
    try spool.new.remove("a.json")
    try spool.put("a.json", changes: put("A"))
    #expect(try spool.settle() == ["a.json applied"])
  }

  @Test("A file that cannot be held is not asked about again and again")
  func stuckHeld() throws {
    var model = StoreModel.empty
    (model.limits.hold.deletes, model.limits.hold.share) = (0, 0)
    try spool.restart(model: model)
    try spool.put("1.json", changes: put("A"))
    try spool.drain()
    try Directory.open("\(spool.path)/spool").removeDirectory("held")
    try spool.put("2.json", changes: delete("A"))
    try spool.put("3.json", changes: put("B"))
    #expect(try spool.settle().sorted() == ["2.json held", "3.json applied"])
    #expect(try spool.names("new") == ["2.json"])
  }

  @Test("What was stuck leaves when it can")
  func unstuck() throws {
    try spool.put("a.json", "nonsense")
    try spool.directory("tmp").makeDirectory(".reasons")
    #expect(try spool.drain().first?.trouble != nil)
    try spool.directory("tmp").removeDirectory(".reasons")
    #expect(try spool.drain().isEmpty)
    #expect(try spool.names("new") == ["a.json"])
    spool.clock.pass(60_000)
    #expect(try spool.drain().isEmpty)
    #expect(try spool.names("new") == [])
    #expect(try spool.names("rejected") == ["a.json", "a.json.reason.json"])
  }

  @Test("What is stuck keeps its verdict, also over a restart, and keeps nobody from starting")
  func stuckOverRestart() throws {
    try spool.put("a.json", #"{"changes":[{"patch":["n","A"],"set":{"x":1}}]}"#)
    try spool.directory("tmp").makeDirectory(".reasons")
    #expect(try spool.drain().first?.receipt.outcome == .rejected)
    try spool.put("b.json", #"{"changes":[{"put":["n","A"]}]}"#)
    #expect(try spool.settle() == ["b.json applied"])
    for _ in 1...2 {
      try spool.restart(model: .empty)
      #expect(try spool.drain().isEmpty)
      #expect(try spool.names("new") == ["a.json"])
    }
    try spool.directory("tmp").removeDirectory(".reasons")
    try spool.restart(model: .empty)
    #expect(try spool.names("rejected") == ["a.json", "a.json.reason.json"])
    try spool.put("a.json", #"{"id":"new","changes":[{"patch":["n","A"],"set":{"x":1}}]}"#)
    #expect(try spool.settle() == ["a.json applied"])
  }

  // MARK: - The ledger

  @Test("An applied file is in the ledger, with its author and its time")
  func ledger() throws {
    try spool.put("a.json", id: "x", changes: put("A"))
    let receipt = try #require(try spool.drain().first).receipt
    #expect((receipt.id, receipt.author) == ("x", "tester"))
    let entry = try #require(try spool.inbox?.writer.ledgerEntry("x"))
    #expect(entry.isComplete)
    #expect(entry.batch == receipt.batch)
    try spool.put("b.json", changes: put("B"))
    #expect(try spool.drain().map(\.receipt.id) == ["b.json"])
  }

  @Test("A file that comes again is dropped, and changes nothing")
  func duplicate() throws {
    try spool.put("a.json", id: "x", changes: put("A"))
    try spool.put("b.json", changes: delete("A"))
    try spool.put("c.json", id: "x", changes: put("A"))
    #expect(
      try spool.settle() == ["a.json applied", "b.json applied", "c.json duplicate"])
    try spool.put("d.json", id: "x", changes: put("A"))
    let again = try #require(try spool.drain().first).receipt
    #expect(again.outcome == .duplicate)
    #expect(again.batch == (try spool.inbox?.writer.ledgerEntry("x"))?.batch)
    #expect(try spool.keys() == "")
    #expect(try spool.names("new") + spool.names("rejected") == [])
  }

  @Test("The name stands for an id that is not given")
  func nameAsId() throws {
    try spool.put("a.json", changes: put("A"))
    try spool.drain()
    try spool.put("a.json", changes: put("A"))
    #expect(try spool.settle() == ["a.json duplicate"])
    try spool.put("a.json", changes: put("B"))
    #expect(try spool.settle() == ["a.json rejected"])
  }

  @Test("An id that was used for another content is rejected")
  func idReused() throws {
    try spool.put("a.json", id: "x", changes: put("A"))
    try spool.put("b.json", id: "x", changes: put("B"))
    try spool.put("c.ndjson", "{\"id\":\"x\",\"batch\":1}\n" + put("C"))
    #expect(try spool.settle() == ["a.json applied", "b.json rejected", "c.ndjson rejected"])
    #expect(try spool.reasonFile("b.json")["reasons"]?.array?[0]["code"] == "idReused")
    #expect(try spool.keys() == "A")
  }

  // MARK: - Bad files

  /// Each with the code of its reason.
  static let bad: [(text: String, code: String)] = [
    ("", "malformed"), ("{\"changes\":[", "malformed"), ("{\"changes\":[{}]}", "malformed"),
    ("{\"changes\":[\(put("A")),{\"put\":[\"cascade_x\",1]}]}", "malformed"),
    ("{\"changes\":[\(put("A")),{\"patch\":[\"n\",\"none\"],\"set\":{}}]}", "invalid"),
    ("{\"changes\":[\(put("A")),{\"delete\":[\"n\",\"held\"]}]}", "denied"),
    (
      "{\"changes\":[\(put("A")),{\"link\":{\"name\":\"e\",\"from\":[\"n\",1],\"to\":[\"n\",2]}}]}",
      "invalid"
    ),
  ]

  @Test("A bad file between good ones costs only itself", arguments: bad)
  func badFile(text: String, code: String) throws {
    let rules = #""rules":["denyDestinationDeletion"]"#
    let link = #"{"link":{"name":"e","from":["n","holder"],"to":["n","held"],\#(rules)}}"#
    try spool.put("1.json", changes: put("held"), put("holder"), link)
    try spool.put("2.json", text)
    try spool.put("3.json", changes: put("Z"))
    // What cannot even be read is known before the group begins.
    #expect(try spool.settle().sorted() == ["1.json applied", "2.json rejected", "3.json applied"])
    #expect(try spool.keys() == "Z held holder")
    #expect(try spool.names("rejected") == ["2.json", "2.json.reason.json"])
    #expect(try spool.text("rejected", "2.json") == text)
    #expect(try spool.reasonFile("2.json")["reasons"]?.array?[0]["code"] == .string(code))
  }

  @Test("The reasons beside a rejected file say where in it")
  func reasons() throws {
    let text = """
      {"id": "x", "author": "me", "changes": [
        {"put": ["n", "1"]},
        {"puts": ["n", "1"]}]}
      """
    try spool.put("a.json", text)
    try spool.drain()
    let file = try spool.reasonFile("a.json")
    #expect((file["file"], file["at"]?.integer ?? 0 > 1_000) == ("a.json", true))
    let reason = try #require(file["reasons"]?.array?.first)
    #expect((reason["line"], reason["column"], reason["path"]) == (3, 4, "changes[1].puts"))
    #expect(reason["message"]?.string?.contains("did you mean \"put\"") == true)
  }

  @Test("A change that the store refuses is named by its place")
  func refusedChange() throws {
    let patch = #"{"patch":["n","Z"],"set":{}}"#
    try spool.put("a.json", id: "x", changes: put("A"), put("B"), patch)
    try spool.drain()
    let file = try spool.reasonFile("a.json")
    #expect((file["id"], file["author"]) == ("x", "tester"))
    #expect(file["reasons"]?.array?[0]["path"] == "changes[2]")
    #expect(file["reasons"]?.array?[0]["node"] == ["n", "Z"])
  }

  @Test("A rejected file that was mended is applied on retry")
  func retry() throws {
    try spool.put("a.json", "nonsense")
    try spool.drain()
    let file = try spool.directory("rejected").file("a.json", .append)
    #expect(try spool.spool.rejectedNames() == ["a.json"])
    try file.writeAll(Array(" and more of it".utf8))
    #expect(try spool.spool.retry("a.json"))
    #expect(try spool.names("rejected") == [])
    #expect(try spool.settle() == ["a.json rejected"])
    try spool.directory("rejected").remove("a.json")
    try spool.directory("rejected").file("a.json", .createNew)
      .writeAll(Array("{\"changes\":[\(put("A"))]}".utf8))
    #expect(try spool.spool.retry("a.json"))
    #expect(try spool.settle() == ["a.json applied"])
    #expect(try !spool.spool.retry("a.json"))
  }

  @Test("A retry writes over nothing in the queue")
  func retryOverQueued() throws {
    try spool.put("a.json", "nonsense")
    try spool.drain()
    try spool.put("a.json", changes: put("A"))
    #expect(throws: SpoolError.self) { try spool.spool.retry("a.json") }
    #expect(try spool.settle() == ["a.json applied"])
    #expect(try spool.spool.retry("a.json"))
  }

  @Test("A file that is rejected under the same name keeps the first, and can be retried")
  func rejectedTwice() throws {
    for text in ["first", "second", "third"] {
      try spool.put("a.json", text)
      #expect(try spool.settle() == ["a.json rejected"])
    }
    #expect(try spool.spool.rejectedNames() == ["a.1.json", "a.2.json", "a.json"])
    #expect(try spool.text("rejected", "a.json") == "first")
    #expect(try spool.text("rejected", "a.2.json") == "third")
    #expect(try spool.spool.retry("a.1.json"))
    #expect(try spool.step()?.first?.receipt.reasons.first?.line == 1)
    #expect(try spool.spool.dropRejected("a.1.json"))
    #expect(try spool.spool.rejectedNames() == ["a.2.json", "a.json"])
  }

  @Test("A file that is called like another's reasons is not written over")
  func calledLikeReasons() throws {
    try spool.put("a.json.reason.json", "first")
    #expect(try spool.settle() == ["a.json.reason.json rejected"])
    try spool.put("a.json", "second")
    #expect(try spool.settle() == ["a.json rejected"])
    #expect(try spool.text("rejected", "a.json.reason.json") == "first")
    #expect(try spool.spool.rejectedNames() == ["a.1.json", "a.json.reason.json"])
  }

  @Test("Reasons that a crash left behind are written anew")
  func leftReasons() throws {
    let long = Array(String(repeating: "x", count: 10_000).utf8)
    try spool.directory("tmp").file(".reasons", .createNew).writeAll(long)
    try spool.directory("rejected").file("a.json.reason.json", .createNew).writeAll(long)
    try spool.put("a.json", "nonsense")
    try spool.drain()
    #expect(try spool.names("rejected") == ["a.json", "a.json.reason.json"])
    #expect(try spool.reasonFile("a.json")["id"] == "a.json")
  }
}
