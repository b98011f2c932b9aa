import CascadeModel
import CascadeSQLite
import CascadeStore
import CascadeSystem
import Spool
import Testing

/// Files at which the store fails again and again, and not because of what they say.
@Suite("Files that are set aside")
struct SetAsideTests {
  let spool: TestSpool

  init() throws {
    let model = #"{ collections: { n: { table: "n", key: "id" } } }"#
    spool = try TestSpool(model: StoreModel(json5: Array(model.utf8)))
    try bySQL(
      """
      CREATE TABLE n(id TEXT PRIMARY KEY); INSERT INTO n VALUES('x'), ('y');
      CREATE TRIGGER broken BEFORE INSERT ON cascade_trash BEGIN SELECT missing(new.batch); END
      """)
  }

  private func bySQL(_ sql: String) throws {
    try Connection(path: "\(spool.path)/store.db", access: .readWrite).execute(sql)
  }

  private func row(_ key: String) -> String { #"{"put":["n","\#(key)"]}"# }

  /// Works until the queue is idle. Returns what became of each file.
  private func work() throws -> [String] {
    var all: [String] = []
    for _ in 0..<100 {
      do {
        switch try spool.inbox!.step(budget: .seconds(60)) {
        case .idle: return all
        case .worked(let outcomes): all += outcomes.map { "\($0.name) \($0.receipt.outcome)" }
        case .setAside(let name, let reason):
          all.append("\(name) set aside")
          #expect(reason.contains("no such function: missing"))
        }
      } catch let error as SQLiteError {
        all.append("failed: \(error.message)")
      }
    }
    return all + ["without an end"]
  }

  private let failure = "failed: no such function: missing"

  @Test("After three failures with the same error the file is set aside, and those behind it go on")
  func setAside() throws {
    let changes = [row("a"), row("b"), delete("x"), row("c"), row("d")]
    for (number, change) in changes.enumerated() {
      try spool.put("\(number).json", changes: change)
    }
    #expect(
      try work() == [
        "0.json applied", "1.json applied", failure, failure, "2.json set aside", "3.json applied",
        "4.json applied",
      ])
    #expect(try spool.keys() == "a b c d x y")
    #expect(spool.inbox?.spool.setAside().map { "\($0.name)" } == ["2.json"])
    let counts = try #require(try spool.inbox?.spool.counts())
    #expect((counts.waiting, counts.stuck, counts.rejected) == (0, 1, 0))
    #expect(try work() == [])
  }

  @Test("It is tried again after a minute, and when an operator says so, until it can be applied")
  func retried() throws {
    try spool.put("0.json", changes: delete("x"))
    let first = [failure, failure, "0.json set aside"]
    #expect(try work() == first)
    spool.clock.pass(59_000)
    #expect(try work() == [])
    spool.clock.pass(2_000)
    // It is told only once.
    #expect(try work() == [])
    spool.clock.pass(61_000)
    #expect(try work() == [])
    let directory = try #require(spool.inbox?.spool)
    #expect(directory.retrySetAside("0.json"))
    #expect(try work() == [])
    try bySQL("DROP TRIGGER broken")
    #expect(directory.retrySetAside())
    #expect(try work() == ["0.json applied"])
    #expect(directory.setAside().isEmpty)
    #expect(!directory.retrySetAside("0.json"))
  }

  @Test("It can be dropped, and another file of its name is tried anew")
  func dropped() throws {
    try spool.put("0.json", changes: delete("x"))
    _ = try work()
    let directory = try #require(spool.inbox?.spool)
    #expect(try directory.dropSetAside("0.json"))
    #expect(try !directory.dropSetAside("0.json"))
    #expect(try spool.names("new") == [])
    try spool.put("0.json", changes: delete("y"))
    #expect(try work() == [failure, failure, "0.json set aside"])
    try spool.new.remove("0.json")
    try spool.put("0.json", changes: row("z"))
    #expect(try work() == ["0.json applied"])
  }

  @Test("A file in many commits is set aside, too, and goes on where it was")
  func batch() throws {
    let lines = [row("a"), row("b"), delete("x"), row("c")].joined(separator: "\n")
    try spool.put("a.ndjson", "{\"batch\":1}\n\(lines)")
    try spool.put("b.json", changes: row("d"))
    #expect(try work() == [failure, failure, "a.ndjson set aside", "b.json applied"])
    #expect(try spool.keys() == "a b d x y")
    try bySQL("DROP TRIGGER broken")
    #expect(spool.inbox?.spool.retrySetAside() == true)
    #expect(try work() == ["a.ndjson applied"])
    #expect(try spool.keys() == "a b c d y")
  }

  @Test("A database that is locked sets no file aside, however long")
  func locked() throws {
    try spool.put("0.json", changes: row("a"))
    try spool.put("1.json", changes: row("b"))
    let other = try Connection(path: "\(spool.path)/store.db", access: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    for _ in 0..<5 { #expect(throws: SQLiteError.self) { try spool.step() } }
    #expect(spool.inbox?.spool.setAside().isEmpty == true)
    try other.execute("ROLLBACK")
    #expect(try work() == ["0.json applied", "1.json applied"])
  }
}
