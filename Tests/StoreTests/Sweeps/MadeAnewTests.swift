import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteSweeps
import StoreDefinition
import StoreFixtures
import Testing

/// A photo goes with its album. Between the steps of a sweep, an application deletes the photo, and makes
/// another one of its key, which SQLite puts where the first one was.
@Suite("Rows that are made anew between the steps of a sweep")
struct MadeAnewTests {
  enum Key: String, CaseIterable {
    case text = "(id TEXT PRIMARY KEY)"
    case integer = "(id INTEGER PRIMARY KEY)"
    case withoutRowid = "(id TEXT PRIMARY KEY) WITHOUT ROWID"
  }

  private static func store(_ key: Key, _ rule: String) throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: {
            artists: { table: 'artist', key: 'id' }, albums: { table: 'album', key: 'id' },
            photos: { table: 'photo', key: 'id' }, notes: {} },
          relationships: [
            { name: 'artist', from: 'albums', to: 'artists', column: 'artist',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'photo', from: 'albums', to: 'photos', column: 'photo', rules: ['\(rule)'] }] }
        """),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY); CREATE TABLE photo\(key.rawValue);
        CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER, photo);
        CREATE INDEX by_artist ON album(artist); CREATE INDEX by_photo ON album(photo);
        INSERT INTO artist VALUES(1); INSERT INTO photo VALUES('7');
        INSERT INTO album SELECT 1, 1, id FROM photo;
        """)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  /// As soon as nothing refers to the photo, and unless it has gone by then.
  private static let makesAnew = """
    BEGIN IMMEDIATE; CREATE TEMP TABLE was AS SELECT id FROM photo;
    DELETE FROM photo WHERE (SELECT count(*) FROM album) = 0;
    INSERT INTO photo SELECT id FROM temp.was WHERE (SELECT count(*) FROM album) = 0; COMMIT
    """

  @Test(
    "They stay, whatever the plan says of the rows that they took the place of",
    arguments: Key.allCases,
    ["deleteDestinationIfSourceDeleted", "deleteDestinationIfAllSourcesDeleted"])
  func stays(_ key: Key, rule: String) throws {
    for isLinked in [false, true] {
      let store = try MadeAnewTests.store(key, rule)
      if isLinked {
        let photo = Node("photos", key == .integer ? .integer(7) : .text("7"))
        try store.apply([
          .put(Node("notes", .text("n")), type: nil, value: nil, edges: nil),
          .link(name: "shows", from: Node("notes", .text("n")), to: .node(photo), rules: []),
        ])
      }
      store.sweepsInSteps(of: 1)
      try store.bySQL("DELETE FROM artist")
      var made = 0
      let policy = StepPolicy { _ in
        if try store.texts("SELECT 1 FROM photo WHERE (SELECT count(*) FROM album) = 0") == [] {
          return
        }
        if made == 0 { try store.bySQL(MadeAnewTests.makesAnew) }
        made += 1
      }
      _ = try store.writer.sweep([.all], at: 1, manners: policy)
      #expect(try made > 0 && store.texts("SELECT id FROM photo") == ["7"], "\(isLinked)")
      #expect(try store.writer.sweep([.all], at: 2).deletedCount == 0)
      #expect(try store.texts("SELECT id FROM photo") == ["7"])
    }
  }
}
