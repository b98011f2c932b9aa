import CascadeSystem
import CascadeModel
import CascadeStore
import SQLiteStore
import StoreDefinition
import StoreFixtures
import Testing

@Suite("Tables that have changed since a batch")
struct ChangedTableTests {
  @Test("An undo puts each value where it was", arguments: ChangedTables.Claim.allCases)
  func claim(_ claim: ChangedTables.Claim) throws {
    try ChangedTables(SQLiteUnderTest()).expect(claim)
  }

  @Test("The guide says what is claimed here, line by line")
  func guide() throws {
    let root = #filePath.firstRange(of: "/Tests/").map { #filePath[..<$0.lowerBound] } ?? ""
    let path = "\(root)/deploy/guides/undo-and-leases.md"
    let bytes = try FileDescriptor.open(path).readWhole(limit: 1 << 20) ?? []
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    for claim in ChangedTables.Claim.allCases {
      #expect(lines.contains("- \(claim.rawValue)."))
    }
  }

  @Test("A row that was kept with a rowid comes back by its key where that is the rowid now")
  func becomesRowid() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { albums: { table: 'album', key: 'id' }, songs: { table: 'song', key: 'id' } },
          relationships: [ { name: 'album', from: 'songs', to: 'albums', column: 'album',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY); CREATE TABLE song(id TEXT PRIMARY KEY, album INTEGER);
        CREATE INDEX by_album ON song(album);
        INSERT INTO album VALUES(1); INSERT INTO song VALUES('7', 1), ('8', 1);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM album")
    let batch = try #require(try store.writer.sweep([.cascade], at: 1).batch)
    try store.writer.set(OperatorPause(at: 1, user: 0, isForMigration: true))
    try store.bySQL(
      """
      DROP TABLE song; CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER);
      CREATE INDEX by_album ON song(album)
      """)
    try store.writer.set(nil)
    _ = try store.writer.attach(createIndexes: false)
    #expect(try store.writer.undo(batch, by: "me", at: 2).restored == 2)
    #expect(try store.texts("SELECT id FROM song ORDER BY id") == ["7", "8"])
  }
}
