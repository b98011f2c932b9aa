/// A library in which nodes live by what leads to them from the artists: songs by albums and by each
/// other, albums by artists.
package enum UnreachableMusic {
  package static let schema = """
    CREATE TABLE artist(id TEXT PRIMARY KEY, favourite INTEGER);
    CREATE INDEX artist_favourite ON artist(favourite);
    CREATE TABLE album(id INTEGER PRIMARY KEY, artist TEXT);
    CREATE INDEX album_artist ON album(artist);
    CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, next INTEGER);
    CREATE INDEX song_album ON song(album);
    CREATE INDEX song_next ON song(next);
    CREATE TABLE setting(id INTEGER PRIMARY KEY, song INTEGER);
    CREATE INDEX setting_song ON setting(song);
    """

  package static let model = """
    { collections: { artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
        songs: { table: "song", key: "id" }, settings: { table: "setting", key: "id" } },
      relationships: [
        { name: "favourite", from: "artists", to: "songs", column: "favourite" },
        { name: "artist", from: "albums", to: "artists", column: "artist",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "album", from: "songs", to: "albums", column: "album",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "next", from: "songs", to: "songs", column: "next" },
        { name: "song", from: "settings", to: "songs", column: "song" },
      ],
      roots: ["artists"] }
    """

  /// Of these, an album and two songs are reached by no artist, and a setting leads to a song.
  package static let rows = """
    INSERT INTO artist VALUES('nina', 9), ('ella', NULL);
    INSERT INTO album VALUES(1, 'nina'), (2, NULL), (3, 'ella');
    INSERT INTO song VALUES(1, 1, NULL), (2, 2, 3), (3, NULL, 2), (9, NULL, 8), (8, NULL, NULL);
    INSERT INTO setting VALUES(1, 2), (2, NULL);
    """
}
