import CascadeModel
import Spool
import CascadeStore
import CascadeSystem
import Testing

/// What a commit judged stays judged, though its files did not leave the queue behind it.
@Suite("Verdicts")
struct VerdictTests {
  private let patch = #"{"patch":["n","A"],"set":{"x":1}}"#

  @Test("A file that was refused is not judged again behind those that came after it")
  func refused() throws {
    let spool = try TestSpool()
    try spool.put("1.json", changes: patch)
    try spool.put("2.json", changes: put("A", "{}"))
    // Nothing can be moved there: it stays in the queue, as where the daemon is killed.
    _ = try Directory.open("\(spool.path)/spool").removeDirectory("rejected")
    #expect(try spool.settle() == ["1.json rejected", "2.json applied"])
    #expect(try spool.names("new") == ["1.json"])
    try spool.restart()
    #expect(try spool.settle() == [])
    #expect(try spool.names("rejected") == ["1.json", "1.json.reason.json"])
    #expect(try spool.spool.retry("1.json") == false)
    #expect(try TestSpool.directory(spool.path).retry("1.json"))
    #expect(try spool.settle() == ["1.json applied"])
  }

  @Test("Another file of its name is")
  func another() throws {
    let spool = try TestSpool()
    try spool.put("1.json", changes: patch)
    try spool.put("2.json", changes: put("A"))
    _ = try Directory.open("\(spool.path)/spool").removeDirectory("rejected")
    try spool.drain()
    try spool.new.remove("1.json")
    try spool.put("1.json", changes: put("B"))
    try spool.restart()
    #expect(try spool.settle() == ["1.json applied"])
  }

  @Test("A file that waits for approval is not let through by those that came after it")
  func held() throws {
    let spool = try TestSpool(model: HeldFileTests.model)
    try spool.put("0.json", changes: put("A"), put("B"), put("C"))
    try spool.drain()
    try spool.put("1.json", changes: delete("A"), delete("B"))
    let many = (1...40).map { put("D\($0)") }
    try spool.put("2.json", "{\"changes\":[\(many.joined(separator: ","))]}")
    _ = try Directory.open("\(spool.path)/spool").removeDirectory("held")
    #expect(try spool.settle() == ["1.json held", "2.json applied"])
    try spool.restart(model: HeldFileTests.model)
    #expect(try spool.settle() == [])
    #expect(try spool.names("held") == ["1.json"])
  }

  @Test("Who is rejected twice comes back under the name that is its id")
  func retried() throws {
    let spool = try TestSpool()
    for _ in 1...2 {
      try spool.put("1.json", changes: patch)
      #expect(try spool.settle() == ["1.json rejected"])
    }
    #expect(try spool.spool.rejectedNames() == ["1.1.json", "1.json"])
    try spool.put("0.json", changes: put("A", "{}"))
    try spool.drain()
    #expect(try spool.spool.retry("1.1.json") && spool.settle() == ["1.json applied"])
    #expect(try spool.spool.retry("1.json") && spool.settle() == ["1.json duplicate"])
  }

  @Test("Of two files with one id, one waits for approval")
  func sameId() throws {
    let spool = try TestSpool(model: HeldFileTests.model)
    try spool.put("0.json", changes: put("A"), put("B"), put("C"), put("D"))
    try spool.drain()
    try spool.put("1.json", id: "x", changes: delete("A"), delete("B"))
    try spool.put("2.json", id: "x", changes: delete("C"), delete("D"))
    let outcomes = try spool.drain()
    #expect(outcomes.map(\.receipt.outcome) == [.held, .rejected])
    #expect(
      outcomes[1].receipt.reasons.last?.message.contains("1.json, which has the same id") == true)
  }
}
