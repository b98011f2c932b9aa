internal import CascadeModel
internal import CascadeStore
import Testing

/// Memory is by identity, and not by name: what is remembered of collections and relationships stays true
/// when the model, the tables or the columns are called otherwise.
package struct RenamedParts {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case lease = "A lease holds its row when the collection has another name"
    case lost = "What was lost counts, by whatever name"
    case heldBack = "What a lease held back goes when it ends, by whatever name it was lost"
    case undoCollection = "Rows come back when their collection has another name"
    case undoRelationship = "References and join rows come back by another name"
    case undoJoinTable = "Join rows come back when their table has another name"
    case undoColumn = "A reference comes back into its column, whatever that is called"
    case undoRemoved = "What the model has no place for stays in the batch, and comes back later"
    case edges = "Stored edges of a collection with another name are kept, and their rules run"
    case edgesOfObjects = "Objects are kept where the model says what they were called"
    case edgesByName = "Stored edges are kept where the model says what they were called"
    case swapped = "Two collections may swap their names, and keep what is remembered of them"
    case missing = "A sweep tells that a table does not fit the model"
    case removed = "A collection with stored edges that the model lacks is told"
    case nullified = "A batch that only nullified is listed"
    case retyped = "A stored edge to a key that gets another type leads to it still"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    let store = try RenamedStore(engine)
    switch claim {
    case .lease: try lease(store)
    case .lost: try lost(store)
    case .heldBack: try heldBack(store)
    case .undoCollection: try undoCollection(store)
    case .undoRelationship: try undoRelationship(store)
    case .undoJoinTable: try undoJoinTable(store)
    case .undoColumn: try undoColumn(store)
    case .undoRemoved: try undoRemoved(store)
    case .edges: try edges(store)
    case .edgesOfObjects: try edgesOfObjects(store)
    case .edgesByName: try edgesByName(store)
    case .swapped: try swapped(store)
    case .missing: try missing(store)
    case .removed: try removed(store)
    case .nullified: try nullified(store)
    case .retyped: try retyped(store)
    }
  }

  private func lease(_ store: RenamedStore) throws {
    try store.lease("5", in: "tags")
    try store.rename { $0.tags = "labels" }
    try store.bySQL("DELETE FROM st")
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.texts("SELECT CAST(id AS TEXT) FROM tag") == ["5"])
  }

  private func lost(_ store: RenamedStore) throws {
    try store.bySQL("DELETE FROM st")
    try store.rename { $0.st = "labelled" }
    #expect(try store.sweep().byCollection == ["tags": 1])
  }

  private func heldBack(_ store: RenamedStore) throws {
    try store.lease("5", in: "tags")
    try store.bySQL("DELETE FROM st")
    #expect(try store.sweep().deletedCount == 0)
    try store.rename { $0.st = "labelled" }
    try store.endLease(5, in: "tags")
    #expect(try store.sweep().byCollection == ["tags": 1])
  }

  // MARK: - Undo

  private func undoCollection(_ store: RenamedStore) throws {
    let batch = try store.deleteAlbum()
    try store.rename { $0.songs = "tracks" }
    let undone = try store.undo(batch)
    #expect(undone.byCollection["tracks"] == 2 && undone.left.isEmpty)
    #expect(try store.songs() == ["1", "2"])
  }

  private func undoRelationship(_ store: RenamedStore) throws {
    let batch = try store.deleteLabelAndSong()
    try store.rename { ($0.label, $0.st) = ("mark", "markers") }
    try store.bySQL("INSERT INTO label VALUES(1); INSERT INTO song VALUES(1, NULL)")
    let undone = try store.undo(batch)
    #expect(undone.references == 1 && undone.rows == 1 && undone.left.isEmpty)
  }

  private func undoJoinTable(_ store: RenamedStore) throws {
    let batch = try store.deleteLabelAndSong()
    try store.alter("ALTER TABLE st RENAME TO song_tag")
    try store.rename { $0.joinTable = "song_tag" }
    try store.bySQL("INSERT INTO song VALUES(1, NULL)")
    let undone = try store.undo(batch)
    #expect(undone.rows == 1 && undone.left.map(\.what) == ["the references of covers/1"])
    #expect(try store.texts("SELECT CAST(tag AS TEXT) FROM song_tag WHERE song = 1") == ["5"])
  }

  private func undoColumn(_ store: RenamedStore) throws {
    let batch = try store.deleteLabelAndSong()
    try store.alter("ALTER TABLE cover RENAME COLUMN label TO mark")
    try store.rename { $0.labelColumn = "mark" }
    try store.bySQL("INSERT INTO label VALUES(1); INSERT INTO song VALUES(1, NULL)")
    let undone = try store.undo(batch)
    #expect(undone.references == 1 && undone.left.isEmpty)
    #expect(try store.texts("SELECT CAST(mark AS TEXT) FROM cover WHERE id = 1") == ["1"])
  }

  private func undoRemoved(_ store: RenamedStore) throws {
    let batch = try store.deleteAlbum()
    try store.rename { $0.hasSongs = false }
    let undone = try store.undo(batch)
    // An engine may still know the table.
    if undone.byCollection["songs"] == nil {
      #expect(undone.leftCount >= 2)
      try store.rename { $0.hasSongs = true }
      #expect(try store.undo(batch).byCollection["songs"] == 2)
    }
    #expect(try store.songs() == ["1", "2"])
  }

  // MARK: - Stored edges

  private func edges(_ store: RenamedStore) throws {
    try store.addNote("n", about: 1)
    try store.rename { $0.songs = "tracks" }
    #expect(try store.destinations(of: "about") == [Node("tracks", .integer(1))])
    try store.bySQL("DELETE FROM song WHERE id = 1")
    #expect(try store.sweep().byCollection["notes"] == 1)
  }

  private func edgesOfObjects(_ store: RenamedStore) throws {
    try store.addNote("n", about: 1)
    try store.rename { ($0.notes, $0.notesWere) = ("memos", "notes") }
    #expect(try store.destinations(of: "about") == [Node("songs", .integer(1))])
    try store.bySQL("DELETE FROM song WHERE id = 1")
    #expect(try store.sweep().byCollection["memos"] == 1)
  }

  private func edgesByName(_ store: RenamedStore) throws {
    try store.addNote("n", about: 1)
    try store.rename { ($0.about, $0.aboutWas) = ("subject", "about") }
    #expect(try store.destinations(of: "subject") == [Node("songs", .integer(1))])
    try store.bySQL("DELETE FROM song WHERE id = 1")
    #expect(try store.sweep().byCollection["notes"] == 1)
  }

  private func swapped(_ store: RenamedStore) throws {
    try store.addNote("n", about: 1)
    let batch = try store.deleteAlbum()
    try store.rename { ($0.songs, $0.albums) = ("albums", "songs") }
    let undone = try store.undo(batch)
    #expect(undone.byCollection["albums"] == 2 && undone.left.isEmpty)
    #expect(try store.songs() == ["1", "2"])
    #expect(try store.destinations(of: "about") == [Node("albums", .integer(1))])
    try store.rename { ($0.songs, $0.albums) = ("songs", "albums") }
    try store.bySQL("INSERT INTO album VALUES(1)")
    _ = try store.sweep()
    #expect(try store.deleteAlbum() > batch)
  }

  // MARK: - What is told

  private func missing(_ store: RenamedStore) throws {
    try store.alter("ALTER TABLE album RENAME TO record")
    let swept = try store.sweep()
    #expect(swept.outcome == .blocked && !swept.blocked.isEmpty && !store.problems.isEmpty)
  }

  private func removed(_ store: RenamedStore) throws {
    try store.addNote("n", about: 1)
    try store.rename { $0.hasSongs = false }
    #expect(store.problems.contains { $0.contains("\"songs\" was a table") })
    try store.rename { $0.hasSongs = true }
    #expect(store.problems.isEmpty)
    #expect(try store.destinations(of: "about") == [Node("songs", .integer(1))])
  }

  private func nullified(_ store: RenamedStore) throws {
    try store.bySQL("DELETE FROM label WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    #expect(try store.batches() == [batch])
    try store.bySQL("INSERT INTO label VALUES(1)")
    #expect(try store.undo(batch).references == 1)
  }

  private func retyped(_ store: RenamedStore) throws {
    try store.addNote("n", about: 1)
    try store.migrate(
      "ALTER TABLE song RENAME TO old", "CREATE TABLE song(id TEXT PRIMARY KEY, album INTEGER)",
      "INSERT INTO song SELECT CAST(id AS TEXT), album FROM old", "DROP TABLE old",
      "CREATE INDEX song_by_album ON song(album)", "DROP TABLE st",
      "CREATE TABLE st(song TEXT, tag INTEGER)", "CREATE INDEX st_by_song ON st(song)",
      "CREATE INDEX st_by_tag ON st(tag)")
    _ = try store.sweep([.all])
    #expect(try store.destinations(of: "about") == [Node("songs", .text("1"))])
    #expect(store.problems.isEmpty)
    try store.bySQL("DELETE FROM song WHERE id = '1'")
    #expect(try store.sweep().byCollection["notes"] == 1)
  }
}

/// Songs 1 and 2 are on album 1, and song 1 has tag 5. Cover 1 has label 1.
private final class RenamedStore {
  private let store: any StoreUnderTest
  private var names = Names()

  struct Names {
    var songs = "songs"
    var albums = "albums"
    var tags = "tags"
    var notes = "notes"
    var notesWere: String?
    var label = "label"
    var labelColumn = "label"
    var st = "st"
    var joinTable = "st"
    var about = "about"
    var aboutWas: String?
    var hasSongs = true
  }

  init(_ engine: any EngineUnderTest) throws {
    store = try engine.makeStore(
      model: StoreModel(RenamedStore.model(Names())),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER);
        CREATE TABLE tag(id INTEGER PRIMARY KEY);
        CREATE TABLE st(song INTEGER, tag INTEGER);
        CREATE TABLE label(id INTEGER PRIMARY KEY);
        CREATE TABLE cover(id INTEGER PRIMARY KEY, label INTEGER);
        CREATE INDEX song_album ON song(album); CREATE INDEX cover_label ON cover(label);
        CREATE INDEX st_song ON st(song); CREATE INDEX st_tag ON st(tag);
        INSERT INTO album VALUES(1); INSERT INTO song VALUES(1, 1), (2, 1);
        INSERT INTO tag VALUES(5); INSERT INTO st VALUES(1, 5);
        INSERT INTO label VALUES(1); INSERT INTO cover VALUES(1, 1);
        """)
    _ = try store.writer.sweep([.all], at: 1)
  }

  private static func model(_ names: Names) -> String {
    let was = names.notesWere.map { "was: '\($0)'" } ?? ""
    let aboutWas = names.aboutWas.map { "was: '\($0)', " } ?? ""
    let ofSongs = """
      { name: 'album', from: '\(names.songs)', to: '\(names.albums)', column: 'album',
        rules: ['deleteSourceIfDestinationDeleted'] },
      { name: '\(names.st)', from: '\(names.songs)', to: '\(names.tags)',
        join: { table: '\(names.joinTable)', source: 'song', destination: 'tag' },
        rules: ['deleteDestinationIfAllSourcesDeleted'] },
      { name: '\(names.about)', \(aboutWas)from: '\(names.notes)', to: '\(names.songs)',
        toMany: true, rules: ['deleteSourceIfDestinationDeleted'] },
      """
    return """
      { collections: {
          \(names.hasSongs ? "\(names.songs): { table: 'song', key: 'id' }," : "")
          \(names.albums): { table: 'album', key: 'id' },
          \(names.tags): { table: 'tag', key: 'id' }, labels_: { table: 'label', key: 'id' },
          covers: { table: 'cover', key: 'id' }, \(names.notes): { \(was) } },
        relationships: [
          \(names.hasSongs ? ofSongs : "")
          { name: '\(names.label)', from: 'covers', to: 'labels_', column: '\(names.labelColumn)',
            rules: ['nullifySourceIfDestinationDeleted'] }] }
      """
  }

  /// The model with other names, as of a reload.
  func rename(_ change: (inout Names) -> Void) throws {
    change(&names)
    try store.reopen(with: StoreModel(RenamedStore.model(names)))
  }

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }
  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }
  func songs() throws -> [String] { try texts("SELECT CAST(id AS TEXT) FROM song ORDER BY id") }
  func undo(_ batch: Int64) throws -> UndoResult { try store.writer.undo(batch, by: "me", at: 5) }
  func lease(_ key: String, in collection: String) throws {
    try store.lease("'\(key)'", in: collection, until: 90_000_000_000)
  }
  func endLease(_ key: Int64, in collection: String) throws {
    _ = try store.writer.release([.node(Node(collection, .integer(key)))], owner: "test")
  }
  var problems: [String] { store.writer.bindingProblems.map(\.description) }

  func sweep(_ kinds: [SweepKind] = [.cascade, .refcount]) throws -> SweepResult {
    try store.writer.sweep(kinds, at: 1)
  }

  func batches() throws -> [Int64] {
    try store.reader.batches(after: 0, limit: 10).map(\.batch)
  }

  func destinations(of name: String) throws -> [Node] {
    try store.edges().filter { $0.name == name }.compactMap(\.destination.node)
  }

  func addNote(_ key: String, about song: Int64) throws {
    try store.apply([
      .put(Node(names.notes, .text(key)), type: nil, value: nil, edges: nil),
      .link(
        name: names.about, from: Node(names.notes, .text(key)),
        to: .node(Node(names.songs, .integer(song))), rules: nil),
    ])
  }

  /// Deletes the album, and so the songs. Returns the batch.
  func deleteAlbum() throws -> Int64 {
    try bySQL("DELETE FROM album WHERE id = 1")
    return try #require(try sweep().batch)
  }

  /// One batch that nullifies a reference and removes a join row. The tag stays, because a lease holds it.
  func deleteLabelAndSong() throws -> Int64 {
    try lease("5", in: names.tags)
    try bySQL("DELETE FROM label WHERE id = 1; DELETE FROM song WHERE id = 1")
    return try #require(try sweep().batch)
  }

  /// A statement at a time, each of which the daemon notices.
  func alter(_ statements: String...) throws {
    for statement in statements {
      try store.bySQL(statement)
      try store.followSchema()
    }
  }

  func migrate(_ statements: String...) throws {
    try store.writer.set(OperatorPause(at: 1, user: 0, isForMigration: true))
    for statement in statements { try store.bySQL(statement) }
    for table in ["song", "st"] { try store.allowDaemon(on: table) }
    try store.writer.set(nil)
    _ = try store.writer.attach(createIndexes: false)
  }
}
