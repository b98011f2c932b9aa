internal import CascadeModel
internal import CascadeStore
import Testing

/// A plan that waits for approval owns its causes, and makes nothing else wait.
package struct HeldPlans {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case followsOthers = "What is deleted afterwards is followed at once"
    case keepsNumber = "A plan keeps its number for as long as it waits"
    case passesAtFirst = "The first approval passes although other things were deleted since"
    case coversNoOther = "An approval lets no other cause pass, however alike the numbers are"
    case takesMore = "What follows by then goes, too, up to what needs no approval"
    case isHeldAgain = "Where more would go, it is held again under its number"
    case followsFromBoth = "A node that also follows from another deletion goes with that"
    case isLeftByScans = "No scan of whole tables takes what waits"
    case keepsUsedKey = "What refers to a key that is used again stays"
    case losesItsOwn = "What lost its last reference before its key was used again is no reason"
    case countsRowByRow = "A mass deletion row by row is held from the limit on, in one plan"
    case emptiesWindow = "The answer to that plan lets what follows begin anew"
    case forgetsWindow = "What went ten minutes ago does not count"
    case countsNoWindow = "Nothing is added up with `within: \"0\"`"
    case countsNot = "What has `hold: false` goes, and does not count"

    package var testDescription: String { rawValue }
  }

  /// What happens between the statements of a claim.
  package enum Way: String, CaseIterable, CustomTestStringConvertible {
    case running = "in one daemon"
    case restarted = "with a new daemon each time"
    case inSteps = "in steps of one row"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim, _ way: Way) throws {
    let limit = claim == .countsNoWindow ? "within: \"0\", " : ""
    let store = try HeldPlanStore(engine, way, limit)
    switch claim {
    case .followsOthers: try followsOthers(store)
    case .keepsNumber: try keepsNumber(store)
    case .passesAtFirst: try passesAtFirst(store)
    case .coversNoOther: try coversNoOther(store)
    case .takesMore: try takesMore(store)
    case .isHeldAgain: try isHeldAgain(store)
    case .followsFromBoth: try followsFromBoth(store)
    case .isLeftByScans: try isLeftByScans(store)
    case .keepsUsedKey: try keepsUsedKey(store)
    case .losesItsOwn: try losesItsOwn(store)
    case .countsRowByRow: try countsRowByRow(store)
    case .emptiesWindow: try emptiesWindow(store)
    case .forgetsWindow: try forgetsWindow(store)
    case .countsNoWindow: try countsNoWindow(store)
    case .countsNot: try countsNot(store)
    }
  }

  private func followsOthers(_ store: HeldPlanStore) throws {
    let plan = try store.holdArtist(1)
    try store.bySQL("DELETE FROM album WHERE id = 5")
    let other = try store.sweep()
    #expect(other.outcome == .done && other.byCollection == ["songs": 4])
    #expect(try store.waiting == [plan] && store.songs(1) == 20)
  }

  private func keepsNumber(_ store: HeldPlanStore) throws {
    let plan = try store.holdArtist(1)
    for album in [5, 6] {
      try store.bySQL("DELETE FROM album WHERE id = \(album)")
      #expect(try store.sweep().deletedCount == 4)
      #expect(try store.waiting == [plan])
    }
    _ = try store.sweep([.all])
    #expect(try store.waiting == [plan] && store.songs(1) == 20)
  }

  private func passesAtFirst(_ store: HeldPlanStore) throws {
    let plan = try store.holdArtist(1)
    try store.bySQL("DELETE FROM album WHERE id = 5")
    #expect(try store.sweep().deletedCount == 4)
    try store.approve(plan)
    try store.bySQL("DELETE FROM album WHERE id = 6")
    let done = try store.sweep()
    #expect(done.deletedCount == 24 && done.byCollection == ["songs": 24])
    #expect(try store.songs(1) == 0 && store.waiting.isEmpty)
  }

  private func coversNoOther(_ store: HeldPlanStore) throws {
    let plan = try store.holdArtist(1)
    let other = try store.holdArtist(2)
    #expect(plan != other)
    #expect(try store.waiting == [plan, other])
    try store.approve(other)
    #expect(try store.sweep().deletedCount == 20)
    #expect(try store.songs(1) == 20 && store.songs(2) == 0 && store.waiting == [plan])
    #expect(try store.sweep().outcome == .nothing)
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 20)
    #expect(try store.songs(1) == 0 && store.waiting.isEmpty)
  }

  private func takesMore(_ store: HeldPlanStore) throws {
    let plan = try store.holdArtist(1)
    try store.addSongs(10, artist: 1)
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 30)
    #expect(try store.songs(1) == 0 && store.waiting.isEmpty)
  }

  private func isHeldAgain(_ store: HeldPlanStore) throws {
    let plan = try store.holdArtist(1)
    try store.addSongs(11, artist: 1)
    try store.approve(plan)
    let again = try store.sweep()
    #expect(again.outcome == .held && again.plan == plan && again.heldCount == 31)
    #expect(try store.songs(1) == 31 && store.waiting == [plan])
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 31)
    #expect(try store.waiting.isEmpty)
  }

  private func followsFromBoth(_ store: HeldPlanStore) throws {
    try store.bySQL("UPDATE song SET album = 9 WHERE id = 101")
    let plan = try store.holdArtist(1)
    try store.bySQL("DELETE FROM album WHERE id = 9")
    #expect(try store.sweep().deletedCount == 1)
    #expect(try store.songs(1) == 19)
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 19)
  }

  private func isLeftByScans(_ store: HeldPlanStore) throws {
    let plan = try store.holdArtist(1)
    for kinds in [[SweepKind.dangling], [.all]] {
      #expect(try store.sweep(kinds).deletedCount == 0)
      #expect(try store.songs(1) == 20 && store.waiting == [plan])
    }
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 20)
  }

  private func keepsUsedKey(_ store: HeldPlanStore) throws {
    let plan = try store.holdArtist(1)
    try store.bySQL("INSERT INTO artist VALUES(1)")
    _ = try store.sweep()
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.songs(1) == 20 && store.waiting.isEmpty)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    #expect(try store.sweep().outcome == .held)
  }

  /// Cover 1 loses its only song with the songs of artist 1, and then names another cover.
  private func losesItsOwn(_ store: HeldPlanStore) throws {
    try store.bySQL("UPDATE song SET cover = 1 WHERE id = 301")
    _ = try store.sweep()
    let plan = try store.holdArtist(1, "; UPDATE song SET cover = NULL WHERE id = 301")
    try store.bySQL("DELETE FROM cover WHERE id = 1; INSERT INTO cover VALUES(1)")
    _ = try store.sweep()
    try store.approve(plan)
    #expect(try store.sweep().byCollection == ["songs": 20])
    #expect(try store.count("cover WHERE id = 1") == 1)
  }

  // MARK: - The window

  private func countsRowByRow(_ store: HeldPlanStore) throws {
    for album in [5, 6] {
      try store.bySQL("DELETE FROM album WHERE id = \(album)")
      #expect(try store.sweep().deletedCount == 4)
    }
    try store.bySQL("DELETE FROM album WHERE id = 7")
    let held = try store.sweep()
    let plan = try #require(held.plan)
    #expect(held.outcome == .held && held.heldCount == 4)
    try store.bySQL("DELETE FROM album WHERE id = 8")
    let more = try store.sweep()
    #expect(more.outcome == .held && more.plan == plan && more.heldCount == 8)
    #expect(try store.waiting == [plan])
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 8)
    #expect(try store.waiting.isEmpty)
  }

  private func emptiesWindow(_ store: HeldPlanStore) throws {
    try store.bySQL("DELETE FROM album WHERE id IN (5, 6)")
    #expect(try store.sweep().deletedCount == 8)
    try store.bySQL("DELETE FROM album WHERE id = 7")
    let plan = try #require(try store.sweep().plan)
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 4)
    try store.bySQL("DELETE FROM album WHERE id = 8")
    let after = try store.sweep()
    #expect(after.outcome == .done && after.deletedCount == 4)
  }

  private func forgetsWindow(_ store: HeldPlanStore) throws {
    try store.bySQL("DELETE FROM album WHERE id IN (5, 6)")
    #expect(try store.sweep().deletedCount == 8)
    store.now += 10 * 60_000
    try store.bySQL("DELETE FROM album WHERE id = 7")
    #expect(try store.sweep().deletedCount == 4)
    store.now += 60_000
    try store.bySQL("DELETE FROM album WHERE id IN (8, 9)")
    #expect(try store.sweep().outcome == .done)
  }

  private func countsNoWindow(_ store: HeldPlanStore) throws {
    for album in 5...8 {
      try store.bySQL("DELETE FROM album WHERE id = \(album)")
      #expect(try store.sweep().deletedCount == 4)
    }
    _ = try store.holdArtist(1)
  }

  private func countsNot(_ store: HeldPlanStore) throws {
    try store.bySQL("DELETE FROM venue WHERE id = 1")
    #expect(try store.sweep().byCollection == ["visits": 30])
    try store.bySQL("DELETE FROM album WHERE id IN (5, 6)")
    #expect(try store.sweep().deletedCount == 8)
  }
}

/// Artists 1 to 4 have 20 songs each. Albums 5 to 8 have 4 songs each; no song is on album 9. Venue 1 has
/// 30 visits, which do not count. More than ten nodes, and more than a tenth of a collection, are held.
private final class HeldPlanStore {
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

  func approve(_ plan: Int64) throws {
    #expect(try store.writer.approve(plan: plan) != nil)
    try restart()
  }

  private func restart() throws {
    if way == .restarted { try store.reopen() }
  }

  /// The numbers of the plans that wait.
  var waiting: [Int64] { get throws { try store.writer.heldSweeps.compactMap(\.plan).sorted() } }

  func songs(_ artist: Int64) throws -> Int { try count("song WHERE artist = \(artist)") }

  func count(_ rows: String) throws -> Int {
    try store.texts("SELECT CAST(count(*) AS TEXT) FROM \(rows)").first.flatMap { Int($0) } ?? 0
  }
}
