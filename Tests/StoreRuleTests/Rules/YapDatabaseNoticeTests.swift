import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing

/// What survivors are told, and what may not go.
@Suite("YapDatabase's behaviour: notices, and denials")
struct YapDatabaseNoticeTests {
  let store: TestStore

  init() throws { store = try TestStore() }

  // MARK: - Notices

  @Test("The destination is told of its source, the source of its destination")
  func bothDirections() throws {
    try store.run("A B C A-3>B B-3>C")
    #expect(try store.run("!B").notices == 2)
    #expect(try store.told() == ["A: A-3>B", "C: B-3>C"])
  }

  @Test("Nobody is told without the rule for that end", arguments: ["2 !A", "1 !B", "0 !A"])
  func withoutRule(test: String) throws {
    try store.run("A B A-\(test.prefix(1))>B")
    #expect(try store.run(String(test.dropFirst(2))).notices == 0)
  }

  @Test("Nobody is told when both ends go", arguments: ["!A !B", "!A", "!B"])
  func bothEnds(script: String) throws {
    try store.run("A B A-3>B A-8x>B A-4x>B A-12y>B")
    #expect(try store.gone(script) == "A B")
    #expect(try store.told() == [])
  }

  @Test(
    "The removal of an edge tells the end that stays",
    arguments: [("", ["B: A-3>B"]), (":d", ["A: A-3>B"]), (":e", [])])
  func removedEdge(kind: String, told: [String]) throws {
    try store.run("A B A-3>B")
    #expect(try store.run("~A->B\(kind)").notices == told.count)
    #expect(try store.told() == told)
  }

  @Test("A dropped declared edge tells its destination")
  func droppedEdge() throws {
    try store.run("A{1>B} B")
    try store.run("A{}")
    #expect(try store.told() == ["B: A=1>B"])
  }

  @Test("Twins are two edges, and tell twice")
  func twins() throws {
    try store.run("A{1>B} B A-1>B")
    #expect(try store.run("!A").notices == 2)
  }

  @Test("An edge to what was never put tells its source at once")
  func neverPut() throws {
    #expect(try store.run("A A-2>B").notices == 1)
    #expect(try store.told() == ["A: A-2>B"])
  }

  @Test("A notice says if its receiver goes at a later flush, or in a later transaction")
  func receiverGoes() throws {
    try store.run("A B A-1>B C D C-1>D")
    try store.run("!A | !B !C")
    #expect(try store.told() == ["B: A-1>B †", "D: C-1>D"])
    try store.run("!D")
    #expect(try store.told() == ["B: A-1>B †", "D: C-1>D †"])
  }

  @Test("Who is put again under the same key is somebody else")
  func receiverPutAgain() throws {
    try store.run("A B A-1>B")
    try store.run("!A")
    try store.run("!B")
    try store.run("B")
    #expect(try store.told() == ["B: A-1>B †"])
  }

  @Test("A refused transaction tells nobody")
  func refused() throws {
    try store.run("A B A-1>B C D C-128>D")
    _ = try store.refusals("!A | !D")
    #expect(try store.told() == [])
  }

  @Test("A notice knows its reason and its batch, and is forgotten when it is acknowledged")
  func acknowledged() throws {
    try store.run("A B C A-3>B B-3>C")
    let receipt = try store.run("!B")
    let notices = try store.reader.notices(after: 0)
    #expect(notices.map(\.reason) == ["destinationDeleted", "sourceDeleted"])
    #expect(notices.allSatisfy { $0.batch == receipt.batch })
    #expect(try store.reader.notices(after: notices[0].id).map(\.id) == [notices[1].id])
    #expect(try store.reader.notices(after: 0, limit: 1).map(\.id) == [notices[0].id])
    #expect(try store.writer.acknowledge(upTo: notices[0].id) == 1)
    #expect(try store.reader.notices(after: 0).map(\.id) == [notices[1].id])
  }

  @Test("A number that was acknowledged is never given again")
  func numbersGrow() throws {
    try store.run("A B A-1>B C D C-1>D")
    try store.run("!A")
    let first = try store.reader.notices(after: 0)[0].id
    _ = try store.writer.acknowledge(upTo: first)
    try store.run("!C")
    #expect(try store.reader.notices(after: first).count == 1)
  }

  // MARK: - Denials

  @Test("A destination may not go while its source lives, nor a source while its destination does")
  func denied() throws {
    try store.run("A B A-128>B C D C-256>D")
    #expect(try store.refusals("!B") == ["denied B"])
    #expect(try store.refusals("!C") == ["denied C"])
    #expect(try store.gone("!A !D") == "A D")
    #expect(try store.gone("!B !C") == "B C")
  }

  @Test("What goes itself cannot deny")
  func whatGoesCannotDeny() throws {
    try store.run("A B A-128>B C D C-256>D R R-8>C R-8x>D")
    #expect(try store.gone("!A !B") == "A B")
    #expect(try store.gone("!R") == "C D R")
  }

  @Test("An edge that was removed denies nothing", arguments: ["~A->B !B", "!B ~A->B:e"])
  func removedEdgeCannotDeny(script: String) throws {
    try store.run("A B A-128>B")
    #expect(try store.gone(script) == "B")
  }

  @Test("A denial far down the cascade refuses the transaction whole")
  func deepDenial() throws {
    try store.run("A B C A-8>B B-8>C H H-128>C X")
    #expect(try store.refusals("!A !X Y") == ["denied C"])
    #expect(try store.alive() == "A B C H X")
    #expect(try store.graph() == "A-8>B B-8>C H-128>C")
  }

  @Test("Every denial is listed, with the edge")
  func allListed() throws {
    try store.run("A B C A-128>B C-128>B D E D-256>E")
    let reasons = try store.reasons(changes("!B !D"))
    #expect(reasons.compactMap(\.edge).map(\.letters) == ["A-128>B", "C-128>B", "D-256>E"])
    #expect(reasons.compactMap(\.node).map(\.letters) == ["B", "B", "D"])
    #expect(reasons[0].message == "n/B must stay: n/A holds it by \"e\" (denyDestinationDeletion)")
    #expect(reasons[2].message == "n/D must stay: n/E holds it by \"e\" (denySourceDeletion)")
  }

  @Test("What never was there cannot be denied")
  func neverThere() throws {
    #expect(try store.gone("A A-128>B") == "")
    #expect(try store.gone("C D C-256>D !C") == "")
    #expect(try store.alive() == "A D")
  }

  @Test("What was put, flushed and deleted was there")
  func flushedIsThere() throws {
    #expect(try store.refusals("A B A-128>B | !B") == ["denied B"])
    #expect(try store.alive() == "")
  }

  @Test("What is put in the same transaction can be denied to a rule")
  func newAndExisting() throws {
    try store.run("A")
    #expect(try store.refusals("B A-8>B C C-128>B !A") == ["denied B"])
  }

  @Test("Deleted and put again, a denied node is not gone")
  func deniedAndPutAgain() throws {
    try store.run("A B A-128>B")
    #expect(try store.gone("!B B") == "")
  }
}
