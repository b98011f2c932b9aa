import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import CascadeSystem
import Testing
import SQLiteSweeps
import SQLiteEdges

@Suite("What the file keeps of what was deleted")
struct SecureDeleteTests {
  private static let secret = "a title that nobody is to read again"

  @Test(
    "is what the model says", arguments: [("on", false), ("fast", false), ("off", true)])
  func deletes(mode: String, isLeft: Bool) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" } },
          relationships: [{ name: "album", from: "songs", to: "albums", column: "album",
            rules: ["deleteSourceIfDestinationDeleted"] }], trash: "0", secureDelete: "\(mode)" }
        """),
      schema: """
        CREATE TABLE album(id TEXT PRIMARY KEY);
        CREATE TABLE song(id TEXT PRIMARY KEY, album TEXT, title TEXT);
        CREATE INDEX song_album ON song(album);
        INSERT INTO album VALUES('a');
        INSERT INTO song VALUES('x', 'a', '\(SecureDeleteTests.secret)'), ('y', NULL, 'heard');
        """)
    try store.bySQL("DELETE FROM album")
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 1)
    try store.writer.copyLogIntoDatabase()
    let file = try #require(try FileDescriptor.open(store.path).readWhole(limit: 1 << 20))
    #expect(file.contains("heard".utf8))
    #expect(file.contains(SecureDeleteTests.secret.utf8) == isLeft)
  }
}
