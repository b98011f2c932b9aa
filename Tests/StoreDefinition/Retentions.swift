internal import CascadeModel
internal import CascadeStore
import Testing

/// When what Cascade keeps is forgotten.
package struct Retentions {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case forgetsWhole =
      "What is past its time goes in as many steps as it takes, and is not undone then"
    case keepsUnfinishedFile =
      "The ledger keeps how far a file came that is not at its end, and forgets the others"
    case keepsTrashed = "The ledger keeps what is in the trash, also references alone, and notices"
    case forward = "A clock that is set forward forgets nothing before its time has passed"
    case back = "A clock that is set back keeps nothing longer"
    case away = "While the daemon is away, a day passes at most"
    case ahead = "What was recorded while the clock was ahead is as old as the next batch"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .forgetsWhole: try forgetsWhole()
    case .keepsUnfinishedFile: try keepsUnfinishedFile()
    case .keepsTrashed: try keepsTrashed()
    case .forward: try forward()
    case .back: try back()
    case .away: try away()
    case .ahead: try ahead()
    }
  }

  private static let day: Int64 = 86_400_000
  private var day: Int64 { Retentions.day }

  private func store(_ more: String = "") throws -> any StoreUnderTest {
    try engine.makeStore(
      model: StoreModel("{ collections: { n: {}, m: {} } \(more) }"), schema: "")
  }

  /// Batches that are in the trash, at these times.
  @discardableResult
  private func deleteSome(_ store: any StoreUnderTest, at times: [Int64]) throws -> [Int64] {
    try times.map { time in
      try apply(store, [.put(Node("n", .text("A")), type: nil, value: nil, edges: nil)], at: time)
      return try #require(try apply(store, [.delete(Node("n", .text("A")))], at: time).batch)
    }
  }

  @discardableResult
  private func apply(
    _ store: any StoreUnderTest, _ changes: [Change], at time: Int64, id: String? = nil,
    part: Int64 = 0, isLast: Bool = true
  ) throws -> Receipt {
    store.count += 1
    var submission = Submission(
      id: id ?? "test-\(store.count)", author: "test", fingerprint: store.count, at: time)
    (submission.part, submission.isLast) = (part, isLast)
    var rest = changes[...]
    return try store.writer.group { try store.writer.apply(submission) { rest.popFirst() } }
  }

  private func forget(_ store: any StoreUnderTest, at time: Int64) throws -> Int {
    try store.writer.sweep([.trash], at: time).trashedBatchesDeleted
  }

  private func batches(_ store: any StoreUnderTest) throws -> [Int64] {
    try store.reader.batches(after: 0, limit: 100).map(\.batch)
  }

  private func forgetsWhole() throws {
    let store = try store()
    let batches = try deleteSome(store, at: [0, 0, 0, 5 * day, 5 * day])
    let forgotten = try store.withSteps(of: 1) { try forget(store, at: 2 * day) }
    #expect(forgotten == 3)
    for batch in batches.prefix(3) {
      #expect(throws: UndoUnavailable.notInTrash) {
        try store.writer.undo(batch, by: "me", at: 2 * day)
      }
    }
    #expect(try store.writer.undo(batches[4], by: "me", at: 2 * day).restored == 1)
    #expect(try forget(store, at: 9 * day) >= 1)
    #expect(try forget(store, at: 9 * day) == 0)
  }

  private func keepsUnfinishedFile() throws {
    let store = try store()
    func put(_ key: String) -> [Change] {
      [.put(Node("n", .text(key)), type: nil, value: nil, edges: nil)]
    }
    try apply(store, put("A"), at: 0, id: "half", part: 0, isLast: false)
    try apply(store, put("B"), at: 0, id: "half", part: 1, isLast: false)
    try apply(store, put("C"), at: 0, id: "whole", part: 0, isLast: false)
    try apply(store, put("D"), at: 0, id: "whole", part: 1)
    _ = try forget(store, at: 365 * day)
    #expect(try store.writer.ledgerEntry("half")?.part == 1)
    #expect(try store.writer.ledgerEntry("whole") == nil)
    try apply(store, put("E"), at: 366 * day, id: "half", part: 2)
    _ = try forget(store, at: 800 * day)
    #expect(try store.writer.ledgerEntry("half") == nil)
  }

  private func keepsTrashed() throws {
    let store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: { songs: { table: "song", key: "id" }, discs: { table: "disc", key: "id" } },
          relationships: [{ name: "disc", from: "songs", to: "discs", column: "disc",
            rules: ["nullifySourceIfDestinationDeleted", "notifyIfDestinationDeleted"] }],
          trash: "60d", keep: { ledger: "7d", notices: "30d" } }
        """),
      schema: """
        CREATE TABLE disc(id INTEGER PRIMARY KEY); CREATE TABLE song(id INTEGER PRIMARY KEY, disc INTEGER);
        INSERT INTO disc VALUES(1); INSERT INTO song VALUES(1, 1);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM disc")
    let batch = try #require(try store.writer.sweep([.cascade, .refcount], at: 0).batch)
    for (time, notices, isKept) in [(10, 1, true), (40, 0, true), (70, 0, false)]
      as [(Int64, Int, Bool)]
    {
      _ = try forget(store, at: time * day)
      _ = try forget(store, at: time * day)
      #expect(try store.reader.notices(after: 0, limit: 9).count == notices)
      if isKept || time < 70 { continue }
      #expect(throws: UndoUnavailable.unknown) { try store.writer.undo(batch, by: "me", at: 0) }
    }
  }

  // MARK: - Clocks

  private func forward() throws {
    let (store, year) = (try store(), 365 * day)
    try deleteSome(store, at: [0, 0])
    try store.writer.noteTime(wall: 0, elapsed: 0)
    try store.writer.noteTime(wall: year, elapsed: 1_000)
    #expect(try forget(store, at: year) == 0)
    #expect(try forget(store, at: year + day - 2_000) == 0)
    #expect(try forget(store, at: year + day) == 2)
    let count = store.count
    #expect(try store.writer.ledgerEntry("test-\(count)") != nil)
    _ = try forget(store, at: year + 31 * day)
    #expect(try store.writer.ledgerEntry("test-\(count)") == nil)
  }

  private func back() throws {
    let store = try store()
    try store.writer.noteTime(wall: 10 * day, elapsed: 10 * day)
    try deleteSome(store, at: [10 * day, 10 * day])
    try store.writer.noteTime(wall: 5 * day, elapsed: 10 * day + 1_000)
    #expect(try forget(store, at: 6 * day - 2_000) == 0)
    #expect(try forget(store, at: 6 * day) == 2)
  }

  private func away() throws {
    let store = try store()
    try deleteSome(store, at: [0, 0])
    try store.writer.noteTime(wall: 0, elapsed: 0)
    try store.writer.saveTime(wall: 0)
    try store.reopen()
    try store.writer.noteTime(wall: 30 * day, elapsed: 5)
    #expect(try forget(store, at: 30 * day - 1_000) == 0)
    #expect(try forget(store, at: 30 * day + 1_000) == 2)
  }

  private func ahead() throws {
    let store = try store()
    try deleteSome(store, at: [1 << 50, 1_000])
    #expect(try forget(store, at: day) == 0)
    #expect(try forget(store, at: day + 1_001) == 2)
  }
}
