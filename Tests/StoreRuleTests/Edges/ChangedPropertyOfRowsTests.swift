import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteEdges
import SQLiteJournal
import SQLiteSweeps

/// Objects that refer to rows, when the model says otherwise than it did.
@Suite("Properties that name rows under a changed model")
struct ChangedPropertyOfRowsTests {
  private static let schema = """
    CREATE TABLE song(id INTEGER PRIMARY KEY, code INTEGER UNIQUE);
    INSERT INTO song VALUES(1, 2), (2, 1), (3, 3)
    """
  private let songs = "songs: { table: 'song', key: 'id' }"
  private let song = """
    { name: 'song', from: 'notes', to: 'songs', property: 'song',
      rules: ['deleteSourceIfDestinationDeleted', 'deleteDestinationIfAllSourcesDeleted'] },
    """
  private let also = """
    { name: 'also', from: 'notes', to: 'songs', property: 'also', toMany: true,
      rules: ['nullifySourceIfDestinationDeleted', 'notifyIfDestinationDeleted'] },
    """
  private let other = "{ name: 'x', from: 'notes', to: 'notes', property: 'x' },"

  private func model(_ songs: String, _ relationships: String) throws -> StoreModel {
    try StoreModel("{ collections: { notes: {}, \(songs) }, relationships: [\(relationships)] }")
  }

  private func store(_ relationships: String) throws -> TestStore {
    let store = try TestStore(model: model(songs, relationships), schema: Self.schema)
    try store.apply([
      put("notes/a", #"{"song":1}"#), put("notes/b", #"{"song":1}"#),
      put("notes/c", #"{"song":3,"also":[2,3]}"#),
    ])
    return store
  }

  @Test("What they name by another key has its edges by that", arguments: ["id", "code"])
  func otherKey(key: String) throws {
    let store = try store(song)
    let model = try model("songs: { table: 'song', key: '\(key)' }", song)
    let writer = try Writer(path: store.path, model: model)
    #expect(try store.edges().count == 3)
    #expect(try store.apply([delete("notes/a")], by: writer).deleted.letters == "notes/a")
    let deleted = try store.apply([delete("notes/b")], by: writer).deleted
    #expect(deleted.letters == "notes/b songs/1")
    #expect(
      try store.texts("SELECT id FROM song ORDER BY id")
        == (key == "id" ? ["2", "3"] : ["1", "3"]))
  }

  @Test("What is gone, and no sweep has seen to yet, is still what they refer to")
  func goneMeanwhile() throws {
    let store = try store(song + also)
    try store.bySQL("DELETE FROM song WHERE id IN (1, 2)")
    let writer = try Writer(path: store.path, model: model(songs, song + also + other))
    #expect(try writer.sweep([.cascade], at: 1).deleted.letters == "notes/a notes/b")
    #expect(
      try store.texts("SELECT value FROM cascade_node WHERE key = 'c'") == [
        #"{"song":3,"also":[3]}"#
      ])
    #expect(try store.told().count == 1)
  }

  @Test("As long as a table is missing, they are not read")
  func missingTable() throws {
    let store = try store(song)
    try store.bySQL("ALTER TABLE song RENAME TO old")
    let changed = try model(songs, song + other + also)
    var writer = try Writer(path: store.path, model: changed)
    #expect(writer.bindingProblems.count == 1)
    #expect(try store.edges().count == 3)
    try store.bySQL("ALTER TABLE old RENAME TO song")
    try writer.adaptToSchema()
    #expect(try store.edges().count == 5)
    writer = try Writer(path: store.path, model: changed)
    #expect(try store.edges().count == 5)
  }

  @Test("They do not keep a table in the model")
  func takenOut() throws {
    let store = try store(song)
    let writer = try Writer(path: store.path, model: StoreModel("{ collections: { notes: {} } }"))
    #expect(writer.bindingProblems.isEmpty)
    #expect(try store.edges().isEmpty)
    #expect(try store.apply([delete("notes/a")], by: writer).deleted.letters == "notes/a")
  }

  @Test(
    "A mistake in the model that is put right loses none of their edges",
    arguments: ["{ table: 'sogn', key: 'id' }", "{ table: 'song', key: 'idd' }"])
  func mistake(songs wrong: String) throws {
    let store = try store(song)
    let before = try store.graph()
    let degraded = try Writer(path: store.path, model: model("songs: \(wrong)", song))
    #expect(degraded.bindingProblems.count == 1)
    try store.apply([put("notes/d", "{}")], by: degraded)
    let writer = try Writer(path: store.path, model: model(songs, song))
    #expect(try store.graph() == before)
    #expect(try store.apply([delete("notes/a")], by: writer).deleted.letters == "notes/a")
  }

  @Test(
    "Whoever is killed while they are read, and takes the model before, reads them all the same")
  func killed() throws {
    let store = try store(song)
    let before = try store.graph()
    try store.bySQL(
      """
      UPDATE cascade_meta SET value = \(Int64.min) WHERE name = 'value_references';
      DELETE FROM cascade_edge
      """)
    _ = try Writer(path: store.path, model: model(songs, song))
    #expect(try store.graph() == before)
  }

  @Test("Nothing is deleted before they are read, when a table comes back")
  func tableComesBack() throws {
    let store = try store(also)
    try store.bySQL("ALTER TABLE song RENAME TO old")
    let writer = try Writer(path: store.path, model: model(songs, also + song))
    try store.bySQL("ALTER TABLE old RENAME TO song")
    #expect(throws: StoreError.self) { try store.apply([delete("notes/a")], by: writer) }
    #expect(writer.isPartlyBound && writer.bindingProblems.isEmpty)
    try writer.adaptToSchema()
    #expect(try store.apply([delete("notes/a")], by: writer).deleted.letters == "notes/a")
  }
}
