import CascadeModel

/// An application's tables, and a model of them.
enum Library {
  static let schema = """
    CREATE TABLE artist(id TEXT PRIMARY KEY, name TEXT);
    CREATE TABLE album(id INTEGER PRIMARY KEY, title TEXT UNIQUE, artist_id TEXT);
    CREATE INDEX album_artist ON album(artist_id);
    CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER);
    CREATE INDEX song_album ON song(album_id);
    CREATE TABLE contract(id INTEGER PRIMARY KEY, artist_id TEXT);
    CREATE INDEX contract_artist ON contract(artist_id);
    """

  /// An album takes its songs along, and goes with its last; an artist takes the albums along, and
  /// a contract keeps the artist.
  static let rows = """
    INSERT INTO artist VALUES('nina', 'Nina Simone'), ('ella', 'Ella Fitzgerald');
    INSERT INTO album VALUES(1, 'Pastel Blues', 'nina'), (2, 'Lullabies', 'ella');
    INSERT INTO song VALUES(10, 1), (11, 1), (20, 2);
    INSERT INTO contract VALUES(1, 'ella');
    """

  static let dangling = "INSERT INTO song VALUES(90, 9), (91, 9);"

  static func model(_ more: String = "") -> String {
    """
    {
      collections: {
        artists: { table: "artist", key: "id" },
        albums: { table: "album", key: "id" },
        songs: { table: "song", key: "id" },
        contracts: { table: "contract", key: "id" },
        notes: {},
      },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "artist_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "album", from: "songs", to: "albums", column: "album_id",
          rules: ["deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"] },
        { name: "binds", from: "contracts", to: "artists", column: "artist_id",
          rules: ["denyDestinationDeletion"] },
      ],
      \(more)
    }
    """
  }

  static func store(
    _ rows: String = rows, more: String = "", schema: String = schema, starts: Bool = true
  ) throws -> TestStore {
    try TestStore(model: model(more), schema: schema + rows, starts: starts)
  }
}

extension TestStore {
  func schema() throws -> String {
    try sql("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")
  }

  func triggers() throws -> [String] {
    try texts("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'cascade_*'")
  }

  func songs() throws -> [Int64] { try integers("SELECT id FROM song ORDER BY id") }
}
