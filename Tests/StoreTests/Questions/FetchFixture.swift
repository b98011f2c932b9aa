import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore

/// Tables and objects that fetched properties lead from and to.
struct FetchFixture {
  let store: TestStore
  /// Those that its properties search.
  let others: [TestStore]

  /// The properties of the artists, which are rows, and of the notes, which are objects.
  init(artists: String = "", notes: String = "", others: [TestStore] = []) throws {
    self.others = others
    store = try TestStore(
      model: StoreModel(
        """
        { collections: {
          artists: { table: "artist", key: "id", fetched: { \(artists) } },
          songs: { table: "song", key: "id" },
          tags: { table: "song_tag", key: ["song_id", "tag"] },
          blobs: { table: "odd \\"table", key: "k\\"ey", fetched: {
            same: { from: "blobs", where: "num = $source.num" } } },
          notes: { types: { photo: "photos" }, fetched: { \(notes) } } } }
        """))
    try store.bySQL(FetchFixture.tables)
    try put("a", ["artist": 1, "year": 1990, "flag": true, "tags": ["x", "y"]], type: "photo")
    try put("b", ["artist": 2, "text": "it's; --", "none": nil, "half": 0.5], type: "text")
    try put("c", ["artist": 1, "year": 2001], type: "photo")
    try store.apply([.put(Node("notes", .text("d")), type: nil, value: nil, edges: nil)])
  }

  private static let tables = """
    CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT, since INTEGER);
    INSERT INTO artist VALUES(1, 'nina', 1965), (2, 'O''Hara; --', NULL), (3, 'none', 2050);
    CREATE TABLE song(id TEXT PRIMARY KEY, artist_id INTEGER, year INTEGER, title TEXT);
    INSERT INTO song VALUES('s1', 1, 1964, 'a'), ('s2', 1, 1965, 'b'), ('s3', 1, 1999, 'c'),
      ('s4', 1, 1999, 'B'), ('s5', 2, 1980, NULL), (NULL, 1, 1999, 'no node');
    CREATE TABLE song_tag(song_id TEXT, tag INTEGER, PRIMARY KEY(song_id, tag));
    INSERT INTO song_tag VALUES('s1', 7), ('s1', 8), ('s3', 7);
    CREATE TABLE "odd ""table"("k""ey" BLOB PRIMARY KEY, num REAL, data);
    INSERT INTO "odd ""table" VALUES(x'0AFF', 1.5, x''), (x'00', 1.5, 9e999);
    """

  func put(_ key: String, _ value: JSON, type: String? = nil) throws {
    try store.apply(
      [.put(Node("notes", .text(key)), type: type, value: JSONText(value), edges: nil)])
  }

  func fetch(_ node: Node, _ name: String = "f", refresh: Bool = false) throws -> Fetched {
    try store.reader.fetch(name, of: node, refresh: refresh)
  }

  /// The keys that are found, with spaces between.
  func keys(_ node: Node, _ name: String = "f") throws -> String {
    try fetch(node, name).nodes.map(\.node.key.json.plain).joined(separator: " ")
  }

  /// What a failing property says.
  func complaint(_ node: Node = artist(1), timeLimit: Duration = .seconds(5)) -> String {
    do {
      let found = try store.reader.fetch("f", of: node, timeLimit: timeLimit)
      return "found \(found.nodes.count)"
    } catch {
      return "\(error)"
    }
  }
}

func artist(_ id: Int64) -> Node { Node("artists", .integer(id)) }
func note(_ key: String) -> Node { Node("notes", .text(key)) }

extension JSON {
  fileprivate var plain: String { string ?? text }
}
