internal import CascadeModel
internal import CascadeStore
import Testing

/// What each change of a table does to what is remembered of its rows. The guides have it as a table, of
/// which a test here holds each field.
///
/// Song 1 refers to album 1, with which it goes.
package struct SchemaChanges {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Change: String, CaseIterable, CustomTestStringConvertible {
    case added = "a column is added"
    case dropped = "a column is dropped"
    case renamed = "a column is renamed"
    case rebuilt = "the table is rebuilt in a migration"
    case retyped = "the key gets another type in a migration"
    case madeAnew = "the table is renamed, and made anew under its name"

    package var testDescription: String { rawValue }

    package var isMigration: Bool { self == .rebuilt || self == .retyped }
  }

  package enum Thing: String, CaseIterable, CustomTestStringConvertible {
    case kept = "rows in the trash"
    case edges = "stored edges"
    case leases = "leases"
    case heldBack = "what is held back"

    package var testDescription: String { rawValue }
  }

  /// The lines of the table, as Markdown. Files are beside the tables, and have tests of their own.
  package static var table: [String] {
    let things = Thing.allCases.map(\.rawValue) + ["files in the trash"]
    let rows = Change.allCases.map { change in
      [change.rawValue] + Thing.allCases.map { change.effect(on: $0) } + ["come back"]
    }
    return ([["when"] + things, things.map { _ in "---" } + ["---"]] + rows)
      .map { "| \($0.joined(separator: " | ")) |" }
  }

  package func expect(_ change: Change, _ thing: Thing) throws {
    let store = try SongStore(engine)
    switch thing {
    case .kept: try kept(store, change)
    case .edges: try edges(store, change)
    case .leases: try leases(store, change)
    case .heldBack: try heldBack(store, change)
    }
  }

  // MARK: - What is remembered

  private func kept(_ store: SongStore, _ change: Change) throws {
    try store.bySQL("DELETE FROM album WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    try store.change(change)
    let undone = try store.undo(batch)
    #expect(undone.byCollection == ["songs": 1] && undone.leftCount == 0)
    #expect(undone.remarks.isEmpty == (change != .dropped))
    let value = ["added": "stars", "dropped": "'-'", "renamed": "bytes"]["\(change)"] ?? "size"
    let found = try store.texts(
      "SELECT title || ' ' || \(value) FROM song WHERE id = \(change.key)")
    #expect(found == ["one \(["added": "3", "dropped": "-"]["\(change)"] ?? "11")"])
  }

  private func edges(_ store: SongStore, _ change: Change) throws {
    try store.link()
    try store.change(change)
    #expect(try store.sweep([.all]).deletedCount == 0)
    #expect(try store.hasLinkedSong)
    try store.bySQL("DELETE FROM song WHERE id = \(change.key)")
    #expect(try store.sweep().byCollection == ["notes": 1])
  }

  private func leases(_ store: SongStore, _ change: Change) throws {
    try store.lease()
    try store.change(change)
    try store.bySQL("DELETE FROM album WHERE id = 1")
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.texts("SELECT title FROM song") == ["one"])
    try store.release(change)
    #expect(try store.sweep([.all]).byCollection == ["songs": 1])
  }

  private func heldBack(_ store: SongStore, _ change: Change) throws {
    try store.bySQL("INSERT INTO play VALUES(1, 1); DELETE FROM album WHERE id = 1")
    #expect(try store.sweep().deletedCount == 0)
    try store.change(change)
    #expect(try store.sweep([.all]).deletedCount == 0)
    #expect(try store.texts("SELECT title FROM song") == ["one"])
    try store.bySQL("DELETE FROM play")
    #expect(try store.sweep().byCollection == ["songs": 1])
  }
}

extension SchemaChanges.Change {
  /// In the words of the guides.
  fileprivate func effect(on thing: SchemaChanges.Thing) -> String {
    switch (thing, self) {
    case (.kept, .added): "come back, with its default in the new column"
    case (.kept, .dropped): "come back without its value, which is told"
    case (.kept, .renamed): "come back, with its value in the column of the new name"
    case (.kept, .rebuilt): "come back by the names of the columns"
    case (.kept, .retyped): "come back if their values can be of the new types"
    case (.kept, .madeAnew): "come back into the new table, by the names of the columns"
    case (.edges, .retyped): "lead to the row whose key has the same text; without one they wait"
    case (.edges, _): "stay"
    case (.leases, _): "hold"
    case (.heldBack, _): "goes when it should"
    }
  }

  /// The key of the song, as SQL.
  package var key: String { self == .retyped ? "'1'" : "1" }

  /// Statements that change a table `song` with a key, and columns that are described like that. The last
  /// one of these is that which is dropped, or gets another name.
  package func statements(_ columns: [(name: String, type: String)]) -> [String] {
    let (names, last) = (
      columns.map(\.name).joined(separator: ", "), columns[columns.count - 1].name
    )
    let others = columns.reversed().map { "\($0.name) \($0.type)" }.joined(separator: ", ")
    func copy(_ new: String, _ key: String, _ old: String) -> String {
      "CREATE TABLE \(new)(\(others), id \(key) PRIMARY KEY); "
        + "INSERT INTO \(new)(id, \(names)) SELECT id, \(names) FROM \(old)"
    }
    switch self {
    case .added: return ["ALTER TABLE song ADD COLUMN stars INTEGER DEFAULT 3"]
    case .dropped: return ["ALTER TABLE song DROP COLUMN \(last)"]
    case .renamed: return ["ALTER TABLE song RENAME COLUMN \(last) TO bytes"]
    case .rebuilt, .retyped:
      let key = self == .retyped ? "TEXT" : "INTEGER"
      return [copy("new", key, "song"), "DROP TABLE song", "ALTER TABLE new RENAME TO song"]
    case .madeAnew:
      return [
        "ALTER TABLE song RENAME TO old", "BEGIN; \(copy("song", "INTEGER", "old")); COMMIT",
        "DROP TABLE old",
      ]
    }
  }
}

private final class SongStore {
  private static let note = Node("notes", .text("n"))
  private let store: any StoreUnderTest

  init(_ engine: any EngineUnderTest) throws {
    store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: {
            albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" },
            plays: { table: "play", key: "id" }, notes: {} },
          relationships: [
            { name: "album", from: "songs", to: "albums", column: "album",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "of", from: "plays", to: "songs", column: "song",
              rules: ["denyDestinationDeletion"] }] }
        """),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, title TEXT, size INTEGER);
        CREATE TABLE play(id INTEGER PRIMARY KEY, song INTEGER);
        CREATE INDEX song_album ON song(album); CREATE INDEX play_song ON play(song);
        INSERT INTO album VALUES(1); INSERT INTO song VALUES(1, 1, 'one', 11);
        """)
    try sweep([.all])
  }

  /// A migration gives references the type of their keys.
  private static let retypedPlays = [
    "CREATE TABLE plays(id INTEGER PRIMARY KEY, song TEXT); "
      + "INSERT INTO plays SELECT id, CAST(song AS TEXT) FROM play",
    "DROP TABLE play", "ALTER TABLE plays RENAME TO play",
  ]

  func change(_ change: SchemaChanges.Change) throws {
    let statements = change.statements([
      ("album", "INTEGER"), ("title", "TEXT"), ("size", "INTEGER"),
    ])
    if change.isMigration {
      try store.writer.set(OperatorPause(at: 1, user: 0, isForMigration: true))
    }
    for statement in statements + (change == .retyped ? SongStore.retypedPlays : []) {
      try store.bySQL(statement)
      if statement.contains("TABLE song(") || statement.hasSuffix("TO song") {
        try store.allowDaemon(on: "song")
      }
      if !change.isMigration { try store.followSchema() }
    }
    if change == .retyped { try store.allowDaemon(on: "play") }
    if change.isMigration { try store.writer.set(nil) }
    _ = try store.writer.attach(createIndexes: true)
  }

  func link() throws {
    try store.apply([
      .put(SongStore.note, type: nil, value: nil, edges: nil),
      .link(
        name: "about", from: SongStore.note, to: .node(Node("songs", .integer(1))),
        rules: .deleteSourceIfDestinationDeleted),
    ])
  }

  var hasLinkedSong: Bool {
    get throws {
      let edges = try store.edges().filter { $0.name == "about" }
      let song = try edges.first?.destination.node.map { try store.exists($0) }
      return try edges.count == 1 && song == true && store.exists(SongStore.note)
    }
  }

  func lease() throws { try store.lease("1", in: "songs", until: Int64(99_000_000_000)) }

  func release(_ change: SchemaChanges.Change) throws {
    let key: Key = change == .retyped ? .text("1") : .integer(1)
    _ = try store.writer.release([.node(Node("songs", key))], owner: nil)
  }

  @discardableResult
  func sweep(_ kinds: [SweepKind] = [.cascade, .refcount]) throws -> SweepResult {
    try store.writer.sweep(kinds, at: 1)
  }

  func undo(_ batch: Int64) throws -> UndoResult { try store.writer.undo(batch, by: "me", at: 5) }

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }

  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }
}
