import CascadeModel
import CascadeSystem
import PostgresSupport
import Testing

/// Change files that the database refuses, whenever it does so.
@Worker
@Suite("Refused files on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresRefusalTests {
  private static let schema = """
    CREATE TABLE author(id int PRIMARY KEY);
    CREATE TABLE book(id int PRIMARY KEY,
      author_id int NOT NULL CONSTRAINT book_author REFERENCES author DEFERRABLE INITIALLY DEFERRED);
    CREATE INDEX ON book(author_id);
    INSERT INTO author VALUES(1);
    """

  private static let model = """
    { collections: { authors: { table: "author", key: "id" }, books: { table: "book", key: "id" } },
      relationships: [{ name: "author", from: "books", to: "authors", column: "author_id" }] }
    """

  private static func book(_ id: Int, by author: Int) -> String {
    #"{"changes": [{"put": ["books", \#(id)], "value": {"author_id": \#(author)}}]}"#
  }

  @Test("A file that a deferred key refuses is rejected within a second; the next one is applied")
  func deferred() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    let start = ContinuousClock.now
    let refused = try store.ctl("--json", "apply", "-", input: Self.book(1, by: 99))
    #expect(ContinuousClock.now - start < .seconds(1))
    #expect(refused.status == 4)
    let reason = try #require(refused.json["reasons"]?.array?.first)
    #expect(reason["code"]?.string == "denied")
    #expect(reason["node"]?.text == #"["books",1]"#)
    let message = reason["message"]?.string ?? ""
    #expect(message.contains("\"book_author\"") && message.contains("(99)"), "\(message)")
    #expect(try store.ctl("apply", "-", input: Self.book(2, by: 1)).status == 0)
    #expect(try store.texts("SELECT id FROM book") == ["2"])
    #expect(try store.state == "ok")
    // The key refuses a deletion, too.
    let delete = #"{"changes": [{"delete": ["authors", 1]}]}"#
    #expect(try store.ctl("apply", "-", input: delete).status == 4)
    // Their senders were answered, and so nothing is left of either.
    try store.waitUntil("nothing is kept of the refused files") {
      try store.status?["spool"]?["rejected"]?.integer == 0
    }
  }

  @Test("A file that fails again and again is set aside; it is told, retried and dropped")
  func setAside() throws {
    let store = try PostgresDaemon(model: Self.model, schema: Self.schema)
    try store.bySQL("REVOKE INSERT ON book FROM cascaded")
    let failed = try store.ctl("apply", "-", input: Self.book(1, by: 1))
    #expect(failed.status == 75)
    #expect(failed.error.contains("permission denied for table book"), "\(failed.error)")
    let next = #"{"changes": [{"put": ["authors", 2], "value": {}}]}"#
    #expect(try store.ctl("apply", "-", input: next).status == 0)
    #expect(try store.texts("SELECT count(*) FROM author") == ["2"])
    #expect(try store.state == "ok")
    #expect(try store.status?["spool"]?["stuck"]?.integer == 1)
    #expect(store.log.contains("is set aside: "))
    let file = try #require(try store.ctl("--json", "spool").lines.first)
    #expect(file["state"]?.string == "stuck")
    let why = file["reasons"]?.array?.first?["message"]?.string
    #expect(why?.contains("permission denied") == true)
    let name = try #require(file["file"]?.string)
    try store.bySQL("GRANT INSERT ON book TO cascaded")
    #expect(try store.ctl("spool", "retry", name).status == 0)
    try store.waitUntil("it is applied") { try store.texts("SELECT id FROM book") == ["1"] }
    #expect(try store.status?["spool"]?["stuck"]?.integer == 0)

    try store.bySQL("REVOKE INSERT ON book FROM cascaded")
    try store.enqueue("x.json", Self.book(3, by: 1))
    try store.waitUntil("it is set aside") {
      try store.status?["spool"]?["stuck"]?.integer == 1
    }
    #expect(try store.ctl("spool", "drop", "x.json").status == 0)
    #expect(try store.queued == 0)
    #expect(try store.status?["spool"]?["stuck"]?.integer == 0)
  }
}
