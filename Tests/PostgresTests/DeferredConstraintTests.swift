import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Constraints that the application has checked at the end of a transaction, as Django does for every
/// key.
@Suite(
  "Deferred constraints on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct DeferredConstraintTests {
  private static let deferred = "DEFERRABLE INITIALLY DEFERRED"

  private static func store(_ kind: String = deferred) throws -> PostgresFixture {
    try PostgresFixture(
      Music.model().replacing(
        "collections: {", with: "collections: { charts: { table: 'chart', key: 'id' },"),
      schema: """
        \(Music.schema)
        CREATE TABLE chart(
          id text PRIMARY KEY, album_id text CONSTRAINT chart_album REFERENCES album \(kind));
        INSERT INTO chart VALUES('old', 'b1')
        """)
  }

  private static func put(_ collection: String, _ key: String, _ value: String) -> Change {
    .put(Node(collection, .text(key)), type: nil, value: JSONText(valid: value), edges: nil)
  }

  private static func chart(_ key: String, of album: String) -> Change {
    put("charts", key, #"{"album_id": "\#(album)"}"#)
  }

  @Test("A file that such a key refuses is rejected, naming the constraint and the row")
  func refused() throws {
    let store = try Self.store()
    let reasons = try store.reasons([Self.chart("s1", of: "b1"), Self.chart("s2", of: "none")])
    #expect(reasons.map(\.code) == [.denied])
    #expect(reasons.map(\.node) == [Node("charts", .text("s2"))])
    let message = reasons.first?.message ?? ""
    #expect(message.contains("\"chart_album\""))
    #expect(message.contains("Key (album_id)=(none) is not present in table \"album\""))
    #expect(try store.texts("SELECT id FROM chart") == ["old"])
  }

  @Test("A deletion that such a key refuses names what still refers to the row")
  func deletion() throws {
    let store = try Self.store()
    let reasons = try store.reasons([.delete(Node("albums", .text("b1")))])
    #expect(reasons.map(\.code) == [.denied])
    #expect(reasons.first?.message.contains("\"chart_album\"") == true)
    #expect(reasons.first?.message.contains("Key (id)=(b1)") == true)
    #expect(try store.texts("SELECT count(*) FROM album") == ["3"])
  }

  @Test(
    "Each file is judged at its own end, whatever the others in its commit do",
    arguments: [deferred, "DEFERRABLE INITIALLY IMMEDIATE"])
  func each(_ kind: String) throws {
    let store = try Self.store(kind)
    let files: [[Change]] = [
      [Self.chart("s1", of: "new"), Self.put("albums", "new", "{}")],
      [Self.chart("s2", of: "none")],
      [Self.chart("s3", of: "newer"), Self.put("albums", "newer", "{}")],
      [
        .delete(Node("albums", .text("new"))), .delete(Node("charts", .text("s1"))),
        .delete(Node("artists", .text("anna"))),
      ],
    ]
    var rejected: [Int] = []
    try store.writer.group {
      for (number, changes) in files.enumerated() {
        var rest = changes[...]
        let file = Submission(id: "\(number)", author: nil, fingerprint: 1, at: 1)
        do {
          _ = try store.writer.apply(file) { rest.popFirst() }
        } catch is Rejection {
          rejected.append(number)
        }
      }
    }
    #expect(rejected == [1])
    #expect(try store.texts("SELECT id FROM album ORDER BY 1") == ["b1", "newer"])
    #expect(try store.texts("SELECT album_id FROM chart ORDER BY 1") == ["b1", "newer"])
  }

  @Test("A constraint trigger that refuses a file at its end has it rejected with its message")
  func trigger() throws {
    let store = try Self.store()
    try store.bySQL(
      """
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'too late for %', NEW.id; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON artist \(Self.deferred)
        FOR EACH ROW EXECUTE FUNCTION refuse()
      """)
    let reasons = try store.reasons([Self.put("artists", "carla", "{}")])
    #expect(reasons.map(\.message) == ["too late for carla"])
  }

  @Test("An undo brings back what refers before what it refers to, and leaves what a key refuses")
  func undo() throws {
    let store = try Self.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let batch = try #require(try store.sweep().batch)
    // A second table wants a row that nobody brings back.
    try store.bySQL(
      """
      CREATE TABLE label(id text PRIMARY KEY);
      ALTER TABLE album ADD FOREIGN KEY(artist_id) REFERENCES label \(Self.deferred) NOT VALID
      """)
    let undone = try store.writer.undo(batch, by: "me", at: 5)
    #expect(undone.left.map(\.node?.collection) == ["albums", "albums"])
    #expect(undone.byCollection == ["photos": 1, "songs": 3])
    #expect(undone.left.first?.reason.contains("foreign key") == true)
  }
}
