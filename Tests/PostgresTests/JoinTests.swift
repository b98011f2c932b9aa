import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Edges in join tables, and keys of several columns.
@Suite(
  "Joins and several columns on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)")
)
struct JoinTests {
  private static let schema = """
    CREATE TABLE song(id int PRIMARY KEY); CREATE TABLE tag(name text PRIMARY KEY);
    CREATE TABLE song_tag(song int, tag text, place int DEFAULT 7, PRIMARY KEY(song, tag));
    CREATE INDEX ON song_tag(tag);
    INSERT INTO song VALUES(1), (2); INSERT INTO tag VALUES('jazz'), ('live');
    INSERT INTO song_tag VALUES(1, 'jazz'), (1, 'live'), (2, 'live');
    """

  private static func store(_ rules: String, schema: String = "") throws -> PostgresFixture {
    let store = try PostgresFixture(
      """
      { collections: { songs: { table: "song", key: "id" }, tags: { table: "tag", key: "name" } },
        relationships: [{ name: "tags", from: "songs", to: "tags", rules: [\(rules)],
          join: { table: "song_tag", source: "song", destination: "tag" } }] }
      """, schema: JoinTests.schema + schema)
    try store.sweep([.all])
    return store
  }

  private static let rows = "SELECT t::text FROM song_tag t ORDER BY 1"

  @Test(
    "Join rows go with either end, take along what they counted for, and an undo brings all back")
  func counts() throws {
    let store = try Self.store("'deleteDestinationIfAllSourcesDeleted'")
    try store.bySQL("DELETE FROM song WHERE id = 1")
    let result = try store.sweep()
    #expect(result.byCollection == ["tags": 1])
    #expect(result.edgesRemoved == 2)
    #expect(try store.texts(Self.rows) == ["(2,live,7)"])
    #expect(try store.journalIsEmpty)
    guard case .deleted(let why) = try store.reader.why(.node(Node("tags", .text("jazz")))) else {
      Issue.record("not deleted")
      return
    }
    #expect(why.chain.map(\.node.description) == ["tags/jazz", "songs/1"])
    let undone = try store.writer.undo(#require(result.batch), by: "me", at: 5)
    #expect(undone.rows == 2)
    #expect(try store.texts(Self.rows) == ["(1,jazz,7)", "(1,live,7)", "(2,live,7)"])
    #expect(try store.texts("SELECT name FROM tag ORDER BY 1") == ["jazz", "live"])
  }

  @Test("Join rows that lead nowhere go with their source, and do not keep others from going")
  func leadNowhere() throws {
    let store = try PostgresFixture(
      """
      { collections: { songs: { table: "song", key: "id" }, covers: { table: "cover", key: "id" } },
        relationships: [{ name: "covers", from: "songs", to: "covers", none: ["no"],
          join: { table: "song_cover", source: "song", destination: "cover" },
          rules: ["deleteDestinationIfSourceDeleted"] }] }
      """,
      schema: """
        CREATE TABLE song(id int PRIMARY KEY); CREATE TABLE cover(id uuid PRIMARY KEY);
        CREATE TABLE song_cover(song int, cover text);
        INSERT INTO song VALUES(1), (2); INSERT INTO cover VALUES(gen_random_uuid());
        INSERT INTO song_cover VALUES(1, 'no'), (1, NULL), (2, NULL);
        INSERT INTO song_cover SELECT 1, id FROM cover;
        """)
    try store.sweep([.all])
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM song WHERE id = 1")
    #expect(try store.sweep().byCollection == ["covers": 1])
    #expect(try store.texts("SELECT song FROM song_cover") == ["2"])
  }

  @Test("A join row that a foreign key forbids to come back stays away, and the rest comes")
  func constrainedUndo() throws {
    let store = try Self.store(
      "'deleteSourceIfDestinationDeleted'",
      schema: "ALTER TABLE song_tag ADD FOREIGN KEY(song) REFERENCES song ON DELETE CASCADE;")
    let batch = try store.apply([.delete(Node("tags", .text("live")))]).batch
    #expect(try store.texts("SELECT count(*) FROM song") == ["0"])
    #expect(try store.texts(Self.rows).isEmpty)
    try store.bySQL("INSERT INTO tag VALUES('live')")
    _ = try store.writer.undo(#require(batch), by: "me", at: 5)
    #expect(try store.texts(Self.rows) == ["(1,live,7)", "(2,live,7)"])
  }

  @Test("A removed join row counts, and one that comes within an open transaction holds")
  func races() throws {
    let store = try Self.store("'deleteDestinationIfAllSourcesDeleted'")
    try store.bySQL("DELETE FROM song_tag WHERE tag = 'jazz'")
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO song_tag VALUES(2, 'jazz')")
    #expect(try store.sweep().isCutShort)
    try application.execute("COMMIT; DELETE FROM song_tag WHERE tag = 'jazz'")
    #expect(try store.sweep().byCollection == ["tags": 1])
  }

  @Test("What gains a destination within an open transaction is not deleted for want of one")
  func heldSource() throws {
    let store = try Self.store("'deleteSourceIfAllDestinationsDeleted'")
    try store.bySQL("DELETE FROM tag WHERE name = 'live'")
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO song_tag VALUES(2, 'jazz')")
    #expect(try store.sweep().isCutShort)
    #expect(try store.writer.hasJournal)
    try application.execute("COMMIT")
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.texts(Self.rows) == ["(1,jazz,7)", "(2,jazz,7)"])
    #expect(try store.journalIsEmpty)
  }

  @Test("A join row from a transaction that could not see an end go, goes when that has ended")
  func late() throws {
    let store = try Self.store("")
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO song_tag VALUES(2, 'jazz')")
    try store.bySQL("DELETE FROM tag WHERE name = 'jazz'")
    try store.sweep()
    try application.execute("COMMIT")
    #expect(try store.texts(Self.rows) == ["(1,live,7)", "(2,jazz,7)", "(2,live,7)"])
    try store.waitForJournal()
    try store.sweep()
    #expect(try store.texts(Self.rows) == ["(1,live,7)", "(2,live,7)"])
  }

  @Test("A denial by a join row is refused at once")
  func denial() throws {
    let store = try Self.store("'denyDestinationDeletion'")
    #expect(throws: PostgresError.self) { try store.bySQL("DELETE FROM tag WHERE name = 'jazz'") }
    try store.bySQL("DELETE FROM song_tag WHERE tag = 'jazz'; DELETE FROM tag WHERE name = 'jazz'")
    #expect(throws: Rejection.self) { try store.apply([.delete(Node("tags", .text("live")))]) }
  }

  @Test("Join rows without an end are found, and told by check")
  func dangling() throws {
    let store = try Self.store("")
    try store.bySQL("INSERT INTO song_tag VALUES(1, 'lost'), (9, 'live')")
    let messages = try store.reader.checkReferences(limit: 9).list.map(\.message)
    #expect(
      messages == [
        "tags/live is referred to by \"tags\" from songs/9, which does not exist",
        "songs/1 refers by \"tags\" to tags/lost, which does not exist",
      ])
    try store.sweep([.all])
    #expect(try store.texts(Self.rows).count == 3)
    #expect(try store.reader.checkSetup().isEmpty)
    try store.bySQL("DROP INDEX song_tag_tag_idx")
    let advice = try store.reader.checkSetup().map(\.message).joined()
    #expect(advice.contains("CREATE INDEX CONCURRENTLY ON public.song_tag(\"tag\")"))
  }

  @Test("Keys and references of several columns follow the rules, whatever their texts are")
  func pairs() throws {
    let odd = "a \"b\" \\c ,{} é \u{8}\u{1}\n\u{7F}\u{85}"
    let schema = """
      CREATE TABLE entry(feed text, id int, PRIMARY KEY(feed, id));
      CREATE TABLE mark(id int PRIMARY KEY, feed varchar, entry bigint);
      CREATE INDEX ON mark(entry, feed);
      INSERT INTO entry VALUES('\(odd)', 1), ('\(odd)', 2), ('b', 1);
      INSERT INTO mark VALUES(1, '\(odd)', 1), (2, '\(odd)', 2), (3, 'b', 1), (4, 'b', NULL);
      """
    func model(_ rule: String) -> String {
      """
      { collections: { entries: { table: "entry", key: ["feed", "id"] },
          marks: { table: "mark", key: "id" } },
        relationships: [{ name: "entry", from: "marks", to: "entries", column: ["feed", "entry"],
          rules: ["\(rule)"] }] }
      """
    }
    let node = Node("entries", .composite([.text(odd), .integer(1)]))
    for rule in ["deleteSourceIfDestinationDeleted", "nullifySourceIfDestinationDeleted"] {
      let store = try PostgresFixture(model(rule), schema: schema)
      try store.sweep([.all])
      #expect(try store.reader.checkSetup().isEmpty)
      #expect(try store.reader.nodes(in: "entries", after: node.key, limit: 9).count == 2)
      #expect(try store.reader.edges(EdgeQuery(to: .node(node))).edges.count == 1)
      let before = try store.texts("SELECT m::text FROM mark m ORDER BY id")
      let receipt = try store.apply([.delete(node)])
      #expect(try store.reader.node(node).exists == false)
      guard case .deleted = try store.reader.why(.node(node)) else {
        Issue.record("not deleted")
        return
      }
      let left = try store.texts("SELECT id FROM mark WHERE feed IS NOT NULL ORDER BY 1")
      #expect(left == ["2", "3", "4"])
      _ = try store.writer.undo(#require(receipt.batch), by: "me", at: 5)
      #expect(try store.texts("SELECT m::text FROM mark m ORDER BY id") == before)
    }
  }
}
