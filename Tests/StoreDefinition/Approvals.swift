internal import CascadeModel
internal import CascadeStore
import Testing

/// What an approval is for.
package struct Approvals {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case areForOneSet =
      "An approval lets pass what was shown, and no other set of the same size"
    case outliveNoChange =
      "Another daemon carries out what was approved, and nothing else"
    case coverOneValue =
      "The approval of a value covers none of what else would go"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .areForOneSet: try areForOneSet()
    case .outliveNoChange: try outliveNoChange()
    case .coverOneValue: try coverOneValue()
    }
  }

  private static let songs = 20

  /// Two artists, each with so many songs that their deletion is held.
  private func store() throws -> any StoreUnderTest {
    let songs = (1...2).flatMap { artist in
      (1...Approvals.songs).map { "(\(artist * 100 + $0), \(artist))" }
    }
    return try engine.makeStore(
      model: StoreModel(
        """
        { collections: { artists: { table: "artist", key: "id" }, songs: { table: "song", key: "id" } },
          relationships: [{ name: "artist", from: "songs", to: "artists", column: "artist",
            rules: ["deleteSourceIfDestinationDeleted"] }],
          limits: { hold: { deletes: 10, share: 0.1 } } }
        """),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, artist INTEGER);
        CREATE INDEX by_artist ON song(artist);
        INSERT INTO artist VALUES(1), (2);
        INSERT INTO song VALUES\(songs.joined(separator: ", "));
        """)
  }

  private func sweep(
    _ store: any StoreUnderTest, _ kinds: [SweepKind] = [.cascade, .refcount]
  ) throws -> SweepResult {
    try store.writer.sweep(kinds, at: 1)
  }

  private func songs(_ store: any StoreUnderTest) throws -> [String] {
    try store.texts("SELECT CAST(count(*) AS TEXT) FROM song GROUP BY artist ORDER BY artist")
  }

  /// Has the deletion of the first artist approved, and deletes the second one in its place.
  private func approveAnother(_ store: any StoreUnderTest) throws -> Int64 {
    _ = try store.writer.sweep([.all], at: 1)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    let held = try sweep(store)
    let plan = try #require(held.plan)
    #expect((held.outcome, held.heldCount) == (.held, Approvals.songs))
    try store.bySQL(
      "BEGIN; INSERT INTO artist VALUES(1); DELETE FROM artist WHERE id = 2; COMMIT")
    #expect(try store.writer.approve(plan: plan) != nil)
    return plan
  }

  private func areForOneSet() throws {
    let store = try store()
    let plan = try approveAnother(store)
    let other = try sweep(store)
    #expect(other.outcome == .held && other.plan != plan)
    #expect(try songs(store) == ["20", "20"])
    #expect(try store.writer.approve(plan: #require(other.plan)) != nil)
    #expect(try sweep(store).deletedCount == Approvals.songs)
    #expect(try songs(store) == ["20"])
    #expect(try store.texts("SELECT DISTINCT CAST(artist AS TEXT) FROM song") == ["1"])
  }

  private func outliveNoChange() throws {
    let changed = try store()
    _ = try approveAnother(changed)
    try changed.reopen()
    #expect(try sweep(changed).outcome == .held)
    #expect(try songs(changed) == ["20", "20"])
    let same = try store()
    _ = try same.writer.sweep([.all], at: 1)
    try same.bySQL("DELETE FROM artist WHERE id = 1")
    _ = try same.writer.approve(plan: #require(sweep(same).plan))
    try same.reopen()
    #expect(try sweep(same).deletedCount == Approvals.songs)
  }

  /// What was to go with the value refers to something by the time it is approved.
  private func coverOneValue() throws {
    let store = try store()
    try store.bySQL("UPDATE song SET artist = 0 WHERE artist = 1")
    let held = try sweep(store, [.dangling])
    #expect(held.heldValue != nil && held.heldCount == Approvals.songs)
    try store.bySQL("UPDATE song SET artist = 1 WHERE artist = 0 AND id > 101")
    try store.bySQL("DELETE FROM artist WHERE id = 2")
    #expect(try store.writer.approve(plan: #require(held.plan)) != nil)
    #expect(try sweep(store, [.all]).outcome == .held)
    #expect(try songs(store).last == "20")
  }
}
