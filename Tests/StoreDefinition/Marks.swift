import CascadeModel
import CascadeStore
import Testing

/// Rows that are gone for others when they are marked, on every engine.
package struct Marks {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case followed = "What would go with a row is marked with it, and what cannot be stays"
    case value = "What follows has the very value of the first one"
    case counted = "Marked rows do not count, and the last one takes along what nothing else needs"
    case unmarked = "An unmarked row brings back what was marked because of it, and nothing else"
    case shared = "What another marked row took along too stays marked"
    case undone = "An undo of the batch brings the first row back, too"
    case node = "An undo of the row does"
    case denied = "A denial refuses the mark, and keeps what would follow"
    case heldBack =
      "Over the limit, marks wait for an approval, and later ones do not wait for these"
    case rejected = "A rejected plan brings the first row back"
    case deleted = "After its time, a marked row is deleted with all that follows"
    case seen = "Where a condition tells, the time counts from when the mark was seen"
    case counts = "For a deletion, a marked row counts and denies until it is deleted"
    case protected = "A protected row cannot be marked, and is not marked with another one"
    case killed = "A job that is stopped anywhere goes on"
    case written = "What a change file marks is followed"
    case told = "Notices tell of marks"
    case misfit = "A column that is missing is told"
    case moved = "What does not refer to it any more is not marked"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    let store = try MarkStore(engine, limit: claim == .heldBack || claim == .rejected ? 2 : 1_000)
    switch claim {
    case .followed: try followed(store)
    case .value: try value(store)
    case .counted: try counted(store)
    case .unmarked: try unmarked(store)
    case .shared: try shared(store)
    case .undone: try undone(store)
    case .node: try node(store)
    case .denied: try denied(store)
    case .heldBack: try heldBack(store)
    case .rejected: try rejected(store)
    case .deleted: try deleted(store)
    case .seen: try seen(store)
    case .counts: try counts(store)
    case .protected: try protected(store)
    case .killed: try killed(store)
    case .written: try written(store)
    case .told: try told(store)
    case .misfit: try misfit(store)
    case .moved: try moved(store)
    }
  }

  /// Why a row was marked is known as long as it can come back. `table` is the engine's of these reasons.
  package func expectForgetting(from table: String) throws {
    let store = try MarkStore(engine, limit: 1_000)
    try store.mark("song", 1)
    try store.mark("song", 2)
    try store.followAll()
    try store.bySQL("DELETE FROM song WHERE id = 1")
    let keys = "SELECT CAST(key AS TEXT) FROM \(table) ORDER BY 1"
    store.now += 23 * 3_600_000
    try store.tidy()
    #expect(try store.texts(keys) == ["1", "2"])
    store.now += 2 * 3_600_000
    try store.tidy()
    #expect(try store.texts(keys) == ["2"])
  }

  private func followed(_ store: MarkStore) throws {
    try store.mark("artist", 1)
    let job = try #require(try store.follow())
    #expect(job.state == .done && job.byCollection == ["albums": 2, "songs": 3])
    #expect(try store.marked() == ["album 1", "album 2", "artist 1", "song 1", "song 2", "song 3"])
    #expect(try store.count("review") == 2)
    #expect(try store.follow() == nil)
    let batch = try #require(try store.reader.batches(after: 0, limit: 9).last)
    #expect(batch.kind == .marked && batch.deletedCount == 5 && batch.undoUntil != nil)
    #expect(batch.byCollection == ["albums": 2, "songs": 3])
    #expect(try store.sweep().deletedCount == 0)
  }

  private func value(_ store: MarkStore) throws {
    try store.bySQL("UPDATE artist SET deleted_at = 1234567 WHERE id = 1")
    _ = try store.follow()
    #expect(
      try store.texts("SELECT DISTINCT CAST(deleted_at AS TEXT) FROM album WHERE artist = 1") == [
        "1234567"
      ])
    // A song tells the mark by a condition, and its label has no value to take over.
    try store.bySQL("UPDATE song SET is_deleted = 1 WHERE label IS NOT NULL")
    _ = try store.follow()
    #expect(
      try store.texts("SELECT CAST(count(*) AS TEXT) FROM label WHERE deleted_at IS NOT NULL") == [
        "1"
      ])
  }

  private func counted(_ store: MarkStore) throws {
    try store.mark("song", 1)
    #expect(try store.follow()?.byCollection == [:])
    try store.mark("album", 2)
    #expect(try store.follow()?.byCollection == ["songs": 1])
    #expect(try !store.marked().contains("label 1"))
    try store.mark("album", 3)
    #expect(try store.follow()?.byCollection == ["songs": 1, "labels": 1])
  }

  private func unmarked(_ store: MarkStore) throws {
    try store.mark("song", 2)
    _ = try store.follow()
    try store.mark("artist", 1)
    _ = try store.follow()
    try store.unmark("artist", 1)
    try store.followAll()
    #expect(try store.marked() == ["song 2"])
    try store.mark("song", 1)
    try store.mark("artist", 1)
    try store.followAll()
    try store.unmark("album", 1)
    try store.followAll()
    #expect(try store.marked() == ["album 2", "artist 1", "song 1", "song 2", "song 3"])
  }

  private func shared(_ store: MarkStore) throws {
    try store.mark("artist", 1)
    try store.followAll()
    try store.mark("artist", 2)
    try store.followAll()
    // A duet belongs to both.
    try store.bySQL("INSERT INTO duet VALUES(1, 1, 2, NULL)")
    try store.unmark("artist", 2)
    try store.followAll()
    #expect(try store.marked().filter { $0.hasPrefix("duet") } == [])
    try store.mark("artist", 2)
    try store.followAll()
    try store.unmark("artist", 1)
    try store.followAll()
    #expect(try store.marked().contains("duet 1"))
    try store.unmark("artist", 2)
    try store.followAll()
    #expect(try store.marked() == [])
  }

  private func undone(_ store: MarkStore) throws {
    let before = try store.dump()
    try store.mark("artist", 1)
    let batch = try #require(try store.follow()?.batch)
    #expect(try store.undo(batch).restored == 6)
    #expect(try store.dump() == before)
    try store.followAll()
    #expect(try store.dump() == before)
    #expect(throws: UndoUnavailable.self) { try store.undo(batch) }
  }

  private func node(_ store: MarkStore) throws {
    let before = try store.dump()
    try store.mark("artist", 1)
    _ = try store.follow()
    let batches = try store.separate("artists", 1)
    #expect(batches.count == 1)
    #expect(try store.undo(batches[0]).restored == 6)
    #expect(try store.dump() == before)
  }

  private func denied(_ store: MarkStore) throws {
    try store.bySQL("INSERT INTO guard VALUES(1, 2)")
    #expect(throws: (any Error).self) { try store.mark("album", 2) }
    try store.mark("artist", 1)
    let job = try #require(try store.follow())
    #expect(job.byCollection == ["albums": 1, "songs": 2])
    #expect(job.blocked.count == 1 && "\(job.blocked)".contains("guards/1"))
    #expect(try !store.marked().contains("album 2"))
  }

  private func heldBack(_ store: MarkStore) throws {
    try store.mark("artist", 1)
    let held = try #require(try store.follow())
    #expect(held.state == .held && held.total == 5)
    #expect(try store.marked() == ["artist 1"])
    #expect(try store.reader.plan(of: held.request.subject).deletedCount == 5)
    try store.mark("album", 3)
    #expect(try store.follow()?.byCollection == ["songs": 1])
    #expect(try store.follow() == nil)
    try store.reopen()
    #expect(try store.approve(held))
    #expect(try store.carryOut(held.number).byCollection == ["albums": 2, "songs": 3, "labels": 1])
  }

  private func rejected(_ store: MarkStore) throws {
    let before = try store.dump()
    try store.mark("artist", 1)
    let held = try #require(try store.follow())
    #expect(try store.reject(held))
    #expect(try store.dump() == before)
    try store.followAll()
    #expect(try store.dump() == before)
  }

  private func deleted(_ store: MarkStore) throws {
    let before = try store.dump()
    try store.bySQL(
      "UPDATE artist SET deleted_at = \(store.now / 1_000 - 20 * 86_400) WHERE id = 1")
    _ = try store.follow()
    #expect(try store.expire().isEmpty)
    store.now += 20 * 86_400_000
    let passes = try store.expire()
    let gone = passes.reduce(into: [:]) { $0.merge($1.byCollection, uniquingKeysWith: +) }
    #expect(gone == ["artists": 1, "albums": 2, "songs": 3, "reviews": 2])
    #expect(try store.count("song") == 1)
    for pass in passes.reversed() { if let batch = pass.batch { _ = try store.undo(batch) } }
    #expect(try store.count("song") == 4)
    try store.unmark("artist", 1)
    try store.followAll()
    #expect(try store.dump() == before)
  }

  private func seen(_ store: MarkStore) throws {
    try store.mark("song", 1)
    _ = try store.follow()
    #expect(try store.expire().isEmpty)
    store.now += 31 * 86_400_000
    #expect(try store.expire().first?.byCollection == ["songs": 1])
  }

  private func counts(_ store: MarkStore) throws {
    try store.mark("song", 1)
    _ = try store.follow()
    try store.bySQL("DELETE FROM song WHERE id IN (2, 3, 4)")
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.count("label") == 1)
    try store.bySQL("DELETE FROM song")
    #expect(try store.sweep().byCollection["labels"] == 1)
  }

  private func protected(_ store: MarkStore) throws {
    _ = try store.writer.protect(
      Protection.Request(Node("albums", .integer(1)), because: "case 7", by: "me", until: nil),
      at: store.now)
    #expect(throws: (any Error).self) { try store.mark("album", 1) }
    try store.mark("artist", 1)
    let job = try #require(try store.follow())
    #expect(job.byCollection == ["albums": 1, "songs": 1] && "\(job.blocked)".contains("case 7"))
  }

  private func killed(_ store: MarkStore) throws {
    try store.addSongs(300, to: 1)
    for steps in 1...6 {
      try store.mark("artist", 1)
      try store.followStopped(after: steps)
      #expect(try store.marked().count == 306)
      try store.unmark("artist", 1)
      try store.followStopped(after: steps)
      try store.followAll()
      #expect(try store.marked() == [])
    }
  }

  private func written(_ store: MarkStore) throws {
    try store.change(artist: 1, deletedAt: 5)
    #expect(try store.follow()?.byCollection == ["albums": 2, "songs": 3])
    try store.change(artist: 1, deletedAt: nil)
    try store.followAll()
    #expect(try store.marked() == [])
    try store.bySQL("INSERT INTO guard VALUES(1, 2)")
    let reasons = try store.reasons(marking: "albums", 2)
    #expect(reasons.map(\.code) == [.denied] && reasons[0].node == Node("albums", .integer(2)))
    _ = try store.writer.protect(
      Protection.Request(Node("albums", .integer(1)), because: "case 7", by: "me", until: nil),
      at: store.now)
    #expect(try store.reasons(marking: "albums", 1).map(\.code) == [.protected])
    #expect(try store.marked() == [])
  }

  private func told(_ store: MarkStore) throws {
    try store.bySQL("INSERT INTO fan VALUES(1, 1), (2, 2)")
    try store.mark("artist", 1)
    _ = try store.follow()
    let notices = try store.reader.notices(after: 0, limit: 9)
    #expect(notices.map(\.node) == [Node("fans", .integer(1))])
  }

  private func misfit(_ store: MarkStore) throws {
    try store.open(marks: "gone_at")
    #expect(try store.findings().contains { $0.contains("softDelete") && $0.contains("gone_at") })
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    #expect(try store.sweep().byCollection["albums"] == 2)
  }

  private func moved(_ store: MarkStore) throws {
    try store.mark("artist", 1)
    try store.bySQL("UPDATE album SET artist = 2 WHERE id = 1")
    #expect(try store.follow()?.byCollection == ["albums": 1, "songs": 1])
  }
}
