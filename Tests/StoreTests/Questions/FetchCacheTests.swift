import StoreDefinition
import StoreFixtures
import Glibc
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import Testing
import SQLiteEdges

@Suite("What fetched properties remember")
struct FetchCacheTests {
  private func fixture() throws -> FetchFixture {
    try FetchFixture(artists: #"f: { from: "songs", where: "artist_id = $source.id" }"#)
  }

  @Test("The second answer is the first, as long as nobody commits")
  func hit() throws {
    let fixture = try fixture()
    let first = try fixture.fetch(artist(1))
    let second = try fixture.fetch(artist(1))
    #expect(!first.isCached && second.isCached)
    #expect(first.nodes.map(\.node) == second.nodes.map(\.node))
    #expect(try !fixture.fetch(artist(2)).isCached)
    #expect(try fixture.fetch(artist(2)).isCached)
  }

  @Test("Another program's commit is seen")
  func foreignCommit() throws {
    let fixture = try fixture()
    #expect(try fixture.keys(artist(1)) == "s1 s2 s3 s4")
    try fixture.store.bySQL("DELETE FROM song WHERE id = 's2'")
    let found = try fixture.fetch(artist(1))
    #expect(!found.isCached && found.nodes.count == 3)
    #expect(try fixture.fetch(artist(1)).isCached)
  }

  @Test("The daemon's own commit is seen")
  func ownCommit() throws {
    let fixture = try FetchFixture(
      artists: #"f: { from: "notes", where: "value->>'$.artist' = $source.id" }"#)
    #expect(try fixture.keys(artist(1)) == "a c")
    try fixture.put("z", ["artist": 1])
    #expect(try fixture.keys(artist(1)) == "a c z")
  }

  @Test("A transaction that is not committed yet, or never, changes nothing")
  func rollback() throws {
    let fixture = try fixture()
    let other = try Connection(path: fixture.store.path, access: .readWrite)
    try other.begin()
    try other.execute("DELETE FROM song")
    #expect(try fixture.fetch(artist(1)).nodes.count == 4)
    other.rollback()
    #expect(try fixture.fetch(artist(1)).isCached)
  }

  @Test("A refresh looks again, and its answer is kept")
  func refresh() throws {
    let fixture = try FetchFixture(
      artists: #"f: { from: "artists", where: "1", order: "random()" }"#)
    var orders: Set<String> = []
    for _ in 0..<64 {
      #expect(try !fixture.fetch(artist(1), refresh: true).isCached)
      let kept = try fixture.keys(artist(1))
      #expect(try fixture.keys(artist(1)) == kept)
      orders.insert(kept)
    }
    #expect(orders.count > 1)
  }

  @Test("A node that is gone has no property, whatever was kept")
  func goneSource() throws {
    let fixture = try fixture()
    _ = try fixture.fetch(artist(1))
    try fixture.store.bySQL("DELETE FROM artist WHERE id = 1")
    #expect(fixture.complaint() == "there is no node artists/1")
  }

  @Test("More answers than are kept are still right")
  func many() throws {
    let fixture = try FetchFixture(
      notes: #"f: { from: "songs", where: "artist_id = $source.artist AND $source.n > 0" }"#)
    let nodes = (1...1_100).map { note("n\($0)") }
    try fixture.store.apply(
      nodes.enumerated().map { index, node in
        .put(
          node, type: nil, value: JSONText(["artist": 1, "n": .integer(Int64(index + 1))]),
          edges: nil)
      })
    for node in nodes { #expect(try fixture.fetch(node).nodes.count == 4) }
    #expect(try fixture.fetch(nodes[1_099]).isCached)
    #expect(try !fixture.fetch(nodes[0]).isCached)
  }
}

private enum Files {
  static func remove(_ path: String) {
    for end in ["", "-wal", "-shm"] { unsafe unlink(path + end) }
  }
  static func link(_ path: String, _ name: String) { _ = unsafe Glibc.link(path, name) }
}

@Suite("Fetched properties in another store")
struct FetchOtherStoreTests {
  /// An artist's properties in a store that is called "other" in them.
  private func fixture(_ artists: String, other: TestStore) throws -> FetchFixture {
    try FetchFixture(artists: artists.replacing("other", with: other.path), others: [other])
  }

  private func other() throws -> TestStore {
    let other = try TestStore()
    try other.bySQL(
      """
      CREATE TABLE song(id INTEGER PRIMARY KEY, artist_id, year);
      INSERT INTO song VALUES(10, 1, 2001), (11, 2, 2002);
      CREATE TABLE city(a, b, PRIMARY KEY(b, a)) WITHOUT ROWID;
      INSERT INTO city VALUES(1, 'x'), (2, 'y');
      CREATE TABLE keyless(a);
      """)
    try other.apply([
      .put(Node("fans", .text("f1")), type: "t", value: JSONText(["of": 1]), edges: nil),
      .put(Node("fans", .text("f2")), type: "u", value: JSONText(["of": 2]), edges: nil),
      .put(Node("notes", .text("n1")), type: "photo", value: nil, edges: nil),
      .put(Node("notes", .text("n2")), type: "text", value: nil, edges: nil),
    ])
    return other
  }

  static let properties: [(property: String, keys: String)] = [
    (#"from: "songs", where: "artist_id = $source.id""#, "10"),
    (#"from: "fans", where: "value->>'$.of' = $source.id""#, "f1"),
    (#"from: "photos", where: "1""#, "n1"),
    (#"from: "city", where: "a = $source.id""#, #"["x",1]"#),
    (#"from: "city", where: "a = city.a AND b = 'y'""#, #"["y",2]"#),
  ]

  @Test("The node is here, and what it leads to is there", arguments: properties)
  func there(property: String, keys: String) throws {
    let other = try other()
    let fixture = try fixture("f: { \(property), store: 'other' }", other: other)
    #expect(try fixture.keys(artist(1)) == keys)
  }

  @Test("A commit there is seen, one here changes nothing")
  func commits() throws {
    let other = try other()
    let fixture = try fixture(
      #"f: { from: "songs", where: "artist_id = $source.id", store: 'other' }"#, other: other)
    #expect(try fixture.keys(artist(1)) == "10")
    try fixture.store.bySQL("UPDATE song SET artist_id = 1; UPDATE artist SET name = 'x'")
    #expect(try fixture.fetch(artist(1)).isCached)
    try other.bySQL("UPDATE song SET artist_id = 1")
    #expect(try fixture.keys(artist(1)) == "10 11")
    #expect(try fixture.fetch(artist(1)).isCached)
  }

  @Test("The node's own change is seen, although the other store has none")
  func changedSource() throws {
    let other = try other()
    let fixture = try fixture(
      #"f: { from: "songs", where: "year > $source.since", store: 'other' }"#, other: other)
    #expect(try fixture.keys(artist(1)) == "10 11")
    try fixture.store.bySQL("UPDATE artist SET since = 2001")
    #expect(try fixture.keys(artist(1)) == "11")
  }

  @Test("A store that is missing, or none, is told; when it comes, it is found")
  func missing() throws {
    let other = try TestStore()
    let fixture = try fixture(
      #"f: { from: "fans", where: "1", store: 'other-later' }"#, other: other)
    let path = "\(other.path)-later"
    #expect(
      fixture.complaint() == #"fetched property "f" of artists has no value now in "#
        + "\(path): unable to open database file")
    let later = try Connection(path: path, access: .create)
    defer { Files.remove(path) }
    #expect(
      fixture.complaint() == #"fetched property "f" of artists: "# + path
        + #" has no collection and no table with a primary key called "fans""#)
    try later.execute("CREATE TABLE fans(a TEXT PRIMARY KEY); INSERT INTO fans VALUES('f')")
    #expect(try fixture.keys(artist(1)) == "f")
  }

  @Test("A file that took the place of the store is the store")
  func replaced() throws {
    let (one, two) = (try other(), try other())
    let fixture = try fixture(
      #"f: { from: "fans", where: "1", store: 'other' }"#, other: one)
    #expect(try fixture.keys(artist(1)) == "f1 f2")
    try two.apply([.delete(Node("fans", .text("f1")))])
    try two.writer.copyLogIntoDatabase()
    Files.remove(one.path)
    Files.link(two.path, one.path)
    #expect(try fixture.keys(artist(1)) == "f2")
  }

  @Test("A table without a primary key has no nodes")
  func keyless() throws {
    let other = try other()
    let fixture = try fixture(#"f: { from: "keyless", where: "1", store: 'other' }"#, other: other)
    #expect(fixture.complaint().contains("no table with a primary key called \"keyless\""))
  }

  @Test("More stores than are kept open are still searched")
  func manyStores() throws {
    let others = try (0..<6).map { _ in try other() }
    let properties = others.enumerated().map { index, other in
      "f\(index): { from: 'fans', where: 'value->>\"$.of\" = $source.id', store: '\(other.path)' }"
    }
    let fixture = try FetchFixture(artists: properties.joined(separator: ", "), others: others)
    for _ in 0..<2 {
      for index in 0..<6 { #expect(try fixture.keys(artist(1), "f\(index)") == "f1") }
    }
    #expect(try fixture.fetch(artist(1), "f5").isCached)
  }

  @Test("The other store is never written")
  func onlyReads() throws {
    let other = try other()
    let fixture = try fixture(
      #"f: { from: "fans", where: "load_extension('x')", store: 'other' }"#, other: other)
    #expect(fixture.complaint().contains("not authorized to use function: load_extension"))
  }
}
