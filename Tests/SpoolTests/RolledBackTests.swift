import CascadeModel
import CascadeSQLite
import Spool
import CascadeStore
import CascadeSystem
import Testing

/// A trigger of the application that rolls back takes back more than the file that it refuses.
@Suite("Files that are rolled back")
struct RolledBackTests {
  let spool: TestSpool

  init() throws {
    let model = """
      { collections: { n: { table: "n", key: "id" }, m: { table: "m", key: "id" } },
        relationships: [ { name: "n", from: "m", to: "n", column: "n",
          rules: ["nullifySourceIfDestinationDeleted"] } ] }
      """
    spool = try TestSpool(model: StoreModel(json5: Array(model.utf8)))
    try bySQL(
      """
      CREATE TABLE n(id TEXT PRIMARY KEY); CREATE TABLE m(id TEXT PRIMARY KEY, n TEXT);
      INSERT INTO n VALUES('y'), ('z'); INSERT INTO m VALUES('m', 'z');
      """)
  }

  private func bySQL(_ sql: String) throws {
    try Connection(path: "\(spool.path)/store.db", access: .readWrite).execute(sql)
  }

  private func refuse(_ when: String) throws {
    try bySQL("CREATE TRIGGER no BEFORE \(when) BEGIN SELECT RAISE(ROLLBACK, 'not this'); END")
  }

  private func row(_ key: String) -> String { #"{"put":["n","\#(key)"]}"# }

  private func applied() throws -> Int64? {
    try Connection(path: "\(spool.path)/store.db", access: .readOnly)
      .integer("SELECT count(*) FROM cascade_ledger")
  }

  @Test(
    "It is rejected alone, and the others are applied once",
    arguments: [
      ("INSERT ON n WHEN new.id = 'bad'", #"{"put":["n","bad"]}"#),
      ("DELETE ON n WHEN old.id = 'z'", delete("z")), ("UPDATE ON m", delete("z")),
    ])
  func alone(trigger: String, change: String) throws {
    try refuse(trigger)
    let files = [row("a"), row("b"), change, row("c"), delete("y")]
    for (number, change) in files.enumerated() { try spool.put("\(number).json", changes: change) }
    #expect(
      try spool.settle() == [
        "0.json applied", "1.json applied", "2.json rejected", "3.json applied", "4.json applied",
      ])
    let reason = try #require(try spool.reasonFile("2.json")["reasons"]?.array?.first)
    #expect(reason["message"]?.string?.contains("not this") == true)
    #expect(try spool.keys() == "a b c z")
    #expect(try applied() == 4)
  }

  @Test("Many of them, also in front and at the end")
  func many() throws {
    try refuse("INSERT ON n WHEN new.id LIKE 'bad%'")
    for (number, key) in ["bad1", "bad2", "a", "bad3", "b", "bad4"].enumerated() {
      try spool.put("\(number).json", changes: row("\(key)\(number)"))
    }
    #expect(
      try spool.settle().map { $0.split(separator: " ")[1] } == [
        "rejected", "rejected", "applied", "rejected", "applied", "rejected",
      ])
    #expect(try spool.keys() == "a2 b4 y z")
  }

  @Test("Of a file in many commits, what was committed before stays")
  func batch() throws {
    try refuse("INSERT ON n WHEN new.id = 'bad'")
    let lines = ["a", "b", "bad", "c"].map(row).joined(separator: "\n")
    try spool.put("a.ndjson", "{\"batch\":1}\n\(lines)")
    try spool.put("b.json", changes: row("d"))
    #expect(try spool.settle() == ["a.ndjson rejected", "b.json applied"])
    let reason = try #require(try spool.reasonFile("a.ndjson")["reasons"]?.array?.first)
    #expect((reason["message"], reason["line"]) == ("n/bad: not this", 4))
    #expect(try spool.keys() == "a b d y z")
  }
}
