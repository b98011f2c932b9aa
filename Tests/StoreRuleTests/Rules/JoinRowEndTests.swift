import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteBinding
import SQLiteTables
import Testing
import SQLiteSweeps

/// Join rows that are nodes: the edge that each is, and the ends that it goes with.
@Suite("Join rows that are nodes, and their ends")
struct JoinRowEndTests {
  private static let schema = """
    CREATE TABLE song(id TEXT PRIMARY KEY); CREATE TABLE photo(id TEXT PRIMARY KEY);
    CREATE TABLE use(id INTEGER PRIMARY KEY, song TEXT, photo TEXT);
    CREATE TABLE album(id TEXT PRIMARY KEY, song TEXT);
    INSERT INTO song VALUES('s'); INSERT INTO photo VALUES('p'), ('q');
    INSERT INTO album VALUES('a', 's'); INSERT INTO use VALUES(1, 's', 'p');
    """

  private func store(
    _ rules: String..., areNodes: Bool = true, more: String = "", schema: String = Self.schema
  ) throws -> TestStore {
    let uses = areNodes ? "uses: { table: 'use', key: 'id' }," : ""
    return try TestStore(
      model: StoreModel(
        """
        { collections: { \(uses) songs: { table: 'song', key: 'id' },
            photos: { table: 'photo', key: 'id' }, albums: { table: 'album', key: 'id' } },
          relationships: [
            { name: 'media', from: 'songs', to: 'photos', toMany: true, rules: \(rules),
              join: { table: 'use', source: 'song', destination: 'photo' } },
            { name: 'media', from: 'albums', to: 'songs', column: 'song',
              rules: ['deleteDestinationIfAllSourcesDeleted'] } \(more) ] }
        """), schema: schema)
  }

  private func deletion(_ node: String, _ key: Int64) -> Change {
    .delete(Node(node, .integer(key)))
  }

  @Test(
    "Who deletes the row and what it leads to has removed the edge: nothing follows at its source",
    arguments: [
      "deleteSourceIfDestinationDeleted", "deleteSourceIfAllDestinationsDeleted",
      "notifyIfDestinationDeleted", "denyDestinationDeletion",
    ], [false, true])
  func bothEnds(rule: String, rowFirst: Bool) throws {
    let store = try store(rule)
    let both = [deletion("uses", 1), delete("photos/p")]
    let receipt = try store.apply(rowFirst ? both : both.reversed())
    #expect(receipt.outcome == .applied && receipt.deletedCount == 2)
    #expect(try store.texts("SELECT id FROM song") == ["s"])
    #expect(try store.told() == [])
  }

  @Test("A sweep that only counts leaves such a row to the one that follows what it says")
  func leftToCascade() throws {
    let store = try store(
      "deleteSourceIfDestinationDeleted",
      more: """
        , { name: 'thumb', from: 'uses', to: 'photos', column: 'thumb',
            rules: ['deleteSourceIfAllDestinationsDeleted'] }
        """,
      schema: Self.schema + "ALTER TABLE use ADD COLUMN thumb; UPDATE use SET thumb = 'p'")
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM photo WHERE id = 'p'")
    for kind in [SweepKind.refcount, .cascade, .refcount] {
      _ = try store.writer.sweep([kind], at: 1)
    }
    #expect(try store.texts("SELECT id FROM song").isEmpty)
    #expect(try store.texts("SELECT id FROM use").isEmpty)
  }

  @Test("A foreign key takes it along, whoever sweeps")
  func takenByForeignKey() throws {
    let store = try store(
      "deleteDestinationIfAllSourcesDeleted",
      schema: Self.schema.replacing(
        "song TEXT, photo TEXT",
        with:
          "song TEXT REFERENCES song ON DELETE CASCADE, photo TEXT REFERENCES photo ON DELETE CASCADE"
      ))
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("PRAGMA foreign_keys = OFF; DELETE FROM song")
    let swept = try store.writer.sweep([.refcount], at: 1)
    #expect(swept.outcome == .done && swept.blocked.isEmpty)
    #expect(try store.texts("SELECT id FROM photo") == ["q"])
    #expect(try store.texts("SELECT id FROM use").isEmpty)
  }

  @Test("A step writes down which edge such a row was", arguments: [false, true])
  func removedInSteps(hasTriggers: Bool) throws {
    let store = try store("deleteDestinationIfAllSourcesDeleted")
    _ = try store.writer.sweep([.all], at: 0)
    store.writer.lock.fewNodes = 0
    if hasTriggers {
      try store.bySQL("CREATE TRIGGER t AFTER DELETE ON photo BEGIN SELECT 1; END")
    }
    try store.bySQL("DELETE FROM album")
    for kind in [SweepKind.cascade, .refcount, .cascade, .refcount] {
      _ = try store.writer.sweep([kind], at: 1)
    }
    #expect(try store.texts("SELECT id FROM song").isEmpty)
    #expect(try store.texts("SELECT id FROM use").isEmpty)
    #expect(try store.texts("SELECT id FROM photo") == ["q"])
  }

  @Test("What is left of several is what counts")
  func several() throws {
    let store = try store("deleteSourceIfAllDestinationsDeleted")
    try store.bySQL("INSERT INTO use VALUES(2, 's', 'q')")
    let receipt = try store.apply([deletion("uses", 2), delete("photos/p")])
    #expect(receipt.deleted.contains(node("songs/s")))
    #expect(try store.texts("SELECT id FROM photo") == ["q"])
  }

  @Test("Another row that says the same edge keeps it")
  func twice() throws {
    let store = try store("deleteSourceIfDestinationDeleted")
    try store.bySQL("INSERT INTO use VALUES(2, 's', 'p')")
    let receipt = try store.apply([deletion("uses", 2), delete("photos/p")])
    #expect(receipt.deleted.contains(node("songs/s")))
  }

  @Test("A row is no edge to its own source", arguments: [false, true], [false, true])
  func ownSource(areNodes: Bool, bySQL: Bool) throws {
    let store = try store(areNodes: areNodes)
    if bySQL {
      try store.bySQL("DELETE FROM album")
      _ = try store.writer.sweep([.all], at: 1)
    } else {
      try store.apply([delete("albums/a")])
    }
    #expect(try store.texts("SELECT id FROM song").isEmpty)
    #expect(try store.texts("SELECT id FROM use").isEmpty)
  }

  @Test(
    "A file that a row still names holds the row as any destination does", arguments: [false, true])
  func file(bySQL: Bool) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { photos: { table: 'photo', key: 'id' }, songs: { table: 'track', key: 'id' } },
          files: { f: '/nowhere' },
          relationships: [
            { name: 'media', from: 'songs', to: 'photos', column: 'photo',
              rules: ['deleteSourceIfAllDestinationsDeleted'] },
            { name: 'media', from: 'songs', to: { files: 'f' }, property: 'paths', toMany: true,
              rules: ['deleteDestinationIfAllSourcesDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE photo(id TEXT PRIMARY KEY);
        CREATE TABLE track(id TEXT PRIMARY KEY, photo TEXT, paths TEXT);
        INSERT INTO photo VALUES('p'), ('q');
        INSERT INTO track VALUES('s', 'p', '["x"]'), ('t', 'q', '[]'), ('u', 'q', NULL);
        """)
    if bySQL {
      try store.bySQL("DELETE FROM photo")
      _ = try store.writer.sweep([.all], at: 1)
    } else {
      try store.apply([delete("photos/p"), delete("photos/q")])
    }
    #expect(try store.texts("SELECT id FROM track") == ["s"])
  }
}
