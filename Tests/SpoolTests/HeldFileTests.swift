import CascadeModel
import Spool
import CascadeStore
import CascadeSystem
import Testing

/// Files over the hold limit wait for approval.
@Suite("Held files")
struct HeldFileTests {
  static var model: StoreModel {
    get throws {
      try StoreModel(json5: Array("{ limits: { hold: { deletes: 1, share: 0.1 } } }".utf8))
    }
  }

  let spool: TestSpool

  init() throws {
    spool = try TestSpool(model: HeldFileTests.model)
    try spool.put("0.json", changes: put("A"), put("B"), put("C"), put("D"))
    try spool.drain()
  }

  private func approve(_ receipt: Receipt?) throws {
    let plan = try #require(receipt?.plan)
    guard case .file(let name) = try spool.inbox?.writer.approve(plan: plan) else {
      Issue.record("nobody waits for plan \(plan)")
      return
    }
    #expect(try spool.spool.release(FileName(name)))
  }

  @Test("A file over the limit is held, and those behind it go on")
  func held() throws {
    try spool.put("1.json", changes: delete("A"), delete("B"))
    try spool.put("2.json", changes: put("E"))
    let outcomes = try spool.drain()
    #expect(outcomes.map(\.receipt.outcome) == [.held, .applied])
    #expect(outcomes[0].receipt.deletedCount == 2)
    #expect(outcomes[0].receipt.reasons.map(\.code) == [.overLimit])
    #expect(try spool.names("held") == ["1.json"])
    #expect(try spool.spool.heldNames() == ["1.json"])
    #expect(try spool.keys() == "A B C D E")
  }

  @Test("Approved and released, it is applied, also after a restart", arguments: [false, true])
  func approved(restart: Bool) throws {
    try spool.put("1.json", changes: delete("A"), delete("B"))
    let held = try #require(try spool.drain().first).receipt
    if restart { try spool.restart(model: HeldFileTests.model) }
    try approve(held)
    #expect(try spool.settle() == ["1.json applied"])
    #expect(try spool.keys() == "C D")
    #expect(try spool.names("held") == [])
  }

  @Test("Released without approval, it is held again, under the same plan")
  func released() throws {
    try spool.put("1.json", changes: delete("A"), delete("B"))
    let first = try #require(try spool.drain().first).receipt
    #expect(try spool.spool.release("1.json"))
    #expect(try !spool.spool.release("1.json"))
    let second = try #require(try spool.drain().first).receipt
    #expect((second.outcome, second.plan) == (.held, first.plan))
  }

  @Test("What would go has changed: the approval does not cover it")
  func changedPlan() throws {
    try spool.put("1.json", changes: #"{"deleteAll":"n"}"#)
    let held = try #require(try spool.drain().first).receipt
    try spool.put("2.json", changes: put("E"))
    try spool.drain()
    try approve(held)
    #expect(try spool.settle() == ["1.json held"])
    #expect(try spool.keys() == "A B C D E")
  }

  @Test("A part of a batch is held, and the file goes on from there")
  func heldPart() throws {
    let changes = [put("E"), delete("E"), delete("A"), delete("B"), put("F"), put("G")]
    try spool.put("1.ndjson", "{\"batch\":2}\n" + changes.joined(separator: "\n"))
    let held = try #require(try spool.drain().last).receipt
    #expect(held.outcome == .held)
    #expect(try spool.keys() == "A B C D")
    try approve(held)
    #expect(try spool.settle() == ["1.ndjson applied"])
    #expect(try spool.keys() == "C D F G")
  }

  @Test("A second file of the name of a held one takes nobody's place")
  func sameName() throws {
    try spool.put("1.json", id: "x", changes: delete("A"), delete("B"))
    try spool.drain()
    try spool.put("1.json", id: "y", changes: delete("C"), delete("D"))
    let second = try #require(try spool.drain().first).receipt
    #expect(second.outcome == .rejected)
    #expect(second.plan == nil)
    #expect(try spool.names("rejected") == ["1.json", "1.json.reason.json"])
    #expect(try spool.text("held", "1.json")?.contains("\"x\"") == true)
  }

  @Test("The file of a held one, sent again, waits as that one", arguments: ["json", "ndjson"])
  func again(form: String) throws {
    let lines = [delete("A"), delete("B")]
    for _ in 1...2 {
      if form == "json" {
        try spool.put("1.json", changes: lines[0], lines[1])
      } else {
        try spool.put("1.ndjson", lines.joined(separator: "\n"))
      }
      let held = try #require(try spool.drain().first).receipt
      #expect((held.outcome, held.plan) == (.held, 1))
    }
    #expect(try spool.names("held") == ["1.\(form)"])
    #expect(try spool.names("new") == [])
  }

  @Test("A release writes over nothing in the queue")
  func releaseOverQueued() throws {
    try spool.put("1.json", changes: delete("A"), delete("B"))
    try spool.drain()
    try spool.put("1.json", changes: put("E"))
    #expect(throws: SpoolError.self) { try spool.spool.release("1.json") }
    #expect(try spool.names("held") == ["1.json"])
    #expect(try spool.settle() == ["1.json applied"])
  }

  @Test("A held file can be dropped")
  func dropped() throws {
    try spool.put("1.json", changes: delete("A"), delete("B"))
    try spool.drain()
    #expect(try spool.spool.dropHeld("1.json"))
    #expect(try !spool.spool.dropHeld("1.json"))
    #expect(try spool.names("held") == [])
  }
}
