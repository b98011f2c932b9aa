internal import StoreDefinition
package import CascadeModel
package import CascadeStore
package import SQLiteStore

/// An application with every kind of place: keys of numbers, of texts that ignore case, of two
/// columns; rows that repeat, and names that need quotes.
package enum Library {
  package static let schema = #"""
    CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE album(
      id TEXT PRIMARY KEY COLLATE NOCASE, artist INTEGER, "other artist" INTEGER,
      parent TEXT COLLATE NOCASE, cover TEXT) WITHOUT ROWID;
    CREATE INDEX album_artist ON album(artist);
    CREATE INDEX album_parent ON album(parent);
    CREATE TABLE song(
      id INTEGER PRIMARY KEY, album TEXT COLLATE NOCASE, about TEXT, about_type TEXT, data TEXT);
    CREATE INDEX song_album ON song(album);
    CREATE INDEX song_about ON song(about);
    CREATE TABLE song_artist(song INTEGER, artist INTEGER);
    CREATE INDEX song_artist_song ON song_artist(song);
    CREATE INDEX song_artist_artist ON song_artist(artist);
    CREATE TABLE tag(song INTEGER, tag TEXT, album TEXT, PRIMARY KEY(song, tag)) WITHOUT ROWID;
    CREATE TABLE "we're ""odd"""("k e'y" TEXT UNIQUE, "select" TEXT);
    """#

  package static let collections = """
    artists: { table: 'artist', key: 'id' }, albums: { table: 'album', key: 'id' },
    songs: { table: 'song', key: 'id' }, tags: { table: 'tag', key: ['song', 'tag'] },
    odd: { table: 'we\\'re "odd"', key: "k e'y" }, notes: {},
    """

  package static let relationships = [
    "{ name: 'album', from: 'songs', to: 'albums', column: 'album', rules: ['\(countSources)'] }",
    "{ name: 'artist', from: 'albums', to: 'artists', column: 'artist', deleteRule: 'deny' }",
    "{ name: 'second', from: 'albums', to: 'artists', column: 'other artist' }",
    "{ name: 'parent', from: 'albums', to: 'albums', column: 'parent' }",
    "{ name: 'cover', from: 'albums', to: { files: 'media' }, column: 'cover' }",
    """
    { name: 'featuring', from: 'songs', to: 'artists', inverse: 'songs',
      join: { table: 'song_artist', source: 'song', destination: 'artist' } }
    """,
    """
    { name: 'songs', from: 'artists', to: 'songs',
      join: { table: 'song_artist', source: 'artist', destination: 'song' } }
    """,
    """
    { name: 'about', from: 'songs', to: { Album: 'albums', Note: 'notes' }, column: 'about',
      typeColumn: 'about_type' }
    """,
    "{ name: 'related', from: 'songs', to: 'songs', property: 'data.related', toMany: true }",
    "{ name: 'album', from: 'tags', to: 'albums', column: 'album' }",
    "{ name: 'select', from: 'odd', to: 'odd', column: 'select' }",
  ]

  private static let countSources = "deleteDestinationIfAllSourcesDeleted"

  package static func model(_ relationships: [String] = relationships) throws -> StoreModel {
    try StoreModel(
      """
      { collections: { \(collections) }, files: { media: '/srv' },
        relationships: [\(relationships.joined(separator: ", "))] }
      """)
  }

  package static func store(_ relationships: [String] = relationships) throws -> TestStore {
    try TestStore(model: model(relationships), schema: schema)
  }
}

extension Edge {
  /// `album songs/1>albums/A`.
  package var line: String {
    guard case .file(_, let path) = destination else {
      return "\(name) \(source)>\(destination.node!)"
    }
    return "\(name) \(source)>\(path)"
  }
}

extension Reader {
  /// All pages of a query.
  package func lines(_ query: EdgeQuery = EdgeQuery(), limit: Int = 1_000) throws -> [String] {
    var lines: [String] = []
    var cursor: EdgeCursor?
    repeat {
      let page = try edges(query, after: cursor, limit: limit)
      lines += page.edges.map(\.line)
      cursor = page.next
    } while cursor != nil
    return lines
  }
}
