import CascadeModel
import CascadeStore
import CascadeSystem
import SQLiteStore
import SQLiteUndo
import StoreDefinition
import StoreFixtures
import Testing

@Suite("What is remembered, by change of the schema")
struct SchemaChangeTests {
  @Test(
    "It is as the guides say", arguments: SchemaChanges.Change.allCases,
    SchemaChanges.Thing.allCases)
  func thing(_ change: SchemaChanges.Change, _ thing: SchemaChanges.Thing) throws {
    try SchemaChanges(SQLiteUnderTest()).expect(change, thing)
  }

  @Test("Files in the trash come back", arguments: SchemaChanges.Change.allCases)
  func files(_ change: SchemaChanges.Change) throws {
    let files = try FileFixture(
      rules: #"["deleteDestinationIfAllSourcesDeleted"]"#,
      schema: "CREATE TABLE album(id INTEGER PRIMARY KEY, cover TEXT, extra TEXT, size INTEGER)")
    try files.write("1")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL, 2)")
    let batch = try #require(try files.bySQL("DELETE FROM album"))
    try files.tend()
    let columns = [("cover", "TEXT"), ("extra", "TEXT"), ("size", "INTEGER")]
    if change.isMigration {
      try files.store.writer.set(OperatorPause(at: 1, user: 0, isForMigration: true))
    }
    for statement in change.statements(columns) {
      try files.store.bySQL(statement.replacing("song", with: "album"))
      if !change.isMigration { try files.store.followSchema() }
    }
    if change.isMigration { try files.store.writer.set(nil) }
    _ = try files.store.writer.attach(createIndexes: false)
    #expect(try files.store.writer.undo(batch, by: "me", at: SystemClock.wall()).files == 1)
    #expect(try files.tend().restored == 1 && files.isThere("1"))
  }

  @Test("The guides have the table", arguments: ["migrations", "undo-and-leases"])
  func guide(name: String) throws {
    let root = #filePath.firstRange(of: "/Tests/").map { #filePath[..<$0.lowerBound] } ?? ""
    let path = "\(root)/deploy/guides/\(name).md"
    let bytes = try FileDescriptor.open(path).readWhole(limit: 1 << 20) ?? []
    let table = SchemaChanges.table.joined(separator: "\n")
    #expect(String(decoding: bytes, as: UTF8.self).contains("\n\(table)\n"), "\(table)")
  }
}
