import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// The application's tables may be called as those are which Cascade keeps for itself while it
/// works.
@Suite("Tables with names that Cascade uses")
struct OwnTableNameTests {
  @Test(
    "They are watched, indexed and swept like any others",
    arguments: [
      "dead", "known", "found", "lost", "gone", "done", "going", "kept", "listed", "named", "asked",
      "leased", "reached", "restored", "born", "blocked",
    ])
  func namesake(name: String) throws {
    let goes = "rules: ['deleteSourceIfDestinationDeleted']"
    let model = try StoreModel(
      """
      { collections: {
          boxes: { table: 'box', key: 'id' }, disks: { table: '\(name)', key: 'id' },
          parts: { table: 'part', key: 'id' } },
        relationships: [
          { name: 'box', from: 'disks', to: 'boxes', column: 'box', \(goes) },
          { name: 'disk', from: 'parts', to: 'disks', column: 'disk', \(goes) },
          { name: 'denied', from: 'parts', to: 'boxes', column: 'box',
            rules: ['denyDestinationDeletion'] } ] }
      """)
    let store = try TestStore(
      model: model,
      schema: """
        CREATE TABLE box(id INTEGER PRIMARY KEY);
        CREATE TABLE "\(name)"(id TEXT PRIMARY KEY, box INTEGER);
        CREATE TABLE part(id INTEGER PRIMARY KEY, disk TEXT, box INTEGER);
        INSERT INTO box VALUES(1), (2);
        INSERT INTO "\(name)" VALUES('a', 1), ('b', 2);
        INSERT INTO part VALUES(1, 'a', NULL), (2, 'b', NULL), (3, 'b', NULL);
        """)
    let indexes = try store.writer.attach(createIndexes: true).indexesMade
    #expect(indexes.contains("cascade_index_\(name)(box)"))
    #expect(try store.writer.attach(createIndexes: true).indexesMade.isEmpty)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM \"\(name)\" WHERE id = 'a'")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1).deletedCount == 1)
    try store.bySQL("DELETE FROM box WHERE id = 2")
    store.sweepsInSteps(of: 1)
    #expect(try store.writer.sweep([.cascade, .refcount], at: 2).deletedCount == 3)
    #expect(try store.texts("SELECT id FROM part").isEmpty)
    #expect(try store.texts("SELECT count(*) FROM cascade_journal") == ["0"])
  }
}
