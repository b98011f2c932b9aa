import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteBinding
import SQLiteTables
import Testing
import SQLiteJournal

/// What YapDatabase's relationships do, and we keep: which nodes go.
@Suite("YapDatabase's behaviour: deletions")
struct YapDatabaseDeletionTests {
  let store: TestStore

  init() throws { store = try TestStore() }

  // MARK: - One edge

  @Test("A destination goes with its source, in either direction of the edge")
  func oneToOne() throws {
    try store.run("P Q A-8>P B-8>Q A B")
    #expect(try store.gone("!A") == "A P")
    try store.run("X Y X-4>Y")
    #expect(try store.gone("!Y") == "X Y")
    #expect(try store.alive() == "B Q")
  }

  @Test("All children go with their parent")
  func oneToMany() throws {
    try store.run("C N1 N2 N3 C-8>N1 C-8>N2 C-8>N3")
    #expect(try store.gone("!C") == "C N1 N2 N3")
    #expect(try store.graph() == "")
  }

  @Test(
    "An edge without rules goes with either end, and takes nothing along", arguments: ["A", "B"])
  func noRules(end: String) throws {
    try store.run("A B A-0>B")
    #expect(try store.gone("!\(end)") == end)
    #expect(try store.graph() == "")
  }

  @Test("A chain goes to its end, a cycle once round", arguments: ["A", "B", "C"])
  func cycle(first: String) throws {
    try store.run("A B C A-8>B B-8>C C-8>A")
    #expect(try store.gone("!\(first)") == "A B C")
  }

  @Test("A chain of ten thousand goes whole")
  func longChain() throws {
    let length = 10_000
    try store.apply((0..<length).map { .put(node("\($0)"), type: nil, value: nil, edges: nil) })
    try store.apply(
      (0..<length - 1).map {
        .link(name: "e", from: node("\($0)"), to: .node(node("\($0 + 1)")), rules: 8)
      })
    #expect(try store.run("!0").deletedCount == length)
  }

  // MARK: - Before the flush

  @Test("Children may be put before their parents")
  func childrenFirst() throws {
    try store.run("C{4>P}")
    #expect(try store.alive() == "")
    try store.run("C{4>P} P")
    #expect(try store.alive() == "C P")
    #expect(try store.graph() == "C=4>P")
  }

  @Test("An edge may name a node that the same transaction puts later")
  func edgeToLaterNode() throws {
    #expect(try store.gone("A{8>B} C-4>A C B") == "")
    #expect(try store.graph() == "A=8>B C-4>A")
  }

  @Test("A node that an edge names and nobody puts counts as gone")
  func neverPut() throws {
    #expect(try store.gone("A A-4>B") == "A")
    #expect(try store.gone("C C-0>D") == "")
    #expect(try store.gone("F X-8>F F") == "F")
    #expect(try store.alive() == "C")
    #expect(try store.graph() == "")
  }

  @Test("An edge between two nodes that were never put runs nothing")
  func bothMissing() throws {
    let receipt = try store.run("A-15>B")
    #expect(receipt.deletedCount == 0)
    #expect(receipt.notices == 0)
    #expect(try store.graph() == "")
  }

  @Test("Rules run at the end of the transaction, not before")
  func rulesRunAtTheEnd() throws {
    try store.run("A B A-8>B")
    #expect(try store.gone("!A A") == "")
    #expect(try store.graph() == "A-8>B")
  }

  @Test("A flush runs them within the transaction")
  func flushWithin() throws {
    try store.run("A B A-8>B")
    #expect(try store.gone("!A | A") == "A B")
    #expect(try store.alive() == "A")
    #expect(try store.graph() == "")
  }

  @Test("What a flush deleted may be put again, as a new node")
  func putAfterFlush() throws {
    try store.run("A B A-8>B")
    #expect(try store.gone("!A | B B-8>A A") == "A B")
    #expect(try store.graph() == "B-8>A")
  }

  @Test("A flush of what is refused later is undone with the rest")
  func flushThenRefusal() throws {
    try store.run("A B A-8>B C D C-128>D")
    #expect(try store.refusals("!A | !D") == ["denied D"])
    #expect(try store.alive() == "A B C D")
    #expect(try store.graph() == "A-8>B C-128>D")
  }

  @Test("Put and deleted in one transaction, a node never was", arguments: ["", "| "])
  func putAndDeleted(flush: String) throws {
    #expect(try store.gone("A \(flush)!A") == (flush.isEmpty ? "" : "A"))
    #expect(try store.alive() == "")
  }

  // MARK: - Other ways to go

  @Test("Deleting a collection deletes each of its nodes, and what follows from it")
  func deleteAll() throws {
    try store.run("A B x/C x/D A-8>x/C x/D-32>B")
    #expect(try store.gone("!*") == "A B x/C")
    #expect(try store.alive(in: "x") == "x/D")
  }

  @Test("A deleted collection may be put again in the same transaction")
  func deleteAllAndPut() throws {
    try store.run("A B x/C A-8>x/C")
    #expect(try store.gone("!* A") == "B")
    #expect(try store.graph() == "A-8>x/C")
  }

  @Test("Deleting or unlinking what is not there is counted and passed over")
  func passedOver() throws {
    try store.run("A B A-8>B B{8>A}")
    let receipt = try store.run("!X ~A-y>B ~A->X ~B->A !A !A")
    #expect(receipt.skippedChanges == 5)
    #expect(receipt.deleted.letters == "A B")
  }

  @Test("Of a self-edge nothing follows", arguments: [0, 4, 8, 16, 32, 64, 128, 256, 3])
  func selfEdge(rules: Int) throws {
    try store.run("A A-\(rules)>A")
    #expect(try store.alive() == "A")
    let receipt = try store.run("!A")
    #expect(receipt.deleted.letters == "A")
    #expect(receipt.notices == 0)
    #expect(try store.graph() == "")
  }

  @Test("A self-edge is a holder as long as its node is there")
  func selfEdgeHolds() throws {
    try store.run("A B A-32>A B-32>A")
    #expect(try store.gone("!B") == "B")
    #expect(try store.gone("~A->A") == "A")
  }

  @Test("An integer key stands for its digits")
  func integerKey() throws {
    try store.apply([
      .put(Node("n", .integer(7)), type: nil, value: nil, edges: nil),
      .link(name: "e", from: Node("n", .text("7")), to: .node(Node("n", .integer(-8))), rules: 8),
      .put(Node("n", .text("-8")), type: nil, value: nil, edges: nil),
    ])
    #expect(try store.gone("!7") == "-8 7")
  }

  @Test("A composite key is refused in a managed collection")
  func compositeKey() throws {
    let node = Node("n", .composite([.text("a"), .integer(1)]))
    #expect(try store.reasons([.delete(node)]).map(\.code) == [.invalid])
  }

  @Test("Rules outlive a restart")
  func restart() throws {
    try store.run("A B A-32>B C D C-128>D E F F-1>E")
    let again = try Writer(path: store.path, model: .lenient)
    var rest = changes("!A !F")[...]
    let submission = Submission(id: "again", author: nil, fingerprint: 1, at: 1)
    let receipt = try again.group { try again.apply(submission) { rest.popFirst() } }
    #expect(receipt.deleted.letters == "A B F")
    #expect(receipt.notices == 1)
  }
}
