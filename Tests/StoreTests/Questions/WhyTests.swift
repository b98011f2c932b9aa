import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing
import SQLiteSweeps

/// Why something went that went in several sweeps: a tag goes with its last song, which goes with
/// its album, and a note with its tag.
@Suite("Why, over several batches")
struct WhyTests {
  let store: TestStore

  init() throws {
    store = try TestStore(
      model: StoreModel(
        """
        { collections: {
            albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" },
            tags: { table: "tag", key: "id" }, notes: { table: "note", key: "id" } },
          relationships: [
            { name: "album", from: "songs", to: "albums", column: "album",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "tag", from: "songs", to: "tags", column: "tag",
              rules: ["deleteDestinationIfAllSourcesDeleted"] },
            { name: "about", from: "notes", to: "tags", column: "tag",
              rules: ["deleteSourceIfDestinationDeleted"] },
          ] }
        """),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, tag INTEGER);
        CREATE TABLE tag(id INTEGER PRIMARY KEY);
        CREATE TABLE note(id INTEGER PRIMARY KEY, tag INTEGER);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL(WhyTests.rows)
  }

  private static let rows = """
    INSERT INTO album VALUES(1); INSERT INTO tag VALUES(1);
    INSERT INTO song VALUES(1, 1, 1); INSERT INTO note VALUES(1, 1);
    """

  private func sweep(_ kinds: SweepKind..., at time: Int64 = 1) throws -> Int64? {
    try store.writer.sweep(kinds, at: time).batch
  }

  @Test("What one kind of sweep deleted is the cause of what the other does")
  func kinds() throws {
    try store.bySQL("DELETE FROM album")
    let batches = try [sweep(.cascade), sweep(.refcount), sweep(.cascade)]
    #expect(try store.chain(of: "songs/1") == "songs/1 albums/1")
    #expect(try store.chain(of: "tags/1") == "tags/1 songs/1 albums/1")
    #expect(try store.chain(of: "notes/1") == "notes/1 tags/1 songs/1 albums/1")
    let found = try ["songs/1", "tags/1", "notes/1"].map { try store.deletion(of: $0)?.batch }
    #expect(found == batches)
  }

  @Test("What a lease spared went because of what had gone before")
  func leases() throws {
    try store.lease("1", in: "songs", until: 1_000)
    try store.bySQL("DELETE FROM album")
    #expect(try sweep(.cascade, .refcount) == nil)
    try store.lease("1", in: "notes", until: 2_000)
    let first = try sweep(.cascade, .refcount, at: 1_500_000)
    _ = try sweep(.cascade, .refcount, at: 2_500_000)
    #expect(try store.chain(of: "notes/1") == "notes/1 tags/1 songs/1 albums/1")
    #expect(try store.deletion(of: "tags/1")?.batch == first)
  }

  @Test("What was there again, and was deleted by SQL, went for no older reason")
  func again() throws {
    try store.bySQL("DELETE FROM album")
    _ = try sweep(.cascade, .refcount)
    try store.bySQL(WhyTests.rows)
    try store.bySQL("DELETE FROM tag")
    let batch = try sweep(.cascade, .refcount)
    #expect(try store.chain(of: "notes/1") == "notes/1 tags/1")
    #expect(try store.chain(of: "tags/1") == "tags/1")
    #expect(try store.deletion(of: "tags/1")?.batch == batch)
  }

  @Test("What an application deletes is told of, whether or not something follows")
  func alone() throws {
    try store.bySQL("INSERT INTO album VALUES(7); DELETE FROM album WHERE id = 7")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 5).outcome == .nothing)
    guard case .deleted(let deletion) = try store.reader.why(Node("albums", .integer(7))) else {
      Issue.record("nobody knows why")
      return
    }
    #expect((deletion.at, deletion.cause) == (5, .sweep))
    #expect(try store.reader.batches(after: 0, limit: 10).isEmpty)
    _ = try store.writer.sweep([.trash], at: .max)
    guard case .unknown = try store.reader.why(Node("albums", .integer(7))) else {
      Issue.record("still known")
      return
    }
  }

  @Test(
    "A kind that found nothing to do takes no cause for its own",
    arguments: [[.refcount, .cascade], [.refcount, .all], [.cascade, .refcount]] as [[SweepKind]])
  func afterAnotherKind(kinds: [SweepKind]) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { t: { table: 't', key: 'id' } },
          relationships: [ { name: 'z', from: 't', to: 't', column: 'r',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema:
        "CREATE TABLE t(id TEXT PRIMARY KEY, r TEXT); INSERT INTO t VALUES('a', NULL), ('b', 'a')")
    _ = try store.writer.sweep([.all], at: 0)
    // In an earlier life it was the other way round.
    try store.bySQL("DELETE FROM t WHERE id = 'a'")
    _ = try store.writer.sweep([.all], at: 1)
    try store.bySQL("INSERT INTO t VALUES('b', NULL), ('a', 'b')")
    _ = try store.writer.sweep([.all], at: 2)
    try store.bySQL("DELETE FROM t WHERE id = 'b'")
    for kind in kinds { _ = try store.writer.sweep([kind], at: 3) }
    guard case .deleted(let deletion) = try store.reader.why(node("t/a")) else {
      Issue.record("nobody knows why")
      return
    }
    #expect(deletion.chain.map(\.node.letters) == ["t/a", "t/b"])
  }
}
