import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteJournal
import SQLiteSweeps

/// A model may say of a collection what the last one did not.
@Suite("What a collection stands for")
struct CollectionChangeTests {
  private static let schema = """
    CREATE TABLE album(id TEXT PRIMARY KEY, slug TEXT UNIQUE NOT NULL);
    CREATE TABLE song(id TEXT PRIMARY KEY, album_id TEXT);
    CREATE TABLE note(id TEXT PRIMARY KEY);
    INSERT INTO album VALUES(1, 'one'), (2, 'two'); INSERT INTO song VALUES(1, 1), (2, 2);
    """

  private func model(
    _ collections: String, references: String = "", roots: String = ""
  ) throws -> StoreModel {
    try StoreModel("{ collections: { \(collections) }, relationships: [\(references)] \(roots) }")
  }

  private func album(of songs: String, to albums: String) -> String {
    """
    { name: 'album', from: '\(songs)', to: '\(albums)', column: 'album_id',
      rules: ['deleteSourceIfDestinationDeleted', 'deleteDestinationIfAllSourcesDeleted'] }
    """
  }

  private let albums = "albums: { table: 'album', key: 'id' }"
  private let songs = "songs: { table: 'song', key: 'id' }"

  @Test("Objects are not taken for the numbers of rows")
  func objects() throws {
    let store = try TestStore(model: model("notes: {}"), schema: Self.schema)
    try store.apply([put("notes/a", #"{"text": "precious"}"#), put("notes/b")])
    let mapped = try model("notes: { table: 'note', key: 'id' }")
    let writer = try Writer(path: store.path, model: mapped)
    #expect(writer.bindingProblems.map(\.path) == ["collections.notes"])
    #expect(try writer.sweep([.all], at: 1).outcome == .blocked)
    #expect(throws: Rejection.self) { try store.apply([put("notes/c")], by: writer) }
    #expect(try store.alive(in: "notes") == "notes/a notes/b")
    // Without objects it may become a table, and back.
    try store.apply([.deleteAll(collection: "notes")])
    #expect(try Writer(path: store.path, model: mapped).bindingProblems.isEmpty)
    #expect(try Writer(path: store.path, model: model("notes: {}")).bindingProblems.isEmpty)
  }

  @Test("The numbers of rows are not taken for objects")
  func rows() throws {
    let roots = ", roots: ['songs']"
    let store = try TestStore(
      model: model("\(albums), \(songs)", roots: roots), schema: Self.schema)
    try store.apply(changes("albums/1-8>songs/1"))
    let writer = try Writer(path: store.path, model: model(songs, roots: roots))
    #expect(writer.bindingProblems.map(\.path) == ["collections.albums"])
    #expect(try writer.sweep([.all], at: 1).outcome == .blocked)
    #expect(throws: Rejection.self) { try store.apply([put("albums/9")], by: writer) }
    #expect(try store.texts("SELECT id FROM song") == ["1", "2"])
    // Without the edge nothing is left of it.
    try store.run("~albums/1->songs/1:e")
    #expect(try Writer(path: store.path, model: model(songs)).bindingProblems.isEmpty)
    let left = "SELECT key FROM cascade_node JOIN cascade_collection AS c ON c.id = collection"
    #expect(try store.texts("\(left) WHERE name = 'albums'").isEmpty)
  }

  @Test("What is only called otherwise keeps its edges, and what the journal says of it")
  func renamed() throws {
    let store = try TestStore(
      model: model("\(albums), \(songs)", references: album(of: "songs", to: "albums")),
      schema: Self.schema)
    try store.apply(changes("n-8>songs/2") + [put("n")])
    try store.bySQL("DELETE FROM song WHERE id = 1")
    let writer = try Writer(
      path: store.path,
      model: model(
        "\(albums), tracks: { table: 'song', key: 'id' }",
        references: album(of: "tracks", to: "albums")))
    #expect(writer.bindingProblems.isEmpty)
    #expect(try writer.sweep([.cascade, .refcount], at: 1).byCollection == ["albums": 1])
    #expect(try store.texts("SELECT name FROM cascade_collection WHERE name = 'songs'").isEmpty)
    #expect(try store.apply([delete("n")], by: writer).deleted.letters == "albums/2 n tracks/2")
  }

  @Test("A lease holds its row, whatever the collection is called now")
  func leased() throws {
    let store = try TestStore(
      model: model("\(albums), \(songs)", references: album(of: "songs", to: "albums")),
      schema: Self.schema)
    _ = try store.writer.sweep([.all], at: 1)
    try store.lease("'1'", in: "songs", until: 99_000_000_000)
    let writer = try Writer(
      path: store.path,
      model: model(
        "\(albums), tracks: { table: 'song', key: 'id' }",
        references: album(of: "tracks", to: "albums")))
    try store.bySQL("DELETE FROM album")
    #expect(try writer.sweep([.cascade], at: 1).byCollection == ["tracks": 1])
    #expect(try store.texts("SELECT id FROM song") == ["1"])
    _ = try writer.release([.node(Node("tracks", .text("1")))], owner: nil)
    #expect(try writer.sweep([.cascade], at: 1).byCollection == ["tracks": 1])
  }

  @Test("Names may go round: each keeps what it has edges to", arguments: [false, true])
  func renamedInTurn(swaps: Bool) throws {
    let store = try TestStore(model: model("\(albums), \(songs)"), schema: Self.schema)
    try store.apply(changes("x-4>albums/1 y-4>songs/1 x y"))
    let others =
      swaps
      ? "songs: { table: 'album', key: 'id' }, albums: { table: 'song', key: 'id' }"
      : "songs: { table: 'album', key: 'id' }, tracks: { table: 'song', key: 'id' }"
    let writer = try Writer(path: store.path, model: model(others))
    #expect(writer.bindingProblems.isEmpty)
    try store.bySQL("DELETE FROM album WHERE id = '1'")
    #expect(try writer.sweep([.cascade], at: 1).deleted.letters == "x")
    try store.bySQL("DELETE FROM song WHERE id = '1'")
    #expect(try writer.sweep([.cascade], at: 2).deleted.letters == "y")
  }

  @Test("A name that only objects had that are gone is free")
  func renamedToAnOldName() throws {
    let store = try TestStore(model: model(songs), schema: Self.schema)
    try store.apply(changes("x-4>songs/1 x") + [put("tracks/1")])
    try store.apply([delete("tracks/1")])
    let tracks = try model("tracks: { table: 'song', key: 'id' }")
    let writer = try Writer(path: store.path, model: tracks)
    #expect(writer.bindingProblems.isEmpty)
    #expect(try store.apply([delete("tracks/1")], by: writer).deleted.letters == "tracks/1 x")
  }

  @Test("Objects that come when a table was taken out stay, whatever is made of the schema")
  func objectsInstead() throws {
    let store = try TestStore(model: model("\(albums), \(songs)"), schema: Self.schema)
    try store.apply(changes("albums/1-8>songs/1 x-8>y x y"))
    try store.run("~albums/1->songs/1:e")
    // Somebody has not read yet who had an edge to what.
    try store.bySQL(
      """
      INSERT INTO cascade_journal(what, key, a, b, c, d)
      SELECT 0, 0, source, name, destination, rules FROM cascade_edge
      """)
    let writer = try Writer(path: store.path, model: model(songs))
    #expect(try store.apply([put("albums/z", "{}")], by: writer).outcome == .applied)
    try store.bySQL("CREATE TABLE other(x)")
    #expect(try store.apply([put("albums/w")], by: writer).outcome == .applied)
    let keys = "SELECT key FROM cascade_node JOIN cascade_collection AS c ON c.id = collection"
    #expect(try store.texts("\(keys) WHERE name = 'albums' ORDER BY key") == ["w", "z"])
  }

  @Test(
    "Rows of another table, by another key or with other references, nobody has watched",
    arguments: ["albums: { table: 'album', key: 'slug' }", "albums: { table: 'note', key: 'id' }"])
  func unwatched(albums other: String) throws {
    let references = album(of: "songs", to: "albums")
    let store = try TestStore(
      model: model("\(albums), \(songs)", references: references), schema: Self.schema)
    _ = try store.writer.sweep([.all], at: 1)
    let writer = try Writer(
      path: store.path, model: model("\(other), \(songs)", references: references))
    #expect(try writer.sweep([.all], at: 2).outcome == .held)
    #expect(try store.texts("SELECT id FROM song") == ["1", "2"])
  }

  @Test("Nor has anybody looked at a new reference")
  func newReference() throws {
    let store = try TestStore(model: model("\(albums), \(songs)"), schema: Self.schema)
    _ = try store.writer.sweep([.all], at: 1)
    let wrong = "{ name: 'self', from: 'songs', to: 'songs', column: 'album_id', "
    try store.bySQL("UPDATE song SET album_id = id + 7")
    let writer = try Writer(
      path: store.path,
      model: model(
        "\(albums), \(songs)", references: wrong + "rules: ['deleteSourceIfDestinationDeleted'] }"))
    #expect(try writer.sweep([.all], at: 2).outcome == .held)
  }
}
