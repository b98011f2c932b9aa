import CascadeInspect
import CascadeSQLite
import CascadeSystem
import Testing

/// The file, and what is beside it, stay as they are.
@Suite struct OpeningTests {
  private static let sql = """
    CREATE TABLE a(id INTEGER PRIMARY KEY);
    CREATE TABLE b(id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a);
    INSERT INTO a VALUES(1); INSERT INTO b VALUES(1, 1), (2, 2);
    """

  @Test(arguments: ["delete", "wal", "truncate", "persist"])
  func leavesNothingBeside(_ mode: String) throws {
    let database = try TestDatabase(OpeningTests.sql, name: "a ?#%41.db", journalMode: mode)
    let before = try database.files()
    #expect(try database.inspect().orphans == 1)
    #expect(try database.files() == before)
  }

  @Test func readsALogWithoutItsIndex() throws {
    let database = try TestDatabase(OpeningTests.sql, journalMode: "wal")
    let db = try Connection(path: database.path, access: .readWrite)
    try db.execute("INSERT INTO b VALUES(3, 3)")
    try database.copy("app.db", to: "copy.db")
    try database.copy("app.db-wal", to: "copy.db-wal")
    let before = try database.files()
    #expect(try Inspect.file(database.path("copy.db")).orphans == 2)
    #expect(try database.files().keys == before.keys)
    _ = try db.integer("SELECT 1")
  }

  @Test func saysThatAJournalIsHot() throws {
    let database = try TestDatabase(
      "CREATE TABLE a(id INTEGER PRIMARY KEY, x TEXT); \(rows(5_000, into: "a", "i, hex(i)"))")
    let db = try Connection(path: database.path, access: .readWrite)
    try db.execute("PRAGMA cache_size = 5; BEGIN; UPDATE a SET x = 'changed to something longer'")
    try database.copy("app.db", to: "copy.db")
    try database.copy("app.db-journal", to: "copy.db-journal")
    let before = try database.files()
    #expect(kind { try Inspect.file(database.path("copy.db")) } == .busy)
    #expect(try database.files() == before)
    try db.execute("ROLLBACK")
  }

  @Test func tellsWhatIsNoDatabase() throws {
    let database = try TestDatabase(OpeningTests.sql)
    try database.write(
      "text", "This is a text that is longer than the header of a database, by far.")
    try database.write("empty", "")
    _ = try database.makeDirectory("directory")
    #expect(kind { try Inspect.file(database.path("none")) } == .missing)
    #expect(kind { try Inspect.file(database.path("text")) } == .noDatabase)
    #expect(kind { try Inspect.file(database.path("directory")) } == .noDatabase)
    #expect(try Inspect.file(database.path("empty")).tables.isEmpty)
  }

  private func kind(_ body: () throws -> Inspection) -> InspectError.Kind? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? InspectError)?.kind
    }
  }
}
