internal import CascadeModel
internal import CascadeStore
import Testing

/// What a store remembers beside the rows of the application, when their tables change: nothing of it is
/// lost, goes to another row, or has something deleted that nobody saw go.
///
/// Note a is about album 1, and note b about album 2, by stored edges with which they go. Label 1 is
/// that of cover 1.
package struct RememberedThings {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case edgeFollowsKey =
      "A stored edge follows a key that gets another type, and its rules work on"
    case undoneEdgeFollowsKey = "An undo brings a stored edge back to a key that got another type"
    case edgeLosesKey = "Where no row has a key's text any more, it is told, and nothing goes"
    case edgeFindsKey = "When a row has the key's text again, the stored edge leads to it"
    case leaseFollowsKey = "A lease holds its row when the key gets another type"
    case waitsWithKey = "What was held back goes when it should, also if its key got another type"
    case comesIntoNewTable =
      "Rows of a table that was renamed, and made anew under its name, come back into the new one"
    case isNotWrittenIntoAnother =
      "A reference does not come back into a row that went in a later batch, and was made anew"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    let store = try RememberingStore(engine)
    switch claim {
    case .edgeFollowsKey: try edgeFollowsKey(store)
    case .undoneEdgeFollowsKey: try undoneEdgeFollowsKey(store)
    case .edgeLosesKey: try edgeLosesKey(store)
    case .edgeFindsKey: try edgeFindsKey(store)
    case .leaseFollowsKey: try leaseFollowsKey(store)
    case .waitsWithKey: try waitsWithKey(store)
    case .comesIntoNewTable: try comesIntoNewTable(store)
    case .isNotWrittenIntoAnother: try isNotWrittenIntoAnother(store)
    }
  }

  // MARK: - Keys with another type

  private func edgeFollowsKey(_ store: RememberingStore) throws {
    try store.retype("id")
    #expect(try store.sweep([.all]).deletedCount == 0)
    #expect(try store.edges == ["a 1", "b 2"])
    try store.bySQL("DELETE FROM album WHERE id = '1'")
    #expect(try store.sweep().byCollection == ["notes": 1])
    try store.retypeBack()
    #expect(try store.sweep([.all]).deletedCount == 0)
    #expect(try store.edges == ["b 2"])
    try store.bySQL("DELETE FROM album WHERE id = 2")
    #expect(try store.sweep().byCollection == ["notes": 1])
  }

  private func undoneEdgeFollowsKey(_ store: RememberingStore) throws {
    try store.bySQL("DELETE FROM album WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    try store.retype("id")
    try store.bySQL("INSERT INTO album VALUES('1')")
    let undone = try store.undo(batch)
    #expect(undone.restored == 1 && undone.edges == 1 && undone.leftCount == 0)
    #expect(try store.edges == ["a 1", "b 2"])
    #expect(try store.sweep([.all]).deletedCount == 0)
    try store.bySQL("DELETE FROM album WHERE id = '1'")
    #expect(try store.sweep().byCollection == ["notes": 1])
  }

  private func edgeLosesKey(_ store: RememberingStore) throws {
    try store.retype("'x' || id")
    for _ in 0..<2 {
      #expect(try store.sweep([.all]).deletedCount == 0)
      #expect(try store.notes == ["a", "b"])
      try store.reopen()
    }
    let findings = try store.findings()
    #expect(findings.filter { $0.contains("notes/a") && $0.contains("albums/1") }.count == 1)
  }

  private func edgeFindsKey(_ store: RememberingStore) throws {
    try store.retype("'x' || id")
    try store.sweep([.all])
    try store.bySQL("INSERT INTO album VALUES('1')")
    try store.sweep([.all])
    #expect(try store.edges == ["a 1"])
    try store.bySQL("DELETE FROM album WHERE id = '1'")
    #expect(try store.sweep().byCollection == ["notes": 1])
    #expect(try store.notes == ["b"])
  }

  private func leaseFollowsKey(_ store: RememberingStore) throws {
    try store.bySQL("UPDATE song SET album = 1")
    try store.lease("1", in: "songs")
    try store.retypeSongs()
    try store.bySQL("DELETE FROM album WHERE id = 1")
    let result = try store.sweep()
    #expect(result.byCollection["songs"] == nil)
    #expect(try store.texts("SELECT id FROM song") == ["1"])
  }

  private func waitsWithKey(_ store: RememberingStore) throws {
    try store.bySQL("UPDATE song SET album = 1; INSERT INTO play VALUES(1, 1)")
    try store.bySQL("DELETE FROM album WHERE id = 1")
    #expect(try store.sweep().byCollection["songs"] == nil)
    try store.retypeSongs()
    try store.sweep([.all])
    #expect(try store.texts("SELECT id FROM song") == ["1"])
    try store.bySQL("DELETE FROM play")
    #expect(try store.sweep().byCollection == ["songs": 1])
  }

  // MARK: - Rows

  private func comesIntoNewTable(_ store: RememberingStore) throws {
    try store.bySQL("INSERT INTO album VALUES(3); UPDATE song SET album = 3")
    try store.bySQL("DELETE FROM album WHERE id = 3")
    let batch = try #require(try store.sweep().batch)
    try store.alter(
      "ALTER TABLE song RENAME TO old",
      "CREATE TABLE song(title TEXT, album INTEGER, id INTEGER PRIMARY KEY, stars INTEGER)",
      "DROP TABLE old")
    let undone = try store.undo(batch)
    #expect(undone.byCollection["songs"] == 1 && undone.left.isEmpty)
    #expect(try store.texts("SELECT title || ' ' || id FROM song") == ["one 1"])
  }

  private func isNotWrittenIntoAnother(_ store: RememberingStore) throws {
    try store.bySQL("DELETE FROM label WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    try store.bySQL("DELETE FROM disc WHERE id = 1")
    let later = try #require(try store.sweep().batch)
    #expect(try store.texts("SELECT id FROM cover") == [])
    try store.bySQL("INSERT INTO label VALUES(1); INSERT INTO cover VALUES(1, NULL, NULL)")
    let undone = try store.undo(batch)
    #expect(undone.references == 0 && undone.leftCount == 1)
    #expect(try store.texts("SELECT id FROM cover WHERE label IS NULL") == ["1"])
    // What an undo brings back is the row that lost it.
    try store.bySQL("DELETE FROM cover WHERE id = 1")
    try store.sweep()
    try store.undo(later)
    #expect(try store.undo(batch).references == 1)
    #expect(try store.texts("SELECT id FROM cover WHERE label = 1") == ["1"])
  }
}

private final class RememberingStore {
  private let store: any StoreUnderTest

  init(_ engine: any EngineUnderTest) throws {
    store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: {
            albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" },
            plays: { table: "play", key: "id" }, covers: { table: "cover", key: "id" },
            labels: { table: "label", key: "id" }, discs: { table: "disc", key: "id" }, notes: {} },
          relationships: [
            { name: "album", from: "songs", to: "albums", column: "album",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "of", from: "plays", to: "songs", column: "song",
              rules: ["denyDestinationDeletion"] },
            { name: "label", from: "covers", to: "labels", column: "label",
              rules: ["nullifySourceIfDestinationDeleted"] },
            { name: "disc", from: "covers", to: "discs", column: "disc",
              rules: ["deleteSourceIfDestinationDeleted"] }] }
        """),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, title TEXT);
        CREATE TABLE play(id INTEGER PRIMARY KEY, song INTEGER);
        CREATE TABLE cover(id INTEGER PRIMARY KEY, label INTEGER, disc INTEGER);
        CREATE TABLE label(id INTEGER PRIMARY KEY); CREATE TABLE disc(id INTEGER PRIMARY KEY);
        CREATE INDEX song_album ON song(album); CREATE INDEX play_song ON play(song);
        CREATE INDEX cover_label ON cover(label); CREATE INDEX cover_disc ON cover(disc);
        INSERT INTO album VALUES(1), (2); INSERT INTO song VALUES(1, NULL, 'one');
        INSERT INTO label VALUES(1); INSERT INTO disc VALUES(1); INSERT INTO cover VALUES(1, 1, 1);
        """)
    try sweep([.all])
    for (key, album) in [("a", Int64(1)), ("b", 2)] {
      let note = Node("notes", .text(key))
      try store.apply([
        .put(note, type: nil, value: nil, edges: nil),
        .link(
          name: "about", from: note, to: .node(Node("albums", .integer(album))),
          rules: .deleteSourceIfDestinationDeleted),
      ])
    }
  }

  // MARK: - The application

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }

  /// A statement at a time, each of which the daemon notices.
  func alter(_ statements: String...) throws {
    for statement in statements {
      try store.bySQL(statement)
      if statement.hasPrefix("CREATE TABLE song") { try store.allowDaemon(on: "song") }
      try store.followSchema()
    }
  }

  /// Makes the key of albums a text, which is this expression of what it was.
  func retype(_ key: String) throws {
    try migrate(
      "album", "CREATE TABLE new(id TEXT PRIMARY KEY)",
      "INSERT INTO new SELECT CAST(\(key) AS TEXT) FROM album", "DROP TABLE album",
      "ALTER TABLE new RENAME TO album")
  }

  func retypeBack() throws {
    try migrate(
      "album", "CREATE TABLE new(id INTEGER PRIMARY KEY)",
      "INSERT INTO new SELECT CAST(id AS INTEGER) FROM album", "DROP TABLE album",
      "ALTER TABLE new RENAME TO album")
  }

  func retypeSongs() throws {
    try migrate(
      "song", "CREATE TABLE new(id TEXT PRIMARY KEY, album INTEGER, title TEXT)",
      "INSERT INTO new SELECT CAST(id AS TEXT), album, title FROM song", "DROP TABLE song",
      "ALTER TABLE new RENAME TO song", "CREATE INDEX song_album ON song(album)",
      "CREATE TABLE new(id INTEGER PRIMARY KEY, song TEXT)",
      "INSERT INTO new SELECT id, CAST(song AS TEXT) FROM play", "DROP TABLE play",
      "ALTER TABLE new RENAME TO play", "CREATE INDEX play_song ON play(song)")
  }

  private func migrate(_ table: String, _ statements: String...) throws {
    try store.writer.set(OperatorPause(at: 1, user: 0, isForMigration: true))
    for statement in statements { try store.bySQL(statement) }
    for table in [table, "play"] { try store.allowDaemon(on: table) }
    try store.writer.set(nil)
    _ = try store.writer.attach(createIndexes: false)
  }

  func lease(_ key: String, in collection: String) throws {
    try store.lease(key, in: collection, until: Int64(99_000_000_000))
  }

  // MARK: - The daemon

  @discardableResult
  func sweep(_ kinds: [SweepKind] = [.cascade, .refcount]) throws -> SweepResult {
    try store.writer.sweep(kinds, at: 1)
  }

  @discardableResult
  func undo(_ batch: Int64) throws -> UndoResult { try store.writer.undo(batch, by: "me", at: 5) }

  func reopen() throws { try store.reopen() }

  func findings() throws -> [String] {
    try store.reader.checkReferences(limit: 100).list.map(\.message)
  }

  // MARK: - What is there

  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }

  var notes: [String] {
    get throws { try ["a", "b"].filter { try store.exists(Node("notes", .text($0))) } }
  }

  /// The keys of the ends of the stored edges that lead to an album.
  var edges: [String] {
    get throws {
      try store.edges().compactMap { edge in
        guard edge.name == "about", let to = edge.destination.node, try store.exists(to) else {
          return nil
        }
        return "\(edge.source.key.managedText ?? "") \(to.key.managedText ?? to.key.json.text)"
      }.sorted()
    }
  }
}
