import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteBinding
import SQLiteTables
import Testing
import SQLiteJournal
import SQLiteEdges

/// Attaching, detaching, and what the application does to its schema meanwhile.
@Suite("Attach and detach")
struct AttachTests {
  private static let model = JournalTriggerTests.model
  private static let tables = JournalTriggerTests.tables

  private func store(_ model: String = model, _ tables: String = tables) throws -> TestStore {
    try TestStore(model: StoreModel(model), schema: tables)
  }

  /// An empty transaction of the daemon's: it looks at the schema.
  private func look(_ store: TestStore) throws { try store.writer.group {} }

  private func triggers(_ store: TestStore) throws -> [String] {
    try store.schema().filter { $0.hasPrefix("trigger | cascade_") }
  }

  @Test("The first attach says that nobody watched before; the next one makes nothing")
  func twice() throws {
    let store = try store()
    let report = try store.writer.attach(createIndexes: false)
    #expect(report.collections == ["albums", "songs"])
    #expect(report.triggersMade == [])
    #expect(report.hasFirstWatch)
    #expect(!report.hasWatchGap)
    #expect(report.missingIndexes.map(\.description) == ["song(album_id)"])
    let schema = try store.schema()
    _ = try Writer(path: store.path, model: StoreModel(AttachTests.model))
    #expect(try store.schema() == schema)
    #expect(try store.meta("watch_gap") == nil)
  }

  @Test(
    "An index that has the type, too, is enough for a polymorphic reference",
    arguments: ["about, kind", "kind, about", "about"])
  func typedIndex(columns: String) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { books: { table: 'book', key: 'id' }, notes: { table: 'note', key: 'id' } },
          relationships: [ { name: 'about', from: 'notes', column: 'about', typeColumn: 'kind',
            to: { Book: 'books' }, rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE book(id INTEGER PRIMARY KEY);
        CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT, about INTEGER, kind TEXT);
        CREATE INDEX note_text ON note(text, about);
        """)
    let report = try store.writer.attach(createIndexes: false)
    #expect(report.missingIndexes.map(\.description) == ["note(about)"])
    try store.bySQL("CREATE INDEX note_about ON note(\(columns))")
    #expect(try store.writer.attach(createIndexes: false).missingIndexes == [])
  }

  @Test("Indexes are made where they are asked for, once")
  func indexes() throws {
    let store = try store()
    let report = try store.writer.attach(createIndexes: true)
    #expect(report.indexesMade == ["cascade_index_song(album_id)"])
    #expect(report.missingIndexes == [])
    #expect(try store.writer.attach(createIndexes: true).indexesMade == [])
  }

  @Test("Detach leaves the schema as it was, byte for byte", arguments: [false, true])
  func detach(used: Bool) throws {
    let tables = AttachTests.tables + "CREATE INDEX mine ON song(title); CREATE VIEW v AS SELECT 1;"
    let before = try TestStore.schema(of: tables)
    let store = try store(AttachTests.model, tables)
    if used {
      _ = try store.writer.attach(createIndexes: true)
      try store.run("A A{128>B} B C-8>A | !C")
      try store.bySQL("DELETE FROM song")
    }
    try store.writer.detach()
    #expect(try store.schema() == before)
    #expect(store.writer.isDetached)
    #expect(throws: StoreError.self) { try look(store) }
    try store.writer.detach()
    #expect(try store.writer.attach(createIndexes: false).triggersMade.count == 10)
    try store.bySQL("DELETE FROM album")
    #expect(try store.journal() == "albums a, albums b")
    try store.run("A")
    #expect(try store.alive() == "A")
  }

  @Test("What the application gave a name like ours is its own")
  func foreignNames() throws {
    let tables =
      AttachTests.tables + """
        CREATE TABLE cascade_mine(x); CREATE INDEX cascade_i ON cascade_mine(x);
        CREATE TRIGGER cascade_t AFTER INSERT ON album BEGIN SELECT 1; END;
        CREATE INDEX cascade_index ON song(title);
        """
    let before = try TestStore.schema(of: tables)
    let store = try store(AttachTests.model, tables)
    _ = try store.writer.attach(createIndexes: true)
    #expect(try triggers(store).count == 11)
    try store.writer.detach()
    #expect(try store.schema() == before)
  }

  @Test(
    "A table of ours that somebody dropped is made again, and the gap is noted",
    arguments: ["candidate", "lease", "journal", "watch", "trash", "muted", "ledger"],
    [false, true])
  func dropped(table: String, reopens: Bool) throws {
    let store = try store()
    let before = Set(try store.schema())
    try store.bySQL("DELETE FROM song; DROP TABLE cascade_\(table)")
    if reopens { try store.reopen() } else { try store.writer.adaptToSchema() }
    #expect(Set(try store.schema()) == before)
    #expect(try store.meta("watch_gap") == 1)
    #expect(try store.journal().isEmpty == ["journal", "watch"].contains(table))
    try store.run("A")
    #expect(try store.alive() == "A")
  }

  @Test("A file without anything of ours is taken up like a new store", arguments: [false, true])
  func replaced(tables: Bool) throws {
    let store = try tables ? store() : TestStore()
    let before = Set(try store.schema())
    try store.run("A B")
    let ours = before.filter { $0.hasPrefix("table | cascade_") }
      .map { $0.split(separator: " ")[2] }
    let triggers = try triggers(store).map { "DROP TRIGGER \"\($0.split(separator: " ")[2])\"" }
    try store.bySQL((triggers + ours.map { "DROP TABLE \($0)" }).joined(separator: "; "))
    try store.writer.adaptToSchema()
    #expect(Set(try store.schema()) == before)
    #expect(try store.meta("first_watch") == (tables ? 1 : nil))
    try store.run("C")
    #expect(try store.alive() == "C")
  }

  @Test("Without the tables that say what numbers mean, nothing is made up")
  func refused() throws {
    let store = try store()
    try store.bySQL("DROP TABLE cascade_node")
    #expect {
      try store.writer.adaptToSchema()
    } throws: {
      "\($0)".hasPrefix("the store has lost cascade_node: ")
    }
    #expect(throws: StoreError.self) { try store.reopen() }
  }

  @Test("A model without tables takes an older one's triggers away")
  func noTables() throws {
    let store = try store()
    _ = try Writer(path: store.path, model: .empty)
    #expect(try triggers(store) == [])
  }

  @Test(
    "Changes of the schema that take nothing from us leave no gap",
    arguments: [
      "ALTER TABLE song ADD COLUMN n", "ALTER TABLE song DROP COLUMN title", "VACUUM",
      "ALTER TABLE song RENAME COLUMN title TO name", "CREATE TABLE other(x)", "ANALYZE",
      "CREATE INDEX i ON song(album_id)",
      "CREATE TRIGGER t AFTER DELETE ON song BEGIN SELECT 1; END",
    ])
  func harmless(sql: String) throws {
    let store = try store()
    let before = try triggers(store)
    try store.bySQL(sql)
    try look(store)
    #expect(try triggers(store) == before)
    #expect(try store.meta("watch_gap") == nil)
    #expect(!store.writer.isPartlyBound)
    try store.bySQL("DELETE FROM song WHERE id = 's'")
    #expect(try store.journal() == "songs s a")
  }

  static let rebuilt = """
    BEGIN; CREATE TABLE new_song(id TEXT PRIMARY KEY, album_id TEXT, isrc TEXT UNIQUE);
    INSERT INTO new_song SELECT id, album_id, isrc FROM song;
    DROP TABLE song; ALTER TABLE new_song RENAME TO song; COMMIT
    """

  @Test(
    "A trigger that is gone or changed comes back, and the gap is noted",
    arguments: [
      rebuilt, "DROP TRIGGER \"cascade_delete_1_albums\"",
      """
      DROP TRIGGER "cascade_delete_1_albums";
      CREATE TRIGGER "cascade_delete_1_albums" BEFORE DELETE ON album BEGIN SELECT 1; END
      """,
    ])
  func gap(sql: String) throws {
    let store = try store()
    let before = Set(try triggers(store))
    let names = before.filter { $0.contains("cascade_delete_") }
    #expect(names.contains { $0.contains("cascade_delete_1_albums") })
    try store.bySQL(sql)
    #expect(try store.reader.checkSetup().contains { $0.kind == .trigger })
    try look(store)
    #expect(try store.meta("watch_gap") == 1)
    #expect(!store.writer.isPartlyBound)
    #expect(try !store.reader.checkSetup().contains { $0.kind == .trigger })
    try store.bySQL("DELETE FROM song WHERE id = 's'; DELETE FROM album WHERE id = 'a'")
    #expect(try store.journal() == "songs s a, albums a")
  }

  @Test(
    "What the model names and is not there is told, and the rest goes on",
    arguments: [
      ("ALTER TABLE song RENAME COLUMN album_id TO album", "relationships[0]"),
      ("ALTER TABLE song RENAME TO track", "collections.songs"),
      ("DROP TABLE song", "collections.songs"),
      ("ALTER TABLE song RENAME COLUMN id TO key", "collections.songs"),
    ])
  func half(sql: String, path: String) throws {
    let store = try store()
    try store.bySQL(sql)
    try look(store)
    #expect(store.writer.isPartlyBound)
    #expect(store.writer.bindingProblems.first?.path == path)
    try store.bySQL("DELETE FROM album WHERE id = 'b'")
    #expect(try store.journal() == "albums b")
  }

  @Test("A table that comes back was not watched meanwhile")
  func comesBack() throws {
    let store = try store()
    try store.bySQL("ALTER TABLE song RENAME TO track")
    try look(store)
    #expect(store.writer.isPartlyBound)
    try store.bySQL("UPDATE cascade_meta SET value = 0 WHERE name = 'watch_gap'")
    try store.bySQL("ALTER TABLE track RENAME TO song")
    try look(store)
    #expect(!store.writer.isPartlyBound)
    #expect(try store.meta("watch_gap") == 1)
  }

  @Test("A new collection was there before anybody watched it; that is no gap")
  func newCollection() throws {
    let store = try store(#"{ collections: { albums: { table: "album", key: "id" } } }"#)
    try store.bySQL("UPDATE cascade_meta SET value = 0 WHERE name = 'first_watch'")
    _ = try Writer(path: store.path, model: StoreModel(AttachTests.model))
    #expect(try store.meta("first_watch") == 1)
    #expect(try store.meta("watch_gap") == nil)
  }

  @Test("A view and a table without a key are refused with the reason")
  func unusable() throws {
    let store = try store(
      AttachTests.model,
      "CREATE VIEW album AS SELECT 1 AS id; CREATE TABLE song(id TEXT, album_id TEXT)")
    let problems = store.writer.bindingProblems.map(\.description)
    #expect(problems.count == 3)
    #expect(problems[0].contains("is a view"))
    #expect(problems[1].contains("a key needs a PRIMARY KEY or a UNIQUE constraint"))
    #expect(try store.reader.checkSetup().filter { $0.kind == .binding }.count == 3)
  }

  @Test("A column that compares in the application's own way is refused, and named")
  func ownCollation() throws {
    let store = try store(
      AttachTests.model,
      """
      CREATE TABLE album(id TEXT PRIMARY KEY, artist_id TEXT);
      CREATE TABLE song(id TEXT PRIMARY KEY, album_id TEXT COLLATE NOCASE);
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'OWN') WHERE name = 'song'
      """)
    #expect(
      store.writer.bindingProblems.map(\.message) == [
        #"column "album_id" of "song" compares by "OWN", which only the application defines: "#
          + "SQLite itself has BINARY, NOCASE and RTRIM"
      ])
    #expect(try store.reader.checkSetup().filter { $0.kind == .binding }.count == 1)
  }

  @Test("A transaction that fails takes the binding back with it")
  func failed() throws {
    struct Failure: Error {}
    let store = try store()
    try store.bySQL(AttachTests.rebuilt)
    #expect(throws: Failure.self) { try store.writer.group { throw Failure() } }
    #expect(try store.meta("watch_gap") == nil)
    try look(store)
    #expect(try store.meta("watch_gap") == 1)
    try store.bySQL("DELETE FROM song WHERE id = 's'")
    #expect(try store.journal() == "songs s a")
  }

  /// As it looks where a backup from before the first attachment was restored.
  @Test("Whatever is asked for first, the program's own tables are made again")
  func withoutOwnTables() throws {
    let questions: [(any StoreWriting) throws -> Void] = [
      { _ = try $0.hasProtections }, { _ = try $0.openJobs }, { try $0.followProtected() },
      { _ = try $0.reviewProtections(at: 1) },
    ]
    for question in questions {
      let store = try store()
      let triggers = try triggers(store)
      try store.dropOwnTables()
      try question(store.writer)
      #expect(try self.triggers(store) == triggers)
    }
  }

  @Test("What is wrong with the set-up is told")
  func structure() throws {
    let store = try store(
      AttachTests.model.replacing(
        #"table: "album", key: "id""#, with: #"table: "album", key: "id", replace: "ignore""#),
      """
      CREATE TABLE album(id INTEGER PRIMARY KEY, code UNIQUE);
      CREATE TABLE song(id TEXT PRIMARY KEY, album_id TEXT REFERENCES album, title);
      CREATE UNIQUE INDEX low ON song(lower(title));
      INSERT INTO song VALUES(NULL, 5, 'x'), ('t', 6, 'y')
      """)
    let kinds = Set(try store.reader.checkSetup().map(\.kind))
    var expected: Set<SetupFinding.Kind> = [
      .missingIndex, .replaceIgnored, .hiddenKey, .missingKey, .foreignKey, .affinity,
    ]
    if Connection.libraryVersion < 3_051_003 { expected.insert(.library) }
    #expect(kinds == expected)
  }
}

extension TestStore {
  fileprivate func dropOwnTables() throws {
    let drops = ["trigger", "table"].map { kind in
      """
      SELECT 'DROP \(kind) ' || name FROM sqlite_schema WHERE type = '\(kind)' AND name GLOB 'cascade_*'
      """
    }
    for drop in drops { try bySQL(texts(drop).joined(separator: ";")) }
  }

  static func schema(of tables: String) throws -> [String] {
    let store = try TestStore()
    try store.writer.detach()
    try store.bySQL(tables)
    return try store.schema()
  }
}
