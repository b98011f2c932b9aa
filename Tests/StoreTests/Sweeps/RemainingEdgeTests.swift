import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteBinding
import Testing
import SQLiteSweeps

/// References that are taken from a row when what they led to is gone already, and no sweep looked
/// in between.
@Suite("Edges that were left")
struct RemainingEdgeTests {
  private func store(_ foreignKey: String = "") throws -> TestStore {
    try TestStore(
      model: StoreModel(
        """
        { collections: { albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" } },
          relationships: [ { name: "album", from: "songs", to: "albums", column: "album_id",
            rules: ["deleteSourceIfDestinationDeleted",
              "deleteDestinationIfAllSourcesDeleted"] } ] }
        """),
      schema: """
        CREATE TABLE album(id TEXT PRIMARY KEY);
        CREATE TABLE song(id TEXT PRIMARY KEY, album_id TEXT \(foreignKey));
        INSERT INTO album VALUES('a'), ('b');
        INSERT INTO song VALUES('s', 'a'), ('t', 'a'), ('u', 'b');
        """)
  }

  private func left(_ store: TestStore, after sql: String) throws -> String {
    try store.bySQL(sql)
    _ = try store.writer.sweep([.cascade, .refcount], at: 1)
    return "\(try store.alive(in: "albums")) \(try store.alive(in: "songs"))"
  }

  static let foreignKeys = [
    "", "REFERENCES album ON DELETE SET NULL", "REFERENCES album ON DELETE CASCADE",
  ]

  @Test(
    "A row that its application led elsewhere in time stays, whichever it did first",
    arguments: foreignKeys)
  func ledElsewhere(foreignKey: String) throws {
    let (move, delete) = (
      "UPDATE song SET album_id = 'b' WHERE id = 's';", "DELETE FROM album WHERE id = 'a';"
    )
    for sql in [move + delete, delete + move, "BEGIN; \(delete + move) COMMIT"] {
      #expect(try left(store(foreignKey), after: sql) == "albums/b songs/s songs/u", "\(sql)")
    }
  }

  @Test(
    "A row that its application takes from what is gone has an edge that lost both ends",
    arguments: ["", "REFERENCES album ON DELETE CASCADE"])
  func letGo(foreignKey: String) throws {
    let sql = "DELETE FROM album WHERE id = 'a'; UPDATE song SET album_id = NULL WHERE id = 's'"
    #expect(try left(store(foreignKey), after: sql) == "albums/b songs/s songs/u")
  }

  @Test("What a foreign key took from a row counts as the loss of its destination")
  func takenByForeignKey() throws {
    let sql = "PRAGMA foreign_keys = ON; DELETE FROM album WHERE id = 'a'"
    for foreignKey in RemainingEdgeTests.foreignKeys {
      #expect(try left(store(foreignKey), after: sql) == "albums/b songs/u", "\(foreignKey)")
    }
  }
}
