import Glibc
import CascadeModel
import CascadeSystem
import Testing

/// Killed at any instant, the daemon goes on where it stopped, and applies each change once.
///
/// Every file puts a node that points at the one before it, and deletes that one: a notice for each
/// file, in order, says that it took effect; a second time would leave a second notice.
@Suite struct KillTests {
  private static let isLong = Process.environment("CASCADE_LONG") != nil
  private static let files = isLong ? 10_000 : 2_000
  private static let kills = isLong ? 20 : 5

  private static func change(_ number: Int) -> [String] {
    let put = #"{"put": ["item", "\#(number)"], "value": {"seq": \#(number)}, "edges": "#
    let kept = #"{"put": ["log", "\#(name(number))"]}"#
    let link =
      #"{"link": {"name": "of", "from": ["log", "\#(name(number))"], "to": ["all", 0], "#
      + #""rules": []}}"#
    if number == 1 { return [#"{"put": ["all", 0]}"#, put + "[]}", kept, link] }
    let edge =
      #"[{"name": "after", "to": ["item", "\#(number - 1)"], "#
      + #""rules": ["notifyIfDestinationDeleted"]}]}"#
    let patch = #"{"patch": ["all", 0], "set": {"last": \#(number)}}"#
    return [put + edge, kept, link, patch, #"{"delete": ["item", "\#(number - 1)"]}"#]
  }

  private static func name(_ number: Int) -> String { String(100_000 + number) }

  @Worker @Test func appliesEachFileOnceAndInOrder() throws {
    var random = Seeded()
    print("kill -9 among files: seed \(random.seed)")
    let store = try TestStore(starts: false)
    try store.start()
    try store.end()
    for number in 1...KillTests.files {
      let changes = KillTests.change(number).joined(separator: ", ")
      try store.enqueue(
        FileName("\(KillTests.name(number)).json"), #"{"changes": [\#(changes)]}"#)
    }
    try KillTests.killAgainAndAgain(store, &random) { try store.count(in: "new") }
    let names = (1...KillTests.files).map { "\(KillTests.name($0)).json" }
    #expect(try store.texts("SELECT id FROM cascade_ledger ORDER BY seq") == names)
    try KillTests.expectAllApplied(store, seed: random.seed)
  }

  @Worker @Test func appliesEachBatchOfALargeFileOnceAndInOrder() throws {
    var random = Seeded()
    print("kill -9 among batches: seed \(random.seed)")
    let store = try TestStore(starts: false)
    try store.start()
    try store.end()
    // A batch ends within the changes of a number, each time elsewhere, and deletes one at most:
    // an edge that loses both ends gives no notice.
    let lines = (1...KillTests.files).flatMap(KillTests.change)
    let text = #"{"id": "big", "batch": 4}"# + "\n" + lines.joined(separator: "\n")
    try store.enqueue("big.ndjson", text)
    let batches = Int64((lines.count + 3) / 4)
    try KillTests.killAgainAndAgain(store, &random) {
      if try store.count(in: "new") == 0 { return 0 }
      return Int(batches - (try store.integers("SELECT count(*) FROM cascade_ledger")[0]))
    }
    #expect(
      try store.integers("SELECT part FROM cascade_ledger ORDER BY seq") == Array(0..<batches))
    #expect(
      try store.texts("SELECT DISTINCT outcome FROM cascade_ledger ORDER BY 1")
        == ["applied", "partial"])
    try KillTests.expectAllApplied(store, seed: random.seed)
  }

  /// Each time after a random share of what was left.
  private static func killAgainAndAgain(
    _ store: TestStore, _ random: inout Seeded, left: () throws -> Int
  ) throws {
    for kill in 0..<kills {
      try store.start()
      let share = Double.random(in: 0...1.5, using: &random) / Double(kills - kill)
      let limit = Int(Double(try left()) * max(0, 1 - share))
      try store.waitUntil("\(limit) are left") { try left() <= limit }
      #expect(try store.end(SIGKILL) == .signal(SIGKILL))
    }
    try store.start()
    try store.waitUntil("all are applied", limit: .seconds(300)) { try left() == 0 }
    #expect(try store.end() == .exit(0))
  }

  private static func expectAllApplied(_ store: TestStore, seed: UInt64) throws {
    let all = Array(Int64(1)...Int64(files))
    #expect(
      try store.integers("SELECT CAST(source_key AS INTEGER) FROM cascade_notice ORDER BY id")
        == Array(all.dropFirst()), "seed \(seed)")
    #expect(
      try store.integers(
        """
        SELECT CAST(s.key AS INTEGER) - 100000 FROM cascade_edge AS e
        JOIN cascade_name AS n ON n.id = e.name AND n.name = 'of'
        JOIN cascade_node AS s ON s.id = e.source ORDER BY s.id
        """) == all, "seed \(seed)")
    #expect(
      try store.texts("SELECT value FROM cascade_node WHERE value LIKE '%seq%'")
        == [#"{"seq": \#(files)}"#], "seed \(seed)")
    #expect(
      try store.texts("SELECT value FROM cascade_node WHERE value LIKE '%last%'")
        == [#"{"last":\#(files)}"#], "seed \(seed)")
    #expect(try store.texts("PRAGMA integrity_check") == ["ok"], "seed \(seed)")
    for directory in ["new", "tmp", "held", "rejected"] {
      #expect(try store.count(in: directory) == 0, "\(directory), seed \(seed)")
    }
  }
}
