import CascadeModel
import CascadeSQLite
import CascadeStore
import CascadeSystem
import SQLiteStore
import SQLiteTables
import SQLiteEdges
import StoreDefinition
import StoreFixtures
import Testing

/// What other versions of Cascade left in a store.
@Suite("Layouts of other versions")
struct LayoutTests {
  private static let newest = Schema.history.current
  private static let model = JournalTriggerTests.model
  private static let tables =
    JournalTriggerTests.tables + "CREATE TABLE cascade_mine(x); CREATE VIEW v AS SELECT 1;"

  /// As a later version might leave a store: with parts that this one does not know, and without a table
  /// that it does.
  private static let later = """
    DROP TABLE cascade_node;
    CREATE TABLE cascade_novel(x);
    CREATE VIEW cascade_novels AS SELECT x FROM cascade_novel;
    CREATE TRIGGER cascade_notes_1_song AFTER DELETE ON song
      BEGIN INSERT INTO cascade_novel VALUES(1); END;
    INSERT INTO cascade_part VALUES('table', 'cascade_novel'), ('view', 'cascade_novels'),
      ('trigger', 'cascade_notes_[0-9]*_*'), ('table', '*');
    """

  private func store() throws -> TestStore {
    try TestStore(model: StoreModel(LayoutTests.model), schema: LayoutTests.tables)
  }

  /// A copy of the store that nothing has open, of this layout, after `sql`.
  private func copy(
    of store: TestStore, layout: Int64, _ sql: String = "", journal: String = "DELETE"
  ) throws -> String {
    _ = try store.backUp()
    let path = "\(store.path)-backup"
    try Connection(path: path, access: .readWrite).execute(
      """
      UPDATE cascade_meta SET value = \(layout) WHERE name = 'version'; \(sql);
      PRAGMA journal_mode = \(journal)
      """)
    return path
  }

  private func open(_ path: String) throws {
    _ = try Writer(path: path, model: StoreModel(LayoutTests.model))
  }

  /// In the form of `TestStore.schema`.
  private func schema(_ path: String) throws -> [String] {
    try Connection(path: path, access: .readOnly).all(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema"
    ) { row in
      (0..<4).map { row.isNull($0) ? "∅" : row.text($0) }.joined(separator: " | ")
    }.sorted()
  }

  @Test(
    "A store that this version cannot take over is left as it is, with what to do",
    arguments: [1, 11, newest + 1, newest + 40], ["DELETE", "WAL"])
  func refused(layout: Int64, journal: String) throws {
    let store = try store()
    let isLater = layout > LayoutTests.newest
    let path = try copy(
      of: store, layout: layout, isLater ? LayoutTests.later : "", journal: journal)
    let before = try FileDescriptor.open(path).readWhole(limit: 1 << 24)
    #expect {
      try open(path)
    } throws: {
      "\($0)".hasPrefix("\(isLater ? "a newer" : "an older") version of Cascade made the tables")
        && "\($0)".contains("`cascaded --detach \(path)`")
    }
    #expect(try FileDescriptor.open(path).readWhole(limit: 1 << 24) == before)
    #expect(try FileStatus.of("\(path)-wal") == nil)
  }

  @Test("A store of any layout can be detached, and nothing of it stays", arguments: [1, 12, 99])
  func detached(layout: Int64) throws {
    let store = try store()
    let path = try copy(
      of: store, layout: layout, layout == 99 ? LayoutTests.later : "DROP TABLE cascade_part")
    _ = try SQLiteEngine().detach(path)
    #expect(try schema(path) == TestStore.schema(of: LayoutTests.tables).sorted())
    try open(path)
  }

  @Test("While a store is served, a newer version's copy takes its place, and is left as it is")
  func replaced() throws {
    let store = try store()
    try store.bySQL(
      LayoutTests.later
        + "UPDATE cascade_meta SET value = \(LayoutTests.newest + 1) WHERE name = 'version'")
    let before = try store.schema()
    #expect {
      try store.writer.adaptToSchema()
    } throws: {
      "\($0)".hasPrefix("a newer version")
    }
    #expect(try store.schema() == before)
  }

  @Test("If a step fails, the store is as it was")
  func failed() throws {
    let store = try store()
    let path = try copy(
      of: store, layout: 12,
      "DROP TABLE cascade_part; DROP TABLE cascade_job; CREATE INDEX cascade_job ON song(title)")
    let before = try schema(path)
    #expect(throws: SQLiteError.self) { try open(path) }
    #expect(try schema(path) == before)
    #expect(try Connection(path: path, access: .readOnly).meta(.version) == 12)
  }

  @Test("A store of layout 12 gets what it lacks, without a gap")
  func taken() throws {
    let store = try store()
    let path = try copy(
      of: store, layout: 12,
      """
      DROP TABLE cascade_part; DROP TABLE cascade_job; DROP TABLE cascade_marked;
      ALTER TABLE cascade_plan DROP COLUMN restored
      """)
    try open(path)
    let db = try Connection(path: path, access: .readOnly)
    #expect(try db.meta(.version) == LayoutTests.newest)
    #expect(try db.meta(.watchGap) == nil)
    let columns = "SELECT count(*) FROM pragma_table_info('cascade_plan') WHERE name = 'restored'"
    #expect(try db.integer(generated: columns, []) == 1)
    let names = "SELECT name FROM sqlite_schema ORDER BY 1"
    #expect(try db.all(generated: names, []) { $0.text(0) } == store.texts(names))
  }
}
