internal import CascadeModel
internal import CascadeStore
import Testing

/// What a denial or a lease holds back, and when that goes after all.
///
/// An album names its song, which goes with it (rule 8). A play, or a lease, keeps the song.
package struct HeldBack {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case goes = "What a denial held back goes when nothing denies it any more"
    case isGiven = "Unless it was given an edge of that name since, from whatever node"
    case hadAnother = "An edge of that name that it had before keeps nothing"
    case gotItBefore = "What lost one more edge goes, also if it was given another one before that"
    case isPut = "Unless a change file has put it since; what an application writes is no such sign"
    case returns = "The end that was lost may come back: without an edge it keeps nothing"
    case endsByFile = "The end of a denial may come by a change file, and a sweep follows by itself"
    case isGone = "What has gone meanwhile is no reason for the next node of its key"
    case isAnother = "Nor if no sweep saw it go"
    case goesByKinds = "It goes by sweeps of one kind, too"
    case waitsLong = "It is known to later daemons, however many sweeps come between"
    case refers = "What refers to nothing stays as long as it is denied, and goes if it still does"
    case isCounted = "What has lost its last edge goes if it still has none"
    case losesReferences = "A node that is denied loses its references to what is gone"
    case isLeftByFiles = "A file that names the missing node too is applied, and lets it wait"
    case isLeftByFilesCounted = "The same where its last reference is lost"
    case isToldOnce = "It is told once of what it has lost, whatever files name that"
    case isJudged = "A change file that writes such a reference itself is rejected"

    package var testDescription: String { rawValue }
  }

  /// What keeps a song.
  package enum Holder: String, CaseIterable, CustomTestStringConvertible {
    case denial, lease

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim, by holder: Holder) throws {
    let rule =
      switch claim {
      case .isCounted: "deleteDestinationIfAllSourcesDeleted"
      default: "deleteDestinationIfSourceDeleted"
      }
    let disc =
      switch claim {
      case .isLeftByFilesCounted: "deleteSourceIfAllDestinationsDeleted"
      default: "deleteSourceIfDestinationDeleted"
      }
    let store = try HeldStore(engine, holder, rule, ofDisc: disc)
    switch claim {
    case .goes: try goes(store)
    case .isGiven: try isGiven(store)
    case .hadAnother: try hadAnother(store)
    case .gotItBefore: try gotItBefore(store)
    case .isPut: try isPut(store)
    case .returns: try returns(store)
    case .endsByFile: try endsByFile(store)
    case .isGone: try isGone(store)
    case .isAnother: try isAnother(store)
    case .goesByKinds: try goesByKinds(store)
    case .waitsLong: try waitsLong(store)
    case .refers: try refers(store)
    case .isCounted: try isCounted(store)
    case .losesReferences: try losesReferences(store)
    case .isLeftByFiles, .isLeftByFilesCounted: try isLeftByFiles(store)
    case .isToldOnce: try isToldOnce(store)
    case .isJudged: try isJudged(store, holder)
    }
  }

  // MARK: - Rule 8

  private func goes(_ store: HeldStore) throws {
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.letGo()
    #expect(try store.sweep().byCollection == ["songs": 1])
    #expect(try store.sweep().outcome == .nothing)
  }

  private func isGiven(_ store: HeldStore) throws {
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.bySQL("INSERT INTO album VALUES(2, 1)")
    try store.letGo()
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.hasSong)
    try store.bySQL("DELETE FROM album WHERE id = 2")
    #expect(try store.sweep().byCollection == ["songs": 1])
  }

  private func hadAnother(_ store: HeldStore) throws {
    try store.bySQL("INSERT INTO album VALUES(2, 1)")
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.sweep()
    try store.letGo()
    #expect(try store.sweep().byCollection == ["songs": 1])
  }

  private func gotItBefore(_ store: HeldStore) throws {
    try store.bySQL("INSERT INTO album VALUES(2, 1)")
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.bySQL("INSERT INTO album VALUES(3, 1)")
    try store.hold("DELETE FROM album WHERE id = 2")
    try store.letGo()
    #expect(try store.sweep().byCollection == ["songs": 1])
  }

  private func isPut(_ store: HeldStore) throws {
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.bySQL("UPDATE song SET title = 'another' WHERE id = 1")
    try store.letGo()
    #expect(try store.sweep().byCollection == ["songs": 1])
    try store.bySQL("INSERT INTO song(id) VALUES(1); INSERT INTO album VALUES(1, 1)")
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.apply(.put(HeldStore.song, type: nil, value: JSONText(.object([])), edges: nil))
    try store.letGo(sweeps: false)
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.hasSong)
  }

  private func returns(_ store: HeldStore) throws {
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.bySQL("INSERT INTO album VALUES(1, NULL)")
    try store.sweep()
    try store.letGo()
    #expect(try store.sweep().byCollection == ["songs": 1])
    try store.bySQL("INSERT INTO song(id) VALUES(1); UPDATE album SET song = 1")
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.bySQL("INSERT INTO album VALUES(1, 1)")
    try store.letGo()
    #expect(try store.sweep().deletedCount == 0)
  }

  private func endsByFile(_ store: HeldStore) throws {
    try store.hold("DELETE FROM album WHERE id = 1")
    let play = Node("plays", .integer(1))
    try store.apply(.delete(play))
    try store.letGo(sweeps: false)
    #expect(try store.isDue)
    #expect(try store.sweep().byCollection == ["songs": 1])
  }

  private func isGone(_ store: HeldStore) throws {
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.letGo(sweeps: false)
    try store.bySQL("DELETE FROM song WHERE id = 1")
    try store.sweep()
    try store.bySQL("INSERT INTO song(id) VALUES(1)")
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.hasSong)
  }

  private func isAnother(_ store: HeldStore) throws {
    for (begin, end) in [("", ""), ("BEGIN; ", "; COMMIT")] {
      try store.hold("DELETE FROM album WHERE id = 1")
      try store.letGo(sweeps: false)
      let sql = "DELETE FROM song WHERE id = 1; INSERT INTO song(id) VALUES(1)"
      try store.bySQL("\(begin)\(sql)\(end)")
      #expect(try store.sweep().deletedCount == 0)
      #expect(try store.hasSong)
      try store.bySQL("INSERT INTO album VALUES(1, 1)")
    }
  }

  private func goesByKinds(_ store: HeldStore) throws {
    try store.bySQL("DELETE FROM album WHERE id = 1")
    for kind: SweepKind in [.cascade, .refcount, .cascade, .refcount] { try store.sweep([kind]) }
    #expect(try store.hasSong)
    try store.letGo()
    for kind: SweepKind in [.refcount, .cascade] { try store.sweep([kind]) }
    #expect(try !store.hasSong)
  }

  private func waitsLong(_ store: HeldStore) throws {
    try store.hold("DELETE FROM album WHERE id = 1")
    for id in 10..<15 {
      try store.bySQL("INSERT INTO song(id) VALUES(\(id)); INSERT INTO album VALUES(\(id), \(id))")
      try store.bySQL("DELETE FROM album WHERE id = \(id)")
      #expect(try store.sweep().byCollection == ["songs": 1])
      try store.reopen()
      try store.sweep([.all])
    }
    try store.letGo()
    #expect(try store.sweep().byCollection == ["songs": 1])
  }

  // MARK: - Other rules

  private func refers(_ store: HeldStore) throws {
    try store.bySQL("INSERT INTO disc VALUES(1), (2); UPDATE song SET disc = 1")
    try store.hold("DELETE FROM disc WHERE id = 1")
    try store.letGo()
    #expect(try store.sweep().byCollection == ["songs": 1])
    for written in ["INSERT INTO disc VALUES(1)", "UPDATE song SET disc = 2"] {
      try store.bySQL("DELETE FROM disc; INSERT INTO disc VALUES(1), (2)")
      try store.bySQL("INSERT INTO song(id, disc) VALUES(1, 1)")
      try store.hold("DELETE FROM disc WHERE id = 1")
      try store.bySQL(written)
      try store.letGo()
      #expect(try store.sweep().deletedCount == 0)
      #expect(try store.hasSong)
      try store.bySQL("DELETE FROM song")
      try store.sweep()
    }
  }

  private func isCounted(_ store: HeldStore) throws {
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.letGo()
    #expect(try store.sweep().byCollection == ["songs": 1])
    try store.bySQL("INSERT INTO song(id) VALUES(1); INSERT INTO album VALUES(1, 1)")
    try store.hold("DELETE FROM album WHERE id = 1")
    try store.bySQL("INSERT INTO album VALUES(2, 1)")
    try store.letGo()
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.hasSong)
  }

  private func losesReferences(_ store: HeldStore) throws {
    try store.bySQL("INSERT INTO cover VALUES(1); UPDATE song SET cover = 1")
    try store.bySQL("DELETE FROM album WHERE id = 1; DELETE FROM cover WHERE id = 1")
    try store.sweep()
    #expect(try store.hasSong)
    #expect(try store.store.texts("SELECT CAST(id AS TEXT) FROM song WHERE cover IS NULL") == ["1"])
  }
}

// MARK: - Change files

extension HeldBack {
  private func isLeftByFiles(_ store: HeldStore) throws {
    try store.loseDisc()
    try expectLeft(store, by: 2)
    try store.letGo(sweeps: false)
    try expectLeft(store, by: 3)
    #expect(try store.sweep().byCollection == ["songs": 1])
  }

  /// A song that refers to what is missing goes itself.
  private func expectLeft(_ store: HeldStore, by id: Int64) throws {
    let own = Node("songs", .integer(id))
    let value = JSONText(valid: #"{"disc": 1}"#)
    let receipt = try store.store.apply([.put(own, type: nil, value: value, edges: nil)])
    #expect(receipt.deleted == [own])
    #expect(try store.hasSong)
  }

  private func isToldOnce(_ store: HeldStore) throws {
    try store.loseDisc()
    let notices = try store.store.lastNotice()
    try expectLeft(store, by: 2)
    #expect(try notices > 0 && store.store.lastNotice() == notices)
  }

  private func isJudged(_ store: HeldStore, _ holder: Holder) throws {
    let denied: [Reason.Code] = holder == .denial ? [.denied] : []
    try store.loseDisc()
    try store.bySQL("INSERT INTO disc VALUES(2)")
    try store.apply(HeldStore.patch(disc: 2))
    #expect(try store.store.reasons([HeldStore.patch(disc: 1)]).map(\.code) == denied)
    try store.apply(HeldStore.patch(disc: 2))
    let disc = Node("discs", .integer(1))
    try store.apply(.put(disc, type: nil, value: JSONText(.object([])), edges: nil))
    try store.bySQL("UPDATE song SET disc = 1")
    #expect(try store.store.reasons([.delete(disc)]).map(\.code) == denied)
    #expect(try store.hasSong)
  }
}

/// Album 1 has song 1, which is held.
private final class HeldStore {
  static let song = Node("songs", .integer(1))
  let store: any StoreUnderTest
  private let holder: HeldBack.Holder
  private let now: Int64 = 1

  init(
    _ engine: any EngineUnderTest, _ holder: HeldBack.Holder, _ rule: String, ofDisc: String
  ) throws {
    self.holder = holder
    store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: {
            albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" },
            plays: { table: "play", key: "id" }, discs: { table: "disc", key: "id" },
            covers: { table: "cover", key: "id" } },
          relationships: [
            { name: "song", from: "albums", to: "songs", column: "song", rules: ["\(rule)"] },
            { name: "of", from: "plays", to: "songs", column: "song",
              rules: ["denyDestinationDeletion"] },
            { name: "disc", from: "songs", to: "discs", column: "disc",
              rules: ["\(ofDisc)", "notifyIfDestinationDeleted"] },
            { name: "cover", from: "songs", to: "covers", column: "cover",
              rules: ["nullifySourceIfDestinationDeleted"] }] }
        """),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY, song INTEGER);
        CREATE TABLE song(id INTEGER PRIMARY KEY, title TEXT, disc INTEGER, cover INTEGER);
        CREATE TABLE play(id INTEGER PRIMARY KEY, song INTEGER);
        CREATE TABLE disc(id INTEGER PRIMARY KEY);
        CREATE TABLE cover(id INTEGER PRIMARY KEY);
        CREATE INDEX by_song ON album(song); CREATE INDEX of_song ON play(song);
        CREATE INDEX by_disc ON song(disc); CREATE INDEX by_cover ON song(cover);
        INSERT INTO song(id) VALUES(1); INSERT INTO album VALUES(1, 1);
        """)
    try sweep([.all])
    try keep()
  }

  private func keep() throws {
    switch holder {
    case .denial: try bySQL("DELETE FROM play; INSERT INTO play VALUES(1, 1)")
    case .lease:
      _ = try store.writer.lease(
        [.node(HeldStore.song)], owner: "test", seconds: 1_000_000, connection: nil, at: now)
    }
  }

  /// Has a sweep find a reason for the song to go, which it cannot.
  func hold(_ sql: String) throws {
    try keep()
    try bySQL(sql)
    let result = try sweep()
    #expect(try hasSong)
    #expect(holder == .lease || result.blocked.map(\.node) == [HeldStore.song])
  }

  func loseDisc() throws {
    try bySQL("INSERT INTO disc VALUES(1); UPDATE song SET disc = 1")
    try hold("DELETE FROM disc WHERE id = 1")
  }

  static func patch(disc: Int64) -> Change {
    .patch(song, set: [Member(name: "disc", value: JSONText(.integer(disc)))], unset: [])
  }

  /// Ends the denial, or the lease.
  func letGo(sweeps: Bool = true) throws {
    switch holder {
    case .denial: try bySQL("DELETE FROM play")
    case .lease: _ = try store.writer.release([.node(HeldStore.song)], owner: nil)
    }
    #expect(try !sweeps || isDue)
  }

  /// Whether the daemon would sweep now.
  var isDue: Bool {
    get throws { try store.writer.hasJournal || store.writer.hasReleasedCandidate(at: now) }
  }

  @discardableResult
  func sweep(_ kinds: [SweepKind] = [.cascade, .refcount]) throws -> SweepResult {
    try store.writer.sweep(kinds, at: now)
  }

  var hasSong: Bool { get throws { try store.exists(HeldStore.song) } }

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }

  func apply(_ change: Change) throws { try store.apply([change]) }

  func reopen() throws { try store.reopen() }
}
