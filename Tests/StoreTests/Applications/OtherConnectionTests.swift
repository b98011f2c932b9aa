import StoreDefinition
import StoreFixtures
import CascadeSQLite
import Testing

@Suite("Other processes at a database")
struct OtherConnectionTests {
  @Test("Each transaction is counted, whoever commits it, and nothing else")
  func commits() throws {
    let store = try TestStore(schema: "CREATE TABLE a(id INTEGER PRIMARY KEY)")
    let before = try #require(OtherConnections.commits(at: store.path))
    try store.bySQL("INSERT INTO a VALUES(1); BEGIN; INSERT INTO a VALUES(2), (3); COMMIT")
    try store.bySQL("SELECT * FROM a; BEGIN; INSERT INTO a VALUES(4); ROLLBACK")
    #expect(OtherConnections.commits(at: store.path) == before + 2)
  }

  @Test("Where there is no database, nobody counts")
  func nothing() {
    #expect(OtherConnections.commits(at: "/nonexistent/a.db") == nil)
  }
}
