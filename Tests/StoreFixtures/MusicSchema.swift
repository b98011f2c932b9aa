internal import CascadeModel
internal import StoreDefinition

/// An application's tables with edges in place of every kind.
package enum Music {
  package static let schema = """
    CREATE TABLE artist(id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT 'nobody');
    CREATE TABLE album(
      id INTEGER PRIMARY KEY, title TEXT, artist_id TEXT, cover_path TEXT,
      length INTEGER GENERATED ALWAYS AS (length(title)));
    CREATE INDEX album_artist ON album(artist_id);
    CREATE TABLE song(
      id INTEGER PRIMARY KEY, title TEXT UNIQUE, album_id INTEGER, about TEXT, about_type TEXT,
      likes TEXT, stars REAL CHECK(stars <= 5));
    CREATE INDEX song_album ON song(album_id);
    CREATE TABLE song_artist(song_id INTEGER, artist_id TEXT, PRIMARY KEY(song_id, artist_id));
    CREATE INDEX song_artist_artist ON song_artist(artist_id);
    """

  package static let model = """
    {
      collections: {
        artists: { table: "artist", key: "id" },
        albums: { table: "album", key: "id" },
        songs: { table: "song", key: "id" },
        credits: { table: "song_artist", key: ["song_id", "artist_id"] },
        notes: {},
      },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "artist_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "album", from: "songs", to: "albums", column: "album_id",
          rules: ["deleteDestinationIfAllSourcesDeleted"] },
        { name: "featuring", from: "songs", to: "artists", toMany: true,
          join: { table: "song_artist", source: "song_id", destination: "artist_id" } },
        { name: "about", from: "songs", column: "about", typeColumn: "about_type",
          to: { Album: "albums", Note: "notes" } },
        { name: "likes", from: "songs", to: "notes", property: "likes", toMany: true },
        { name: "cover", from: "albums", to: { files: "media" }, column: "cover_path",
          rules: ["deleteDestinationIfAllSourcesDeleted"] },
      ],
      files: { media: "/srv/media" },
    }
    """

  package static func store() throws -> TestStore {
    try TestStore(model: StoreModel(model), schema: schema)
  }
}
