import CascadeKit
import TestSupport
import Testing

/// Reads, compared with SQLite's own shell.
@Suite struct ReadingTests {
  private static func store(seed: UInt64) throws -> (TestStore, [Song]) {
    let test = try TestStore(starts: false)
    var random = Seeded(seed)
    var songs: [Song] = []
    let albums = (0..<20).map { _ in ID<Album>.new() }
    var statements = "BEGIN;"
    for number in 0..<400 {
      let song = Song(
        id: .new(),
        title: ["x", "é'\"", "Sinnerman \(number)", "\u{1F3B5}"].randomElement(using: &random)!,
        year: Int.random(in: 1950...2000, using: &random),
        album: albums.randomElement(using: &random)!)
      songs.append(song)
      let title = song.title.reduce(into: "") { $0 += $1 == "'" ? "''" : String($1) }
      statements += "INSERT INTO song VALUES('\(song.id)','\(title)',\(song.year),'\(song.album)');"
    }
    for album in albums.dropLast(3) {
      let artist = Bool.random(using: &random) ? "'\(ID<Artist>.new())'" : "NULL"
      statements += "INSERT INTO album VALUES('\(album)','t',\(artist),NULL);"
    }
    try test.sql(statements + "COMMIT;")
    return (test, songs)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func queriesFindWhatTheShellFinds(seed: UInt64) async throws {
    let (test, _) = try ReadingTests.store(seed: seed)
    var random = Seeded(seed &+ 100)
    for _ in 0..<60 {
      let (query, sql) = ReadingTests.condition(&random, depth: 3)
      let found = try await test.store.read { db in
        (
          try db.all(Song.where(query).order(by: \.id)).map(\.id.description),
          try db.count(Song.where(query))
        )
      }
      let expected = try test.sql("SELECT id FROM song WHERE \(sql) ORDER BY id")
      #expect(found.0.map { "\($0)\n" }.joined() == expected, "\(sql)")
      #expect(found.1 == found.0.count)
    }
  }

  private static func condition(
    _ random: inout Seeded, depth: Int
  ) -> (Condition<Song>, String) {
    let year = Int.random(in: 1950...2000, using: &random)
    switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
    case 0: return (\.year > year, "year > \(year)")
    case 1: return (\.year <= year, "year <= \(year)")
    case 2: return (\.year != year, "year <> \(year)")
    case 3: return (\.title == "é'\"", "title = 'é''\"'")
    case 4: return ((\Song.year).isIn([year, year + 1]), "year IN (\(year), \(year + 1))")
    case 5: return ((\Song.title).isLike("Sinner%"), "title LIKE 'Sinner%'")
    case 6:
      let (one, text) = condition(&random, depth: depth - 1)
      return (!one, "NOT (\(text))")
    case 7:
      let (one, other) = (
        condition(&random, depth: depth - 1), condition(&random, depth: depth - 1)
      )
      return (one.0 && other.0, "((\(one.1)) AND (\(other.1)))")
    default:
      let (one, other) = (
        condition(&random, depth: depth - 1), condition(&random, depth: depth - 1)
      )
      return (one.0 || other.0, "((\(one.1)) OR (\(other.1)))")
    }
  }

  @Test func theInverseOfManyIsThatOfEach() async throws {
    let (test, songs) = try ReadingTests.store(seed: 7)
    try await test.store.read { db in
      let albums = try db.all(Album.all)
      let many = try db.get(Album.songs, ofEach: albums)
      for album in albums {
        let each = try db.get(Album.songs, of: album)
        #expect((many[album.id] ?? []).sorted { $0.id < $1.id } == each)
        #expect(each.map(\.id).sorted() == songs.filter { $0.album == album.id }.map(\.id).sorted())
        #expect(try db.count(Album.songs, of: album) == each.count)
      }
    }
  }

  @Test func aDanglingReferenceIsAnErrorThatNamesIt() async throws {
    let (test, songs) = try ReadingTests.store(seed: 8)
    await #expect {
      try await test.store.read { db in
        for song in songs { _ = try db.get(Song.album, of: song) }
      }
    } throws: { error in
      guard case ReadError.dangling(let node, "album") = error else { return false }
      return node.hasPrefix("songs/")
    }
  }

  @Test func aPageOfAQueryIsThatOfTheShell() async throws {
    let (test, _) = try ReadingTests.store(seed: 9)
    let query = Song.where(\.year > 1960 && \.title != "x").order(by: \.year, descending: true)
      .order(by: \.id).limit(5).offset(3)
    let found = try await test.store.read { db in (try db.all(query).map(\.id), try db.count(query))
    }
    let shell = try test.sql(
      """
      SELECT id FROM song WHERE year > 1960 AND title <> 'x' ORDER BY year DESC, id
      LIMIT 5 OFFSET 3
      """)
    #expect(found.0.map { "\($0)\n" }.joined() == shell)
    #expect(found.1 == 5)
  }

  @Test func aValueOfAnotherTypeIsAnErrorThatNamesTheProperty() async throws {
    let test = try TestStore(starts: false)
    try test.sql("INSERT INTO song VALUES('\(UUIDv7())', 'a', 'soon', '\(UUIDv7())')")
    await #expect {
      try await test.store.read { db in try db.all(Song.all) }
    } throws: { error in
      error as? ReadError == .unexpectedProperty("year", .text("soon"), wanted: "an integer")
    }
  }

  @Test func joinsAreReadFromBothEnds() async throws {
    let test = try TestStore(starts: false)
    let songs = (0..<3).map { Song(id: .new(), title: "\($0)", year: $0, album: .new()) }
    for song in songs {
      try test.sql(
        "INSERT INTO song VALUES('\(song.id)', '\(song.title)', \(song.year), '\(song.album)')")
      try test.sql("INSERT INTO song_tag VALUES('\(song.id)', 'jazz')")
    }
    try test.sql(
      "INSERT INTO tag VALUES('jazz', 'red'); DELETE FROM song_tag WHERE song_id = '\(songs[1].id)'"
    )
    try await test.store.read { (db) throws in
      let jazz = Tag(id: "jazz", color: .red)
      #expect(try db.get(Song.tags, of: songs[0]) == [jazz])
      #expect(try db.get(Song.tags, of: songs[1]) == [])
      #expect(try db.get(Tag.songs, of: jazz) == [songs[0], songs[2]])
      #expect(try db.get(Tag.songs, ofEach: [jazz])[jazz.id]?.count == 2)
      #expect(try db.count(Tag.songs, of: jazz) == 2)
    }
  }

  @Test func aFetchedPropertyIsKeptUntilSomebodyCommits() async throws {
    let test = try TestStore(starts: false)
    let nina = Artist(id: .new(), name: "Nina", since: 1958)
    let song = Song(id: .new(), title: "a", year: 1960, album: .new())
    try test.sql("INSERT INTO song VALUES('\(song.id)', 'a', 1960, '\(song.album)')")
    try test.sql("INSERT INTO song VALUES('\(UUIDv7())', 'b', 1940, '\(song.album)')")
    let first = try await test.store.read { db in try db.get(Artist.recent, of: nina) }
    #expect(first == [song])
    try test.sql("UPDATE song SET title = 'c' WHERE year = 1960")
    let second = try await test.store.read { db in
      (try db.get(Artist.recent, of: nina), try db.get(Artist.recent, of: nina, refresh: true))
    }
    #expect(second.0.map(\.title) == ["c"])
    #expect(second.1.map(\.title) == ["c"])
  }
}

/// Numbers that are the same for the same seed.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
    return z ^ z >> 31
  }
}
