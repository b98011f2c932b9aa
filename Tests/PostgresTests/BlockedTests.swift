import CascadeModel
import CascadeStore
import PostgresStore
import PostgresSupport
import Testing

@Suite(
  "Nodes that must stay on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct BlockedTests {
  @Test(
    "What a foreign key of the application refuses stays alone, and goes when nothing refuses it",
    arguments: ["", "DEFERRABLE INITIALLY DEFERRED"])
  func foreignKey(_ kind: String) throws {
    let store = try Self.store(
      "CREATE TABLE chart(album_id text REFERENCES album \(kind)); INSERT INTO chart VALUES('a1')")
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let result = try store.sweep()
    #expect(result.outcome == .done)
    #expect(result.byCollection == ["albums": 1, "songs": 1])
    #expect(result.blocked.map(\.node) == [Node("albums", .text("a1"))])
    #expect(result.blocked.first?.message.contains("chart_album_id_fkey") == true)
    #expect(result.blocked.first?.keepsNode == true)
    #expect(try store.texts("SELECT id FROM album ORDER BY 1") == ["a1", "b1"])
    #expect(try store.texts("SELECT count(*) FROM song") == ["3"])
    // Another look finds the same, and is no batch.
    #expect(try store.sweep().blocked.map(\.message) == result.blocked.map(\.message))
    #expect(try store.reader.newestBatches(limit: 9).count == 1)
    try store.bySQL("DELETE FROM chart")
    try store.waitForJournal()
    #expect(try store.sweep().byCollection == ["albums": 1, "songs": 2, "photos": 1])
    #expect(try store.journalIsEmpty)
  }

  @Test("What a foreign key refuses stays, and the rest of what lost its last edge goes")
  func counted() throws {
    let store = try Self.store(
      """
      INSERT INTO photo VALUES(3), (4); UPDATE album SET photo_id = 3 WHERE id = 'a2';
      INSERT INTO album VALUES('a3', 'anna', 4);
      CREATE TABLE cover(photo_id bigint REFERENCES photo); INSERT INTO cover VALUES(3)
      """)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let result = try store.sweep()
    #expect(result.byCollection == ["albums": 3, "songs": 3, "photos": 2])
    #expect(result.blocked.map(\.node) == [Node("photos", .integer(3))])
    #expect(try store.texts("SELECT id FROM photo ORDER BY 1") == ["2", "3"])
    try store.bySQL("DELETE FROM cover")
    try store.waitForJournal()
    #expect(try store.sweep().byCollection == ["photos": 1])
  }

  @Test("A trigger of the application that refuses one row keeps only that row")
  func trigger() throws {
    let store = try Self.store(
      """
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF OLD.id = 'a2' THEN RAISE 'a2 is dear'; END IF; RETURN OLD; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON album FOR EACH ROW EXECUTE FUNCTION refuse();
      INSERT INTO album SELECT 'x' || n, 'anna' FROM generate_series(1, 200) n;
      """)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let result = try store.sweep()
    #expect(result.byCollection == ["albums": 201, "songs": 2, "photos": 1])
    #expect(result.blocked.map(\.message) == ["albums/a2 must stay: a2 is dear"])
  }

  @Test("Foreign keys that the rules agree with are obeyed: what refers goes first")
  func order() throws {
    let store = try Self.store(
      """
      ALTER TABLE song ADD FOREIGN KEY(album_id) REFERENCES album;
      CREATE TABLE fan(id int PRIMARY KEY, song_id uuid REFERENCES song);
      CREATE INDEX ON fan(song_id);
      INSERT INTO fan SELECT row_number() OVER (), id FROM song;
      """,
      collection: "fans: { table: 'fan', key: 'id' },",
      relationship: """
        { name: 'song', from: 'fans', to: 'songs', column: 'song_id',
          rules: ['deleteSourceIfDestinationDeleted'] },
        """)
    let rows = "SELECT f::text FROM fan f UNION ALL SELECT s::text FROM song s ORDER BY 1"
    let before = try store.texts(rows)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let result = try store.sweep()
    #expect(result.blocked.isEmpty)
    #expect(result.byCollection == ["albums": 2, "songs": 3, "fans": 3, "photos": 1])
    #expect(result.byRule["deleteSourceIfDestinationDeleted"] == 8)
    let undone = try store.writer.undo(#require(result.batch), by: "me", at: 5)
    #expect(undone.left.isEmpty)
    #expect(try store.texts(rows) == before)
  }

  @Test("A reference that cannot be null stays, and the other ones are nullified")
  func nullify() throws {
    let store = try Self.store(
      """
      CREATE TABLE fan(id int PRIMARY KEY, album_id text CHECK (id <> 1 OR album_id IS NOT NULL));
      CREATE INDEX ON fan(album_id); INSERT INTO fan VALUES(1, 'a1'), (2, 'a1'), (3, 'a2');
      """,
      collection: "fans: { table: 'fan', key: 'id' },",
      relationship: """
        { name: 'likes', from: 'fans', to: 'albums', column: 'album_id',
          rules: ['nullifySourceIfDestinationDeleted', 'notifyIfDestinationDeleted'] },
        """)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let result = try store.sweep()
    #expect(result.blocked.map(\.node) == [Node("fans", .integer(1))])
    #expect(result.notices == 3)
    #expect(try store.texts("SELECT id FROM fan WHERE album_id IS NOT NULL") == ["1"])
    let again = try store.sweep()
    #expect(again.notices == 0)
    #expect(again.blocked.map(\.message) == result.blocked.map(\.message))
    try store.bySQL("ALTER TABLE fan DROP CONSTRAINT fan_check")
    try store.waitForJournal()
    #expect(try store.sweep().blocked.isEmpty)
    #expect(try store.texts("SELECT id FROM fan WHERE album_id IS NOT NULL").isEmpty)
    #expect(try store.journalIsEmpty)
  }

  @Test(
    "A node that was denied goes when the denial ends",
    arguments: [
      "DELETE FROM song", "UPDATE song SET album_id = NULL", "UPDATE song SET album_id = 'b1'",
    ])
  func denial(_ end: String) throws {
    let store = try Self.store(denies: true)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let result = try store.sweep()
    #expect(result.outcome == .blocked)
    #expect(result.blocked.map(\.node?.description) == ["albums/a1", "albums/a1", "albums/a2"])
    #expect(try store.texts("SELECT id FROM album ORDER BY 1") == ["a1", "a2", "b1"])
    try store.bySQL(end)
    #expect(try store.writer.hasJournal)
    #expect(try store.sweep().byCollection == ["albums": 2, "photos": 1])
    #expect(try store.journalIsEmpty)
  }

  @Test("What came back meanwhile is not looked at any more")
  func comesBack() throws {
    let store = try Self.store(denies: true)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().outcome == .blocked)
    try store.bySQL("INSERT INTO artist VALUES('anna')")
    let result = try store.sweep()
    #expect(result.outcome == .nothing)
    #expect(try store.journalIsEmpty)
  }

  private static func store(
    _ more: String = "", denies: Bool = false, collection: String = "", relationship: String = ""
  ) throws -> PostgresFixture {
    let rule = denies ? "denyDestinationDeletion" : "deleteSourceIfDestinationDeleted"
    let model = Music.model()
      .replacing("collections: {", with: "collections: { \(collection)")
      .replacing("relationships: [", with: "relationships: [\(relationship)")
      .replacing(
        """
        column: "album_id",
              rules: ["deleteSourceIfDestinationDeleted"]
        """, with: "column: 'album_id', rules: ['\(rule)']")
    let store = try PostgresFixture(model, schema: "\(Music.schema); \(more)")
    try store.sweep([.all])
    return store
  }
}
