internal import StoreDefinition
internal import CascadeModel
package import CascadeStore
internal import SQLiteStore

/// A library with references of all kinds at random, the edges that it must have, and the
/// references to nothing.
package struct RandomLibrary {
  package private(set) var edges: Set<String> = []
  package private(set) var dangling: Set<String> = []
  private var random: Seeded
  private var sql: [String] = []

  private let artists = (1...4).map(String.init)
  private let albums = ["A", "b", "C x", "d'"]
  private let songs = (8...13).map(String.init)
  private let notes = ["A", "n"]

  package init(_ seed: UInt64) { random = Seeded(seed) }

  package mutating func fill(_ store: TestStore) throws {
    for artist in artists { sql.append("INSERT INTO artist(id) VALUES(\(artist))") }
    for album in albums { addAlbum(album) }
    for song in songs { addSong(song) }
    for _ in 1...12 { addJoin() }
    for song in songs where random.next() % 2 == 0 { addTags(song) }
    try store.apply(notes.map { .put(node("notes/\($0)"), type: nil, value: nil, edges: nil) })
    try store.bySQL(sql.joined(separator: ";\n"))
    for song in songs where random.next() % 2 == 0 {
      try store.storeEdge("likes", from: ("notes", "'n'"), to: ("songs", song))
      edges.insert("likes notes/n>songs/\(song)")
    }
  }

  /// A reference as SQL writes it: to one of these, to nothing that is there, or null.
  private mutating func reference(
    _ name: String, _ source: String, _ collection: String, _ keys: [String], number: Bool = false
  ) -> String {
    switch random.next() % 8 {
    case 0: return "NULL"
    case 1:
      dangling.insert("\(name) \(source)>\(collection)/\(number ? "99" : "gone")")
      return number ? "99" : "'gone'"
    default: break
    }
    let key = keys.randomElement(using: &random)!
    edges.insert("\(name) \(source)>\(collection)/\(key)")
    if number { return key }
    // The albums' keys ignore case; a managed object's does not.
    let written = collection == "albums" && random.next() % 2 == 0 ? key.uppercased() : key
    return "'\(written.quoted)'"
  }

  private mutating func addAlbum(_ album: String) {
    let source = "albums/\(album)"
    let references = [
      reference("artist", source, "artists", artists, number: true),
      reference("second", source, "artists", artists, number: true),
      reference("parent", source, "albums", albums),
    ]
    edges.insert("cover \(source)>\(album).jpg")
    sql.append(
      "INSERT INTO album VALUES('\(album.quoted)', \(references.joined(separator: ", ")), "
        + "'\(album.quoted).jpg')")
  }

  private mutating func addSong(_ song: String) {
    let source = "songs/\(song)"
    let album = reference("album", source, "albums", albums)
    let about =
      random.next() % 2 == 0
      ? reference("about", source, "albums", albums) + ", 'Album'"
      : reference("about", source, "notes", notes) + ", 'Note'"
    let related = (0..<random.next() % 5).map { _ in
      let text = reference("related", source, "songs", songs, number: true)
      return text == "NULL" ? "null" : random.next() % 2 == 0 ? text : "\"\(text)\""
    }
    sql.append(
      "INSERT INTO song VALUES(\(song), \(album), \(about), "
        + "'{\"related\":[\(related.joined(separator: ","))]}')")
  }

  private mutating func addJoin() {
    let (song, artist) = (
      songs.randomElement(using: &random)!, artists.randomElement(using: &random)!
    )
    edges.insert("featuring songs/\(song)>artists/\(artist)")
    edges.insert("songs artists/\(artist)>songs/\(song)")
    dangling.formUnion(["featuring songs/\(song)>artists/99", "songs artists/\(artist)>songs/99"])
    sql.append("INSERT INTO song_artist VALUES(\(song), \(artist)), (99, \(artist)), (\(song), 99)")
  }

  private mutating func addTags(_ song: String) {
    for tag in ["x", "Y", "\\"] {
      let node = Node("tags", .composite([.integer(Int64(song)!), .text(tag)]))
      let album = reference("album", "\(node)", "albums", albums)
      sql.append("INSERT INTO tag VALUES(\(song), '\(tag)', \(album))")
    }
  }
}

// MARK: - Questions

extension RandomLibrary {
  private static let names = [
    "album", "artist", "second", "parent", "cover", "featuring", "songs", "about", "related",
    "likes", "unknown",
  ]

  package var queries: [EdgeQuery] {
    let tag = Node("tags", .composite([.integer(8), .text("Y")]))
    let ends =
      [("artists", "1"), ("albums", "b"), ("albums", "D'"), ("songs", "10"), ("notes", "n")]
      .map { Node($0, .text($1)) } + [tag]
    var queries = RandomLibrary.names.map { EdgeQuery(name: $0) }
    for end in ends {
      queries += [EdgeQuery(from: end), EdgeQuery(to: .node(end))]
      queries += ends.map { EdgeQuery(from: end, to: .node($0)) }
      queries += RandomLibrary.names.map { EdgeQuery(name: $0, to: .node(end)) }
    }
    return queries + [EdgeQuery(to: .file(root: "media", path: "b.jpg"))]
  }

  package func matches(_ line: String, _ query: EdgeQuery) -> Bool {
    func isEnd(_ text: String, _ node: Node) -> Bool {
      // As the albums compare.
      node.collection == "albums" ? text.lowercased() == "\(node)".lowercased() : text == "\(node)"
    }
    let name = String(line.prefix { $0 != " " })
    let ends = line.dropFirst(name.count + 1).split(separator: ">").map(String.init)
    if let wanted = query.name, wanted != name { return false }
    if let from = query.from, !isEnd(ends[0], from) { return false }
    switch query.to {
    case .node(let node): return isEnd(ends[1], node)
    case .file(_, let path): return name == "cover" && ends[1] == path
    case nil: return true
    }
  }
}

extension String {
  /// As within a text of SQL.
  fileprivate var quoted: String {
    split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
  }
}
