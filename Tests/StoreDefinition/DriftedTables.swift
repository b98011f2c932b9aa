import CascadeModel

struct DriftedSong {
  var album: Int?
  /// The file that its cover names.
  var file: String
  /// By the identities of their columns.
  var values: [Int: String]
}

/// What the model calls the songs, their relationships and the root of their covers.
struct DriftedNames {
  var songs = "songs"
  var album = "album"
  var tags = "tags"
  var media = "media"

  mutating func change(_ random: inout Seeded) {
    switch Int.random(in: 0..<4, using: &random) {
    case 3: media = ["media", "pictures", "files"].randomElement(using: &random)!
    case 0: songs = ["songs", "tracks", "titles"].randomElement(using: &random)!
    case 1: album = ["album", "record"].randomElement(using: &random)!
    default: tags = ["tags", "labels"].randomElement(using: &random)!
    }
  }
}

struct DriftedRows {
  var songs: [Int: DriftedSong] = [:]
  var albums: Set<Int> = []
  var tags: Set<Int> = []
  /// Song and tag.
  var joins: Set<[Int]> = []

  static func model(_ names: DriftedNames, _ root: String) -> String {
    let songs = names.songs
    return """
      { collections: {
          albums: { table: "album", key: "id" }, \(songs): { table: "song", key: "id" },
          tags: { table: "tag", key: "id" } },
        relationships: [
          { name: "\(names.album)", from: "\(songs)", to: "albums", column: "album",
            rules: ["deleteSourceIfDestinationDeleted"] },
          { name: "\(names.tags)", from: "\(songs)", to: "tags",
            join: { table: "st", source: "song", destination: "tag" }, toMany: true,
            rules: ["deleteDestinationIfAllSourcesDeleted"] },
          { name: "cover", from: "\(songs)", to: { files: "\(names.media)" }, column: "cover",
            rules: ["deleteDestinationIfAllSourcesDeleted"] }],
        files: { \(names.media): "\(root)" } }
      """
  }

  static let schema = """
    CREATE TABLE album(id INTEGER PRIMARY KEY); CREATE TABLE tag(id INTEGER PRIMARY KEY);
    CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, cover TEXT, one TEXT, two TEXT);
    CREATE TABLE st(song INTEGER, tag INTEGER);
    CREATE INDEX song_album ON song(album); CREATE INDEX song_cover ON song(cover);
    CREATE INDEX st_song ON st(song); CREATE INDEX st_tag ON st(tag);
    """

  func node(_ key: Int) -> Node { Node("songs", .integer(Int64(key))) }

  func put(_ key: Int) -> Change {
    let album = songs[key]?.album.map {
      DeclaredEdge(
        name: "album", destination: .node(Node("albums", .integer(Int64($0)))),
        rules: .deleteSourceIfDestinationDeleted)
    }
    let tags = joins.filter { $0[0] == key }.map {
      DeclaredEdge(
        name: "tags", destination: .node(Node("tags", .integer(Int64($0[1])))),
        rules: .deleteDestinationIfAllSourcesDeleted)
    }
    return .put(node(key), type: nil, value: nil, edges: [album].compactMap(\.self) + tags)
  }
}

/// The columns of the songs, whatever they are called.
struct DriftedTable {
  struct Column {
    let identity: Int
    var name: String
  }

  /// The type of the key.
  var key = "INTEGER"
  var columns = [Column(identity: 1, name: "one"), Column(identity: 2, name: "two")]
  private var last = 2
  private static let names = ["one", "two", "three", "four", "five"]

  func values(ofRow row: Int) -> [Int: String] {
    Dictionary(uniqueKeysWithValues: columns.map { ($0.identity, "c\($0.identity) r\(row)") })
  }

  /// The statements that change something.
  mutating func change(_ random: inout Seeded) -> [String] {
    let free = DriftedTable.names.filter { name in !columns.contains { $0.name == name } }
    let place = columns.indices.randomElement(using: &random)
    switch (Int.random(in: 0..<5, using: &random), place, free.randomElement(using: &random)) {
    case (0, _, let name?), (_, nil, let name?): return [add(name)]
    case (1, let place?, _):
      return ["ALTER TABLE song DROP COLUMN \(columns.remove(at: place).name)"]
    case (2, let place?, let name?): return [rename(place, to: name)]
    case (3, let place?, _):
      let name = columns.remove(at: place).name
      return ["ALTER TABLE song DROP COLUMN \(name)", add(name)]
    default: return swap(&random)
    }
  }

  private mutating func add(_ name: String) -> String {
    last += 1
    columns.append(Column(identity: last, name: name))
    return "ALTER TABLE song ADD COLUMN \(name) TEXT"
  }

  private mutating func rename(_ place: Int, to name: String) -> String {
    defer { columns[place].name = name }
    return "ALTER TABLE song RENAME COLUMN \(columns[place].name) TO \(name)"
  }

  private mutating func swap(_ random: inout Seeded) -> [String] {
    guard columns.count > 1 else { return [] }
    let places = columns.indices.shuffled(using: &random)
    let (one, two) = (columns[places[0]].name, columns[places[1]].name)
    return [
      rename(places[0], to: "spare"), rename(places[1], to: one), rename(places[0], to: two),
    ]
  }
}

struct KeptBatch {
  let number: Int64
  var songs: [Int: DriftedSong] = [:]
  var tags: Set<Int> = []
  var joins: Set<[Int]> = []
  /// Whether columns changed in ways that cannot be told apart.
  var isBlurred = false
}
