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
    case waitsSince = "Since when it waits is known for as long as it does"
    case followsFromBoth = "A node that also follows from another deletion goes with that"
    case isLeftByScans = "No scan of whole tables takes what waits"
    case keepsUsedKey = "What refers to a key that is used again stays"
    case losesItsOwn = "What lost its last reference before its key was used again is no reason"
    case countsRowByRow = "A mass deletion row by row is held from the limit on, in one plan"
    case emptiesWindow = "The answer to that plan lets what follows begin anew"
    case forgetsWindow = "What went ten minutes ago does not count"
    case countsNoWindow = "Nothing is added up with `within: \"0\"`"
    case isGivenUp = "What was rejected stays, and no sweep takes it; the same answer is the same"
    case isFree = "A reference that changes is free of it"
    case isDeletedAgain = "What is deleted again takes along what was given up"
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
    case .waitsSince: try waitsSince(store)
    case .followsFromBoth: try followsFromBoth(store)
    case .isLeftByScans: try isLeftByScans(store)
    case .keepsUsedKey: try keepsUsedKey(store)
    case .losesItsOwn: try losesItsOwn(store)
    case .countsRowByRow: try countsRowByRow(store)
    case .emptiesWindow: try emptiesWindow(store)
    case .forgetsWindow: try forgetsWindow(store)
    case .countsNoWindow: try countsNoWindow(store)
    case .isGivenUp: try isGivenUp(store)
    case .isFree: try isFree(store)
    case .isDeletedAgain: try isDeletedAgain(store)
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

  private func waitsSince(_ store: HeldPlanStore) throws {
    #expect(try store.noteHeld(at: 1) == nil)
    let plan = try store.holdArtist(1)
    #expect(try store.noteHeld(at: 2) == 2)
    _ = try store.holdArtist(2)
    #expect(try store.noteHeld(at: 3) == 2)
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 20)
    #expect(try store.noteHeld(at: 4) == 3)
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
    for kinds in [[SweepKind.dangling], [.unreachable], [.unreferenced], [.all]] {
      #expect(try store.sweep(kinds).deletedCount == 0)
      #expect(try store.songs(1) == 20 && store.waiting == [plan])
    }
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 20)
  }

  /// A change file that names what is gone takes nothing that waits, nor what was given up.
  package func expectLeftByFiles(_ way: Way) throws {
    let store = try HeldPlanStore(engine, way, "")
    for answersNo in [false, true] {
      let plan = try store.waiting.first ?? store.holdArtist(1)
      if answersNo { _ = try store.reject(plan) }
      let own = Node("songs", .integer(901))
      let value = JSONText(valid: #"{"artist": 1}"#)
      let receipt = try store.apply(.put(own, type: nil, value: value, edges: nil))
      #expect(receipt.deleted == [own])
      #expect(try store.songs(1) == 20)
    }
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

  // MARK: - Rejection

  private func isGivenUp(_ store: HeldPlanStore) throws {
    let plan = try store.holdArtist(1)
    for _ in 1...2 {
      let answer = try store.reject(plan)
      #expect(answer?.restored == 0 && answer?.givenUp == 20)
    }
    for kinds in [[SweepKind.cascade, .refcount], [.dangling], [.unreachable], [.all]] {
      #expect(try store.sweep(kinds).deletedCount == 0)
    }
    #expect(try store.songs(1) == 20 && store.waiting.isEmpty)
    #expect(try store.givenUp == 20)
    #expect(try store.approveIfThere(plan) == nil)
  }

  private func isFree(_ store: HeldPlanStore) throws {
    _ = try store.reject(store.holdArtist(1))
    try store.bySQL("UPDATE song SET artist = 77 WHERE id = 101")
    _ = try store.sweep()
    #expect(try store.sweep([.dangling]).byCollection == ["songs": 1])
    try store.bySQL("UPDATE song SET artist = 2 WHERE id = 102")
    _ = try store.sweep([.all])
    #expect(try store.songs(1) == 18 && store.songs(2) == 21 && store.givenUp == 18)
  }

  private func isDeletedAgain(_ store: HeldPlanStore) throws {
    _ = try store.reject(store.holdArtist(1))
    try store.bySQL("INSERT INTO artist VALUES(1)")
    _ = try store.sweep([.all])
    #expect(try store.songs(1) == 20)
    let plan = try store.holdArtist(1)
    try store.approve(plan)
    #expect(try store.sweep().deletedCount == 20)
    #expect(try store.givenUp == 0)
  }

  private func countsNot(_ store: HeldPlanStore) throws {
    try store.bySQL("DELETE FROM venue WHERE id = 1")
    #expect(try store.sweep().byCollection == ["visits": 30])
    try store.bySQL("DELETE FROM album WHERE id IN (5, 6)")
    #expect(try store.sweep().deletedCount == 8)
  }
}
