import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// A row on the list denies that another goes: it may stay when its turn comes, and deny it then.
///
/// A room and a shelf go with their house, and a box with its shelf; a box that stands in a room
/// holds it.
@Suite("Denied between the steps of a sweep")
struct DeniedBetweenStepsTests {
  private static let schema = """
    CREATE TABLE house(id INTEGER PRIMARY KEY);
    CREATE TABLE room(id INTEGER PRIMARY KEY, house INTEGER);
    CREATE TABLE shelf(id INTEGER PRIMARY KEY, house INTEGER, room INTEGER);
    CREATE TABLE box(id TEXT PRIMARY KEY, shelf INTEGER, room INTEGER);
    INSERT INTO house VALUES(1);
    INSERT INTO room VALUES(1, 1), (2, 1);
    INSERT INTO shelf VALUES(1, 1, NULL), (2, NULL, 2);
    INSERT INTO box VALUES('a', 1, 1), ('b', 2, 2), ('c', 1, NULL);
    """

  private static let goes = "rules: ['deleteSourceIfDestinationDeleted']"

  /// The rows that are left, and those of them that are told to be blocked, where somebody writes
  /// between all steps; and behind a sweep that nobody disturbs.
  private func left(_ sql: String, alone: Bool = false) throws -> String {
    let goes = DeniedBetweenStepsTests.goes
    let model = """
      {
        collections: {
          houses: { table: 'house', key: 'id' }, rooms: { table: 'room', key: 'id' },
          shelves: { table: 'shelf', key: 'id' }, boxes: { table: 'box', key: 'id' },
        },
        relationships: [
          { name: 'house', from: 'rooms', to: 'houses', column: 'house', \(goes) },
          { name: 'house', from: 'shelves', to: 'houses', column: 'house', \(goes) },
          { name: 'room', from: 'shelves', to: 'rooms', column: 'room', \(goes) },
          { name: 'shelf', from: 'boxes', to: 'shelves', column: 'shelf', \(goes) },
          { name: 'stands', from: 'boxes', to: 'rooms', column: 'room',
            rules: ['denyDestinationDeletion'] },
        ],
      }
      """
    let store = try TestStore(
      model: StoreModel(model), schema: DeniedBetweenStepsTests.schema)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM house")
    let disturbed = StepPolicy { _ in try store.bySQL(sql) }
    var result = try store.writer.sweep([.all], at: 1, manners: disturbed)
    if alone { result = try store.writer.sweep([.all], at: 2) }
    let blocked = result.blocked.compactMap { $0.node?.description }.joined(separator: " ")
    let db = try Connection(path: store.path, access: .readOnly)
    let rows = try db.all(
      """
      SELECT 'room ' || id FROM room UNION ALL SELECT 'shelf ' || id FROM shelf
      UNION ALL SELECT 'box ' || id FROM box
      """
    ) { $0.text(0) }
    return (rows + (blocked.isEmpty ? [] : [blocked])).joined(separator: ", ")
  }

  @Test("Who looks whether the blocked are still there writes nothing")
  func unwritten() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { posts: { table: 'post', key: 'id' }, photos: { table: 'photo', key: 'id' },
            pins: { table: 'pin', key: 'id' } },
          relationships: [
            { name: 'photo', from: 'posts', to: 'photos', column: 'photo',
              rules: ['deleteDestinationIfAllSourcesDeleted'] },
            { name: 'held', from: 'pins', to: 'photos', column: 'photo',
              rules: ['denyDestinationDeletion'] } ] }
        """),
      schema: """
        CREATE TABLE post(id TEXT PRIMARY KEY, photo TEXT); CREATE TABLE photo(id TEXT PRIMARY KEY);
        CREATE TABLE pin(id TEXT PRIMARY KEY, photo TEXT);
        INSERT INTO photo VALUES('1'); INSERT INTO post VALUES('1', '1');
        INSERT INTO pin VALUES('1', '1');
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM post")
    #expect(try store.writer.sweep([.all], at: 1).blocked.map(\.node) == [node("photos/1")])
    #expect(try store.texts("SELECT id FROM cascade_node") == [])
  }

  @Test("What goes itself denies nothing; who follows from what it denies waits for a quiet moment")
  func nobody() throws {
    #expect(try left("") == "")
    #expect(try left("REPLACE INTO house VALUES(7)") == "room 2, shelf 2, box b")
    #expect(try left("REPLACE INTO house VALUES(7)", alone: true) == "")
  }

  @Test("What stays after all denies before its turn")
  func rescued() throws {
    #expect(try left("UPDATE box SET shelf = NULL WHERE id = 'a'") == "room 1, box a, rooms/1")
    #expect(
      try left("UPDATE box SET shelf = NULL WHERE id = 'b'") == "room 2, shelf 2, box b, rooms/2")
  }

  @Test("What denied it once is not told of any more")
  func denies() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
          relationships: [
            { name: 'a', from: 'a', to: 'a', column: 'a', \(DeniedBetweenStepsTests.goes) },
            { name: 'b', from: 'b', to: 'a', column: 'a', rules: ['denyDestinationDeletion'] } ] }
        """),
      schema: """
        CREATE TABLE a(id INTEGER PRIMARY KEY, a INTEGER); CREATE TABLE b(id INTEGER, a INTEGER,
          PRIMARY KEY(id));
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("INSERT INTO a VALUES(1, 7); INSERT INTO b VALUES(1, 1)")
    let blocked = try store.writer.sweep([.all], at: 1)
    #expect((blocked.outcome, blocked.blocked.count) == (.blocked, 1))
    try store.bySQL("DELETE FROM b")
    let done = try store.writer.sweep([.all], at: 2)
    #expect((done.outcome, done.blocked.count, done.deletedCount) == (.done, 0, 1))
  }
}
