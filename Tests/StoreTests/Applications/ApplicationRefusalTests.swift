import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// Of what goes with a top, the application's own rules keep `mids/11`, each in its way. It stays
/// with all that it holds, is told of, and is in nobody's way.
@Suite("What the application's own rules keep")
struct ApplicationRefusalTests {
  private static let schema = """
    CREATE TABLE top(id INTEGER PRIMARY KEY);
    CREATE TABLE mid(id INTEGER PRIMARY KEY, top INTEGER, photo INTEGER);
    CREATE TABLE photo(id INTEGER PRIMARY KEY);
    CREATE TABLE tag(id INTEGER PRIMARY KEY, mid INTEGER NOT NULL);
    CREATE TABLE shown(mid INTEGER, photo INTEGER);
    INSERT INTO top VALUES(1), (2), (3);
    INSERT INTO photo VALUES(11), (12), (21), (31), (40);
    INSERT INTO mid VALUES(11, 1, 11), (12, 1, 12), (21, 2, 21), (31, 3, 31);
    """
  private static let model = """
    {
      collections: {
        tops: { table: 'top', key: 'id' }, mids: { table: 'mid', key: 'id' },
        photos: { table: 'photo', key: 'id' }, tags: { table: 'tag', key: 'id' },
      },
      relationships: [
        { name: 'top', from: 'mids', to: 'tops', column: 'top',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'photo', from: 'mids', to: 'photos', column: 'photo',
          rules: ['deleteDestinationIfSourceDeleted'] },
        { name: 'mid', from: 'tags', to: 'mids', column: 'mid',
          rules: ['nullifySourceIfDestinationDeleted'] },
        { name: 'shown', from: 'mids', to: 'photos',
          join: { table: 'shown', source: 'mid', destination: 'photo' } },
      ],
    }
    """

  enum Keeper: String, CaseIterable {
    case foreignKey = """
      CREATE TABLE outside(mid INTEGER REFERENCES mid(id)); INSERT INTO outside VALUES(11)
      """
    case ignoringTrigger = """
      CREATE TRIGGER own BEFORE DELETE ON mid WHEN OLD.id = 11 BEGIN SELECT RAISE(IGNORE); END
      """
    case raisingTrigger = """
      CREATE TRIGGER own BEFORE DELETE ON mid WHEN OLD.id = 11 BEGIN SELECT RAISE(ABORT, 'no'); END
      """
    case notNull = "INSERT INTO tag VALUES(1, 11)"
    case joinRow = """
      INSERT INTO shown VALUES(11, 40), (12, 40), (11, 12);
      CREATE TRIGGER own BEFORE DELETE ON shown WHEN OLD.mid = 11 AND OLD.photo = 40
      BEGIN SELECT RAISE(ABORT, 'no'); END
      """
    case unknownFunction = """
      INSERT INTO tag VALUES(1, 11);
      CREATE TRIGGER own BEFORE UPDATE ON tag BEGIN SELECT unknown(OLD.id); END
      """
    case missingTable = """
      INSERT INTO shown VALUES(11, 40);
      CREATE TRIGGER own BEFORE DELETE ON shown BEGIN DELETE FROM missing; END
      """

    var reason: String {
      switch self {
      case .foreignKey: #"a row of "outside" refers to it (FOREIGN KEY (mid))"#
      case .ignoringTrigger: #"a trigger of "mid" prevents its deletion"#
      case .raisingTrigger: "the application's own rules refuse (no)"
      case .notNull: #""mid" of "tags" cannot be set to null (NOT NULL constraint failed: tag.mid)"#
      case .joinRow: #"a row of "shown" cannot be deleted (no)"#
      case .unknownFunction:
        #""mid" of "tags" cannot be set to null "#
          + "(SQLite cannot execute it: no such function: unknown)"
      case .missingTable:
        #"a row of "shown" cannot be deleted (SQLite cannot execute it: no such table: main.missing)"#
      }
    }
  }

  private func store(_ keeper: Keeper) throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(Self.model), schema: Self.schema + keeper.rawValue)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  private func ids(_ store: TestStore, _ table: String) throws -> [Int64] {
    try Connection(path: store.path, access: .readOnly)
      .all(generated: "SELECT id FROM \(table) ORDER BY id") { $0.integer(0) }
  }

  @Test("Stays in a sweep, while the rest goes", arguments: Keeper.allCases, [0, 1, 3])
  func sweeps(keeper: Keeper, rowsToAStep: Int64) throws {
    let store = try store(keeper)
    if rowsToAStep > 0 { store.sweepsInSteps(of: rowsToAStep) }
    try store.bySQL("DELETE FROM top WHERE id < 3")
    let result = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(result.blocked.map(\.message) == ["mids/11 must stay: \(keeper.reason)"])
    #expect(result.outcome == .blocked && result.byCollection == ["mids": 2, "photos": 2])
    #expect(try ids(store, "mid") == [11, 31] && ids(store, "photo") == [11, 31, 40])
    try store.bySQL("DELETE FROM top")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 2).byCollection["mids"] == 1)
    #expect(try ids(store, "mid") == [11])
  }

  @Test("Refuses a change file", arguments: Keeper.allCases)
  func files(keeper: Keeper) throws {
    let store = try store(keeper)
    let reasons = try store.reasons([.delete(Node("tops", .integer(1)))])
    #expect(reasons.map(\.message) == ["mids/11 must stay: \(keeper.reason)"])
    #expect(try ids(store, "mid") == [11, 12, 21, 31])
    try store.apply([.delete(Node("tops", .integer(2)))])
    #expect(try ids(store, "mid") == [11, 12, 31])
  }

  @Test("A reference to what is gone stays where it cannot be taken away", arguments: [0, 1])
  func gone(rowsToAStep: Int64) throws {
    let store = try store(.notNull)
    if rowsToAStep > 0 { store.sweepsInSteps(of: rowsToAStep) }
    try store.bySQL("DELETE FROM mid WHERE id IN (11, 21)")
    let result = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(
      result.blocked.map(\.message) == ["mids/11 no longer exists, but \(Keeper.notNull.reason)"])
    #expect(try ids(store, "tag") == [1] && ids(store, "photo") == [12, 31, 40])
    #expect(try store.texts("SELECT subject FROM cascade_trash_layout WHERE kind = 'change'") == [])
  }

  @Test(
    "Whose own trigger cannot be run stays, whatever goes with it elsewhere", arguments: [0, 1])
  func cannotRun(rowsToAStep: Int64) throws {
    let store = try store(.unknownFunction)
    if rowsToAStep > 0 { store.sweepsInSteps(of: rowsToAStep) }
    let own = "CREATE TRIGGER of_mid AFTER DELETE ON mid BEGIN SELECT unknown(OLD.id); END"
    try store.bySQL("\(own); DELETE FROM tag; DELETE FROM top WHERE id = 2")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(
      result.blocked.map(\.message) == [
        "mids/21 must stay: a trigger of \"mid\" needs what only the application defines "
          + "(no such function: unknown)"
      ])
    #expect(try store.apply([.delete(Node("photos", .integer(40)))]).deletedCount == 1)
    try store.bySQL("DROP TRIGGER of_mid")
    #expect(try store.writer.sweep([.all], at: 2).byCollection == ["mids": 1, "photos": 1])
  }
}
