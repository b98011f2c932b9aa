import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteDeletion
import SQLiteSweeps

/// More would go than happens by intention: somebody has to agree.
@Suite("The hold limit")
struct HoldTests {
  let store: TestStore

  /// More than three nodes, and more than half of a collection.
  init() throws {
    let limit = "{ deletes: 3, share: 0.5 }"
    store = try TestStore(
      model: StoreModel("{ limits: { hold: \(limit) }, files: { media: '/srv' } }"))
  }

  private func held(_ changes: [Change], id: String) throws -> HeldPlan? {
    do {
      try store.apply(changes, id: id)
      return nil
    } catch let held as HeldPlan {
      return held
    }
  }

  private func held(_ script: String, id: String = "file") throws -> HeldPlan? {
    try held(changes(script), id: id)
  }

  @Test("Over both limits a transaction is held, and nothing changes")
  func overBoth() throws {
    try store.run("A B C D E F A-8>B A-8>C A-8>D A-1>E")
    let held = try #require(try held("!A Z"))
    #expect(held.deletedCount == 4)
    #expect(held.byCollection == ["n": 4])
    #expect(try store.alive() == "A B C D E F")
    #expect(try store.told() == [])
    #expect(Reason(held).code == .overLimit)
    #expect(Reason(held).message.contains("4 nodes would be deleted"))
  }

  @Test("Over one limit alone, it passes")
  func overOne() throws {
    try store.run("A B C D E F G H")
    #expect(try store.gone("!A !B !C !D") == "A B C D")
    #expect(try store.gone("!E !F !G") == "E F G")
    #expect(try store.gone("!H") == "H")
  }

  @Test("One collection over its share is enough")
  func oneCollection() throws {
    try store.run("A B C D E F x/1 A-8>B A-8>C A-8>x/1")
    #expect(try held("!A")?.byCollection == ["n": 3, "x": 1])
  }

  @Test("All flushes of a transaction count together", arguments: [" ", " | ", " | | ", " | Z | "])
  func flushesTogether(between: String) throws {
    try store.run("A B C D E")
    #expect(try held("!A !B\(between)!C !D")?.deletedCount == 4)
    #expect(try held("!A !B\(between)!C !D |")?.byCollection == ["n": 4])
    #expect(try store.alive() == "A B C D E")
  }

  @Test("What was put in the same transaction does not count when it goes again")
  func neverWas() throws {
    try store.run("A")
    #expect(try held("B C D E F !B !C !D !E !A") == nil)
    #expect(try store.alive() == "F")
  }

  @Test("Files are no nodes, and do not count")
  func files() throws {
    let edges = (1...9).map {
      DeclaredEdge(name: "f", destination: .file(root: "media", path: "\($0)"), rules: 32)
    }
    try store.apply([.put(node("A"), type: nil, value: nil, edges: edges)])
    #expect(try store.reader.plan(deleting: [node("A")]).isOverLimit == false)
    #expect(try store.run("!A").deletedCount == 1)
  }

  @Test("A plan says beforehand whether it would be held")
  func foretold() throws {
    try store.run("A B C D E A-8>B A-8>C A-8>D")
    #expect(try store.reader.plan(deleting: [node("A")]).isOverLimit)
    #expect(try !store.reader.plan(deleting: [node("B")]).isOverLimit)
  }

  // MARK: - Approval

  @Test("A plan that was approved passes, once")
  func approved() throws {
    try store.run("A B C D")
    let plan = try store.writer.persistPlan(#require(try held("!A !B !C !D")), file: "a.json")
    #expect(try held("!A !B !C !D") != nil)
    #expect(try store.writer.approve(plan: plan) == .file("a.json"))
    #expect(try held("!A !B !C !D", id: "another file") != nil)
    #expect(try held("!A !B !C !D") == nil)
    #expect(try store.alive() == "")
    #expect(try store.writer.approve(plan: plan) == nil)
  }

  @Test("A plan that has changed does not pass", arguments: ["E A-8>E", "!D", "!D E A-8>E"])
  func changed(script: String) throws {
    try store.run("A B C D A-8>B A-8>C A-8>D X A-8>X")
    let plan = try store.writer.persistPlan(#require(try held("!A")), file: "a.json")
    _ = try store.writer.approve(plan: plan)
    try store.run(script)
    let again = try store.writer.persistPlan(#require(try held("!A")), file: "a.json")
    #expect(again != plan)
    #expect(try store.writer.approve(plan: again) == .file("a.json"))
    #expect(try held("!A") == nil)
  }

  @Test("The same plan, held again, is the same plan")
  func samePlan() throws {
    try store.run("A B C D")
    let first = try store.writer.persistPlan(#require(try held("!A !B !C !D")), file: "a.json")
    let second = try store.writer.persistPlan(#require(try held("!D !C !B !A")), file: "b.json")
    #expect(first == second)
    #expect(try store.writer.approve(plan: first) == .file("b.json"))
  }

  @Test("An approval covers all flushes of its transaction")
  func approvedFlushes() throws {
    try store.run("A B C D E F G H")
    let script = "!A !B !C !D !E | F !G"
    let plan = try store.writer.persistPlan(#require(try held(script)), file: "a.json")
    _ = try store.writer.approve(plan: plan)
    #expect(try held("!A !B !C !D !H | F !G") != nil)
    #expect(try held(script) == nil)
    #expect(try store.alive() == "F H")
  }

  @Test("An approval is not used up by a transaction that is refused")
  func refusedAfterApproval() throws {
    try store.run("A B C D X H H-128>X")
    let deletions = "!A !B !C !D"
    let plan = try store.writer.persistPlan(#require(try held(deletions)), file: "a.json")
    _ = try store.writer.approve(plan: plan)
    #expect(throws: Rejection.self) { try held("\(deletions) !X") }
    #expect(try held(deletions) == nil)
  }

  @Test("Nobody waits for a plan that never was")
  func unknownPlan() throws {
    #expect(try store.writer.approve(plan: 7) == nil)
  }

  // MARK: - Sweeps

  @Test("A sweep is held and approved like a transaction")
  func sweep() throws {
    try store.run("A B C D E F A-8>B A-8>C A-8>D A-8>E")
    try store.bySQL("DELETE FROM cascade_node WHERE key = 'A'")
    let held = try store.writer.sweep([.dangling], at: 1)
    #expect(held.outcome == .held)
    #expect(held.deletedCount == 4)
    #expect(try store.alive() == "B C D E F")
    #expect(try store.writer.sweep([.all], at: 2).plan == held.plan)
    _ = try store.writer.approve(plan: #require(held.plan))
    let done = try store.writer.sweep([.dangling], at: 3)
    #expect(done.outcome == .done)
    #expect(done.deletedCount == 4)
    #expect(try store.alive() == "F")
  }
}
