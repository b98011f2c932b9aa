internal import CascadeModel
internal import CascadeStore
import Testing

/// Artists 1 to 4 have 20 songs each. Albums 5 to 8 have 4 songs each; no song is on album 9. Venue 1 has
/// 30 visits, which do not count. More than ten nodes, and more than a tenth of a collection, are held.
final class HeldPlanStore {
  private let store: any StoreUnderTest
  private let way: HeldPlans.Way
  var now: Int64 = 1_000_000

  init(_ engine: any EngineUnderTest, _ way: HeldPlans.Way, _ limit: String) throws {
    self.way = way
    store = try engine.makeStore(model: HeldPlanStore.model(limit), schema: HeldPlanStore.schema)
    _ = try store.writer.sweep([.all], at: now)
    if way == .inSteps { store.sweepsInSteps(of: 1) }
  }

  private static func model(_ limit: String) throws -> StoreModel {
    try StoreModel(
      """
      { collections: {
          artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
          songs: { table: "song", key: "id" }, covers: { table: "cover", key: "id" },
          venues: { table: "venue", key: "id" },
          visits: { table: "visit", key: "id", hold: false } },
        relationships: [
          { name: "artist", from: "songs", to: "artists", column: "artist",
            rules: ["deleteSourceIfDestinationDeleted"] },
          { name: "album", from: "songs", to: "albums", column: "album",
            rules: ["deleteSourceIfDestinationDeleted"] },
          { name: "cover", from: "songs", to: "covers", column: "cover",
            rules: ["deleteDestinationIfAllSourcesDeleted"] },
          { name: "venue", from: "visits", to: "venues", column: "venue",
            rules: ["deleteSourceIfDestinationDeleted"] }],
        roots: ["artists", "albums", "covers", "venues"],
        limits: { hold: { \(limit)deletes: 10, share: 0.1 } } }
      """)
  }

  private static var schema: String {
    let ofArtists = (1...4).flatMap { artist in
      (1...20).map { "(\(artist * 100 + $0), \(artist), NULL)" }
    }
    let ofAlbums = (5...8).flatMap { album in
      (1...4).map { "(\(album * 100 + $0), NULL, \(album))" }
    }
    let visits = (1...30).map { "(\($0), 1)" }
    return """
      CREATE TABLE artist(id INTEGER PRIMARY KEY); CREATE TABLE album(id INTEGER PRIMARY KEY);
      CREATE TABLE cover(id INTEGER PRIMARY KEY); CREATE TABLE venue(id INTEGER PRIMARY KEY);
      CREATE TABLE song(id INTEGER PRIMARY KEY, artist INTEGER, album INTEGER, cover INTEGER);
      CREATE TABLE visit(id INTEGER PRIMARY KEY, venue INTEGER);
      CREATE INDEX by_artist ON song(artist); CREATE INDEX by_album ON song(album);
      CREATE INDEX by_cover ON song(cover); CREATE INDEX by_venue ON visit(venue);
      INSERT INTO artist VALUES(1), (2), (3), (4); INSERT INTO album VALUES(5), (6), (7), (8), (9);
      INSERT INTO cover VALUES(1); INSERT INTO venue VALUES(1);
      INSERT INTO song(id, artist, album) VALUES\((ofArtists + ofAlbums).joined(separator: ", "));
      INSERT INTO visit VALUES\(visits.joined(separator: ", "));
      """
  }

  /// Deletes an artist, which is held. Returns the number of the plan.
  func holdArtist(_ id: Int64, _ more: String = "") throws -> Int64 {
    try bySQL("DELETE FROM artist WHERE id = \(id)\(more)")
    let held = try sweep()
    #expect(held.outcome == .held && held.heldCount >= 20)
    return try #require(held.plan)
  }

  func addSongs(_ count: Int, artist: Int64) throws {
    let rows = (1...count).map { "(\(artist * 1_000 + Int64($0)), \(artist))" }
    try bySQL("INSERT INTO song(id, artist) VALUES\(rows.joined(separator: ", "))")
  }

  func bySQL(_ sql: String) throws {
    try restart()
    try store.bySQL(sql)
    try restart()
  }

  func sweep(_ kinds: [SweepKind] = [.cascade, .refcount]) throws -> SweepResult {
    now += 1
    defer { try? restart() }
    return try store.writer.sweep(kinds, at: now)
  }

  func apply(_ change: Change) throws -> Receipt {
    defer { try? restart() }
    return try store.apply([change])
  }

  func approve(_ plan: Int64) throws {
    #expect(try store.writer.approve(plan: plan) != nil)
    try restart()
  }

  func approveIfThere(_ plan: Int64) throws -> ApprovedPlan? {
    try store.writer.approve(plan: plan)
  }

  func reject(_ plan: Int64) throws -> RejectedPlan? {
    defer { try? restart() }
    return try store.writer.reject(plan: plan, at: now)
  }

  /// How many nodes `check` lists as given up.
  var givenUp: Int {
    get throws {
      try store.reader.checkReferences(limit: 1_000).list.filter { $0.kind == "givenUp" }.count
    }
  }

  private func restart() throws {
    if way == .restarted { try store.reopen() }
  }

  /// The numbers of the plans that wait.
  func noteHeld(at now: Int64) throws -> Int64? { try store.writer.noteHeldPlans(at: now) }

  var waiting: [Int64] { get throws { try store.writer.heldSweeps.compactMap(\.plan).sorted() } }

  func songs(_ artist: Int64) throws -> Int { try count("song WHERE artist = \(artist)") }

  func count(_ rows: String) throws -> Int {
    try store.texts("SELECT CAST(count(*) AS TEXT) FROM \(rows)").first.flatMap { Int($0) } ?? 0
  }
}
