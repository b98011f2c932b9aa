internal import CascadeModel
internal import CascadeStore
import Testing

/// What an undo brings back when the tables have changed since: no value ever comes into another column
/// than its own, what does not come back stays in the batch, and one bad row costs itself.
package struct ChangedTables {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case added = "A column that was added since gets its default"
    case dropped = "The value of a column that was dropped since is left out, and told"
    case replaced = "A column that was dropped and added again under its name is another one"
    case renamed = "A value comes back into its column, whatever that is called now"
    case swapped = "Where two columns changed names, no value comes into the other one"
    case rebuilt = "In a table that was made anew in another order, names decide"
    case rebuiltAndSwapped =
      "In a table that was made anew, a value comes into its column, whatever that is called later"
    case retyped = "A value that does not fit its new type is left out, and told"
    case needed = "A row that cannot be without a value stays in the batch, and comes back later"
    case refused = "A row that a new constraint refuses costs itself, and comes back later"
    case remade = "A reference comes back into the very row that lost it, and into no other"
    case joined = "Join rows come back into their columns, whatever these are called now"
    case remapped =
      "What was kept of a table that the model does not name any more stays in the batch"
    case rekeyed = "Where the model names another key, rows come back whole"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    let store = try ChangedStore(engine)
    switch claim {
    case .added: try added(store)
    case .dropped: try dropped(store)
    case .replaced: try replaced(store)
    case .renamed: try renamed(store)
    case .swapped: try swapped(store)
    case .rebuilt: try rebuilt(store)
    case .rebuiltAndSwapped: try rebuiltAndSwapped(store)
    case .retyped: try retyped(store)
    case .needed: try needed(store)
    case .refused: try refused(store)
    case .remade: try remade(store)
    case .joined: try joined(store)
    case .remapped: try remapped(store)
    case .rekeyed: try rekeyed(store)
    }
  }

  private func added(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.alter("ALTER TABLE song ADD COLUMN stars INTEGER DEFAULT 3")
    let undone = try store.undo(batch)
    #expect(undone.byCollection == ["songs": 3] && undone.left.isEmpty)
    #expect(try store.songs("stars") == ["1 one 11 3", "2 two 22 3", "3 three 33 3"])
  }

  private func dropped(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.alter("ALTER TABLE song DROP COLUMN size")
    let undone = try store.undo(batch)
    #expect(undone.byCollection == ["songs": 3] && undone.left.isEmpty)
    #expect(undone.remarks.count == 1 && undone.remarks.first?.contains("size") == true)
    #expect(try store.texts("SELECT title FROM song ORDER BY id") == ["one", "two", "three"])
  }

  private func replaced(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.alter(
      "ALTER TABLE song DROP COLUMN size", "ALTER TABLE song ADD COLUMN size INTEGER DEFAULT 0")
    let undone = try store.undo(batch)
    #expect(undone.byCollection == ["songs": 3])
    #expect(undone.remarks.count == 1)
    #expect(try store.songs() == ["1 one 0", "2 two 0", "3 three 0"])
  }

  private func renamed(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.alter("ALTER TABLE song RENAME COLUMN size TO bytes")
    let undone = try store.undo(batch)
    #expect(undone.byCollection == ["songs": 3] && undone.remarks.isEmpty)
    let sizes = try store.texts("SELECT CAST(bytes AS TEXT) FROM song ORDER BY id")
    #expect(sizes == ["11", "22", "33"])
  }

  private func swapped(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.alter(
      "ALTER TABLE song RENAME COLUMN size TO x", "ALTER TABLE song RENAME COLUMN bitrate TO size",
      "ALTER TABLE song RENAME COLUMN x TO bitrate")
    _ = try store.undo(batch)
    let values = try store.texts(
      "SELECT size || ' ' || bitrate FROM song WHERE size IS NOT NULL ORDER BY id")
    #expect(values == [] || values == ["101 11", "102 22", "103 33"])
  }

  private func rebuilt(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.migrate(
      "DROP TABLE song",
      "CREATE TABLE song(bitrate INTEGER, size INTEGER, album INTEGER, id INTEGER PRIMARY KEY, title TEXT)",
      "CREATE INDEX song_album ON song(album)")
    let undone = try store.undo(batch)
    #expect(undone.byCollection == ["songs": 3] && undone.remarks.isEmpty)
    #expect(try store.songs("bitrate") == ["1 one 11 101", "2 two 22 102", "3 three 33 103"])
  }

  private func rebuiltAndSwapped(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.migrate(
      "DROP TABLE song",
      "CREATE TABLE song(bitrate INTEGER, size INTEGER, album INTEGER, id INTEGER PRIMARY KEY, title TEXT)",
      "CREATE INDEX song_album ON song(album)")
    try store.alter(
      "ALTER TABLE song RENAME COLUMN size TO x", "ALTER TABLE song RENAME COLUMN bitrate TO size",
      "ALTER TABLE song RENAME COLUMN x TO bitrate")
    _ = try store.undo(batch)
    let values = try store.texts(
      "SELECT size || ' ' || bitrate FROM song WHERE size IS NOT NULL ORDER BY id")
    #expect(values == [] || values == ["101 11", "102 22", "103 33"])
  }

  private func retyped(_ store: ChangedStore) throws {
    try store.bySQL("UPDATE song SET title = '2' WHERE id = 2")
    let batch = try store.delete()
    try store.migrate(
      "DROP TABLE song",
      "CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, title INTEGER, size INTEGER, bitrate INTEGER)",
      "CREATE INDEX song_album ON song(album)")
    let undone = try store.undo(batch)
    #expect(undone.byCollection == ["songs": 3])
    #expect(undone.remarks.count == 1 && undone.remarks.first?.contains("title") == true)
    #expect(
      try store.texts("SELECT coalesce(CAST(title AS TEXT), '-') FROM song ORDER BY id")
        == ["-", "2", "-"])
  }

  private func needed(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.migrate(
      "DROP TABLE song",
      "CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, title TEXT, size INTEGER, "
        + "bitrate INTEGER, genre TEXT NOT NULL)",
      "CREATE INDEX song_album ON song(album)")
    let undone = try store.undo(batch)
    #expect(undone.restored == 0 && undone.leftCount == 3)
    #expect(undone.left.first?.reason.contains("genre") == true)
    try store.migrate(
      "DROP TABLE song",
      "CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, title TEXT, size INTEGER, "
        + "bitrate INTEGER, genre TEXT NOT NULL DEFAULT 'jazz')",
      "CREATE INDEX song_album ON song(album)")
    #expect(try store.undo(batch).byCollection == ["songs": 3])
    #expect(try store.songs("genre") == ["1 one 11 jazz", "2 two 22 jazz", "3 three 33 jazz"])
  }

  private func refused(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.migrate(
      "DROP TABLE song",
      "CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, title TEXT, size INTEGER CHECK(size <> 22), "
        + "bitrate INTEGER)",
      "CREATE INDEX song_album ON song(album)")
    let undone = try store.undo(batch)
    #expect(undone.byCollection == ["songs": 2])
    #expect(undone.left.map(\.node) == [Node("songs", .integer(2))])
    try store.migrate(
      "ALTER TABLE song RENAME TO old",
      "CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, title TEXT, size INTEGER, bitrate INTEGER)",
      "INSERT INTO song SELECT * FROM old", "DROP TABLE old",
      "CREATE INDEX song_album ON song(album)")
    let rest = try store.undo(batch)
    #expect(rest.byCollection == ["songs": 1] && rest.left.isEmpty)
    #expect(try store.songs() == ["1 one 11", "2 two 22", "3 three 33"])
  }

  private func remade(_ store: ChangedStore) throws {
    try store.bySQL("DELETE FROM label WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    try store.bySQL("DELETE FROM cover WHERE id = 1")
    try store.bySQL("INSERT INTO cover VALUES(1, NULL)")
    try store.bySQL("INSERT INTO label VALUES(1)")
    let undone = try store.undo(batch)
    #expect(undone.references == 1)
    let covers = "SELECT CAST(id AS TEXT) FROM cover WHERE label = 1 ORDER BY id"
    #expect(try store.texts(covers) == ["2"])
  }

  private func joined(_ store: ChangedStore) throws {
    try store.bySQL("INSERT INTO st VALUES(3, 4, 'n', 'e'); DELETE FROM song WHERE id = 3")
    let batch = try #require(try store.sweep().batch)
    try store.alter(
      "ALTER TABLE st RENAME COLUMN note TO x", "ALTER TABLE st RENAME COLUMN extra TO note",
      "ALTER TABLE st RENAME COLUMN x TO extra")
    try store.bySQL("INSERT INTO song(id) VALUES(3)")
    _ = try store.undo(batch)
    let rows = try store.texts(
      "SELECT song || ' ' || tag || ' ' || note || ' ' || extra FROM st WHERE note IS NOT NULL")
    #expect(rows == ["3 4 e n"] || rows == [])
  }

  private func remapped(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.bySQL(
      "CREATE TABLE track(id INTEGER PRIMARY KEY, album INTEGER, title TEXT, size INTEGER, bitrate INTEGER)"
    )
    try store.map(songsTo: "track")
    let undone = try store.undo(batch)
    #expect(undone.restored == 0 && undone.leftCount == 3)
    #expect(try store.songs() == [] && store.texts("SELECT title FROM track") == [])
    try store.map(songsTo: "song")
    #expect(try store.undo(batch).byCollection == ["songs": 3])
    #expect(try store.songs() == ["1 one 11", "2 two 22", "3 three 33"])
  }

  private func rekeyed(_ store: ChangedStore) throws {
    let batch = try store.delete()
    try store.bySQL("CREATE UNIQUE INDEX song_size ON song(size)")
    try store.map(songsTo: "song", by: "size")
    let undone = try store.undo(batch)
    #expect(undone.byCollection == ["songs": 3])
    #expect(try store.songs() == ["1 one 11", "2 two 22", "3 three 33"])
  }
}

/// Album 1 has songs 1 to 3. Label 1 is that of covers 1 and 2.
private final class ChangedStore {
  private let store: any StoreUnderTest

  init(_ engine: any EngineUnderTest) throws {
    store = try engine.makeStore(
      model: StoreModel(ChangedStore.model(songs: "song", key: "id")),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, title TEXT, size INTEGER,
          bitrate INTEGER);
        CREATE TABLE tag(id INTEGER PRIMARY KEY);
        CREATE TABLE st(song INTEGER, tag INTEGER, note TEXT, extra TEXT);
        CREATE TABLE cover(id INTEGER PRIMARY KEY, label INTEGER);
        CREATE TABLE label(id INTEGER PRIMARY KEY);
        CREATE INDEX song_album ON song(album); CREATE INDEX cover_label ON cover(label);
        CREATE INDEX st_song ON st(song); CREATE INDEX st_tag ON st(tag);
        INSERT INTO album VALUES(1);
        INSERT INTO song VALUES(1, 1, 'one', 11, 101), (2, 1, 'two', 22, 102), (3, 1, 'three', 33, 103);
        INSERT INTO tag VALUES(3), (4);
        INSERT INTO label VALUES(1); INSERT INTO cover VALUES(1, 1), (2, 1);
        """)
    _ = try store.writer.sweep([.all], at: 1)
  }

  private static func model(songs: String, key: String) -> String {
    """
    { collections: {
        albums: { table: "album", key: "id" }, songs: { table: "\(songs)", key: "\(key)" },
        tags: { table: "tag", key: "id" },
        covers: { table: "cover", key: "id" }, labels: { table: "label", key: "id" } },
      relationships: [
        { name: "album", from: "songs", to: "albums", column: "album",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "tags", from: "songs", to: "tags",
          join: { table: "st", source: "song", destination: "tag" }, toMany: true },
        { name: "label", from: "covers", to: "labels", column: "label",
          rules: ["nullifySourceIfDestinationDeleted"] }] }
    """
  }

  func map(songsTo table: String, by key: String = "id") throws {
    if table != "song" { try store.allowDaemon(on: table) }
    try store.reopen(with: StoreModel(ChangedStore.model(songs: table, key: key)))
  }

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }

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
    try store.allowDaemon(on: "song")
    try store.writer.set(nil)
    _ = try store.writer.attach(createIndexes: false)
  }

  func sweep() throws -> SweepResult { try store.writer.sweep([.cascade, .refcount], at: 1) }

  /// Deletes the album, and so the songs. Returns the batch.
  func delete() throws -> Int64 {
    try bySQL("DELETE FROM album WHERE id = 1")
    return try #require(try sweep().batch)
  }

  func undo(_ batch: Int64) throws -> UndoResult { try store.writer.undo(batch, by: "me", at: 5) }

  /// Each song with its title, size, and what else is wanted.
  func songs(_ more: String? = nil) throws -> [String] {
    let more = more.map { " || ' ' || \($0)" } ?? ""
    return try texts("SELECT id || ' ' || title || ' ' || size\(more) FROM song ORDER BY id")
  }

  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }
}
