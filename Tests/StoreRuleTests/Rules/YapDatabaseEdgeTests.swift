import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing

/// How edges come, change and go: manual and declared ones.
@Suite("YapDatabase's behaviour: edges")
struct YapDatabaseEdgeTests {
  let store: TestStore

  init() throws { store = try TestStore() }

  // MARK: - Declared

  @Test("A declared edge that is dropped counts as losing its source")
  func dropped() throws {
    try store.run("S{32>A} A B")
    #expect(try store.gone("S{32>B}") == "A")
    #expect(try store.graph() == "S=32>B")
    #expect(try store.gone("S{}") == "B")
  }

  @Test("It is judged by the rules that are stored")
  func droppedWithStoredRules() throws {
    try store.run("S{8>A} A B")
    try store.run("S{0>A}")
    #expect(try store.gone("S{}") == "")
    try store.run("S{0>A}")
    try store.run("S{8>A}")
    #expect(try store.gone("S{8>B}") == "A")
  }

  @Test("A dropped edge with a rule for its destination's end runs none")
  func droppedIsNoLostDestination() throws {
    try store.run("S{20>A} A")
    #expect(try store.gone("S{}") == "")
  }

  @Test("A put without a list keeps the list there was")
  func putWithoutEdges() throws {
    try store.run("S{8>A} A")
    #expect(try store.gone("S") == "")
    #expect(try store.graph() == "S=8>A")
    #expect(try store.gone("!S S") == "")
    #expect(try store.graph() == "S=8>A")
  }

  @Test("A list says nothing about manual edges")
  func listAndManual() throws {
    try store.run("S A S-8>A")
    #expect(try store.gone("S{}") == "")
    #expect(try store.graph() == "S-8>A")
  }

  @Test(
    "Within one list a repeated edge is one edge, with the rules of the last", arguments: [0, 32])
  func repeated(stored: Int) throws {
    try store.run("S{\(stored)>A} A")
    try store.run("S{0>A,8>A,32>A}")
    #expect(try store.graph() == "S=32>A")
  }

  @Test("Dropped and declared again in one transaction, an edge was never away")
  func droppedAndBack() throws {
    try store.run("S{8>A} A")
    let receipt = try store.run("S{} S{32>A}")
    #expect(receipt.deletedCount == 0)
    #expect(receipt.edgesRemoved == 0)
    #expect(try store.graph() == "S=32>A")
    #expect(try store.gone("S{8>A} | S{} | S{8>A} A") == "A")
  }

  // MARK: - Manual

  @Test("Adding a manual edge again replaces its rules and runs none")
  func addedAgain() throws {
    try store.run("A B A-8>B")
    let receipt = try store.run("A-4>B")
    #expect(receipt.edgesAdded == 0)
    #expect(receipt.deletedCount == 0)
    #expect(try store.graph() == "A-4>B")
    #expect(try store.gone("!A") == "A")
  }

  @Test("Two names are two edges")
  func names() throws {
    try store.run("A B A-8>B A-0x>B")
    #expect(try store.graph() == "A-0x>B A-8>B")
  }

  @Test("A manual edge and a declared one alike are two edges")
  func twins() throws {
    try store.run("A{0>B} B A-8>B")
    #expect(try store.graph() == "A-8>B A=0>B")
    #expect(try store.gone("A{}") == "")
    #expect(try store.gone("~A->B") == "B")
  }

  @Test("Unlinking finds the manual edge only")
  func unlinkDeclared() throws {
    try store.run("A{8>B} B")
    #expect(try store.run("~A->B").skippedChanges == 1)
    #expect(try store.graph() == "A=8>B")
  }

  @Test(
    "A removal counts as the loss of the source, of the destination, or of neither",
    arguments: [
      ("8", "", "B"), ("8", ":d", ""), ("8", ":e", ""), ("32", "", "B"), ("32", ":d", ""),
      ("32", ":e", ""), ("4", "", ""), ("4", ":d", "A"), ("4", ":e", ""), ("16", "", ""),
      ("16", ":d", "A"), ("16", ":e", ""), ("36", "", "B"), ("36", ":d", "A"), ("24", "", "B"),
      ("64", ":d", ""), ("128", ":d", ""), ("256", "", ""),
    ])
  func removal(rules: String, as kind: String, gone: String) throws {
    try store.run("A B A-\(rules)>B")
    #expect(try store.gone("~A->B\(kind)") == gone)
    #expect(try store.graph() == "")
  }

  @Test("The removed edge of one whose end goes too has lost both, or one twice")
  func removalAndDeletion() throws {
    try store.run("A B A-8>B C D C-8>D E F E-4>F")
    #expect(try store.gone("~A->B !A") == "A B")
    #expect(try store.gone("~C->D:e !C") == "C")
    #expect(try store.gone("~E->F !F") == "F")
  }

  @Test("Added and removed with no flush between, an edge never was", arguments: ["", "| "])
  func neverWas(flush: String) throws {
    try store.run("A B")
    let receipt = try store.run("A-9>B \(flush)~A->B")
    #expect(receipt.deleted.letters == (flush.isEmpty ? "" : "B"))
    #expect(receipt.edgesAdded == receipt.edgesRemoved)
  }

  @Test("Declared and dropped with no flush between, an edge never was", arguments: ["", "| "])
  func neverDeclared(flush: String) throws {
    try store.run("A B")
    #expect(try store.gone("A{8>B} \(flush)A{}") == (flush.isEmpty ? "" : "B"))
  }

  @Test("Removed and added again, an edge was never away, and has its new rules")
  func removedAndAdded() throws {
    try store.run("A B A-9>B")
    let receipt = try store.run("~A->B A-4>B")
    #expect((receipt.deletedCount, receipt.notices) == (0, 0))
    #expect((receipt.edgesAdded, receipt.edgesRemoved) == (0, 0))
    #expect(try store.graph() == "A-4>B")
    #expect(try store.gone("~A->B A-8>B ~A->B") == "B")
  }

  @Test("Changing an edge's rules runs none, not even where they would have deleted")
  func changedRules() throws {
    try store.run("A B A-0>B C{0>D} D")
    #expect(try store.gone("A-32>B C{32>D}") == "")
    #expect(try store.gone("~A->B C{}") == "B D")
  }

  @Test("An edge of a deleted node does not come back with the node")
  func edgesOfDeleted() throws {
    try store.run("A{0>B} B A-0x>B")
    try store.run("!A")
    try store.run("A")
    #expect(try store.graph() == "")
  }

  @Test("The receipt counts what came and went")
  func counts() throws {
    let receipt = try store.run("A{0>B} B A-0x>B A-0y>B")
    #expect((receipt.edgesAdded, receipt.edgesRemoved) == (3, 0))
    let second = try store.run("~A-x>B !B")
    #expect((second.edgesAdded, second.edgesRemoved) == (0, 3))
    #expect(second.deletedCount == 1)
  }
}
