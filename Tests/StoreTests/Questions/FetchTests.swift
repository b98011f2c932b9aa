import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing

@Suite("Fetched properties")
struct FetchTests {
  /// A condition and more, for artist 1, and what it leads to.
  static let fromRows: [(property: String, keys: String)] = [
    (#"from: "songs", where: "artist_id = $source.id""#, "s1 s2 s3 s4"),
    (#"from: "songs", where: "artist_id = $source.key AND year > $source.since""#, "s3 s4"),
    (#"from: "songs", where: "artist_id = $source.ID", limit: 2"#, "s1 s2"),
    (#"from: "songs", where: "artist_id = $source.id", order: "year DESC""#, "s3 s4 s2 s1"),
    (#"from: "songs", where: "1", order: "year DESC, title COLLATE NOCASE""#, "s4 s3 s5 s2 s1"),
    (
      #"from: "songs", where: "1", order: "abs(year - $property.near)", settings: { near: 1981 }"#,
      "s5 s2 s1 s3 s4"
    ),
    (
      #"""
      from: "songs", where: "year BETWEEN $property.a AND $property.b AND title <> $property.c",
      settings: { a: 1964.5, b: 1990, c: "x" }
      """#, "s2"
    ),
    (#"from: "songs", where: "title = '$source.name' OR id = 's1'""#, "s1"),
    (#"from: "songs", where: "songs.year = 1980""#, "s5"),
    (#"from: "songs", where: "id IN (SELECT song_id FROM song_tag WHERE tag = 7)""#, "s1 s3"),
    (
      """
      from: "songs", where: "EXISTS (SELECT 1 FROM song_tag AS t WHERE t.song_id = songs.id \
      AND t.tag = 8)"
      """, "s1"
    ),
    (#"from: "tags", where: "tag < 8", order: "song_id DESC""#, #"["s3",7] ["s1",7]"#),
    (#"from: "tags", where: "song_id = 'none'""#, ""),
    (#"from: "notes", where: "value->>'$.artist' = $source.id""#, "a c"),
    (#"from: "photos", where: "1", order: "key DESC""#, "c a"),
    (#"from: "notes", where: "type = 'text' OR type IS NULL""#, "b d"),
    (#"from: "unheard", where: "1""#, ""),
  ]

  @Test("A row's property leads to rows and objects", arguments: fromRows)
  func rows(property: String, keys: String) throws {
    let fixture = try FetchFixture(artists: "f: { \(property) }")
    #expect(try fixture.keys(artist(1)) == keys)
  }

  /// The same, for an object.
  static let fromObjects: [(key: String, property: String, keys: String)] = [
    ("a", #"from: "songs", where: "artist_id = $source.artist AND year < 1999""#, "s1 s2"),
    ("a", #"from: "notes", where: "value->>'$.artist' = $source.artist""#, "a c"),
    ("a", #"from: "notes", where: "key > $source.key AND type = $source.type""#, "c"),
    ("a", #"from: "songs", where: "$source.flag = 1 AND id = 's1'""#, "s1"),
    ("a", #"from: "songs", where: "$source.tags ->> 1 = 'y' AND id = 's1'""#, "s1"),
    ("b", #"from: "notes", where: "value->>'$.text' = $source.text""#, "b"),
    ("b", #"from: "notes", where: "value->>'$.half' < $source.half + 0.1""#, "b"),
    ("b", #"from: "songs", where: "title IS $source.none""#, "s5"),
    ("b", #"from: "songs", where: "title = $source.none""#, ""),
    ("b", #"from: "songs", where: "title IS $source.nowhere""#, "s5"),
    ("d", #"from: "songs", where: "title IS $source.type AND title IS $source.value""#, "s5"),
  ]

  @Test("An object's property leads to rows and objects", arguments: fromObjects)
  func objects(key: String, property: String, keys: String) throws {
    let fixture = try FetchFixture(notes: "f: { \(property) }")
    #expect(try fixture.keys(note(key)) == keys)
  }

  static let settingKinds: [(setting: String, sql: String)] = [
    ("null", "NULL"), ("true", "1"), ("2", "2"), ("1.5", "1.5"), ("\"it's; --\"", "'it''s; --'"),
  ]

  @Test("A setting of any kind is bound", arguments: settingKinds)
  func settings(setting: String, sql: String) throws {
    let fixture = try FetchFixture(
      artists: """
        f: { from: "artists", settings: { k: \(setting) },
          where: "id = 1 AND $property.k IS \(sql)" }
        """)
    #expect(try fixture.keys(artist(1)) == "1")
  }

  @Test("What a member says is a value, whatever it looks like")
  func neverSpliced() throws {
    let fixture = try FetchFixture(
      artists: #"f: { from: "artists", where: "name = $source.name" }"#)
    try fixture.store.bySQL("UPDATE artist SET name = ''' OR 1 --' WHERE id = 3")
    #expect(try fixture.keys(artist(2)) == "2")
    #expect(try fixture.keys(artist(3)) == "3")
  }

  @Test("A member called key or type comes before the node's own")
  func ownNames() throws {
    let fixture = try FetchFixture(
      notes: #"f: { from: "notes", where: "key = $source.key OR type = $source.type" }"#)
    try fixture.put("e", ["key": "b", "type": "photo"])
    #expect(try fixture.keys(note("e")) == "a b c")
  }

  @Test("A row is an object of its columns, and its key is what the key columns hold")
  func values() throws {
    let fixture = try FetchFixture(artists: #"f: { from: "songs", where: "id = 's5'" }"#)
    let song = try #require(fixture.fetch(artist(2)).nodes.first)
    #expect(song.node == Node("songs", .text("s5")))
    #expect(song.exists && song.type == nil)
    #expect(song.value?.text == #"{"id":"s5","artist_id":2,"year":1980,"title":null}"#)
    let odd = try fixture.fetch(Node("blobs", .text("x'0AFF'")), "same").nodes
    #expect(odd.map(\.node.key) == [.text("x'00'"), .text("x'0AFF'")])
    #expect(odd[0].value?.text == #"{"k\"ey":"x'00'","num":1.5,"data":null}"#)
    #expect(odd[1].value?.text == #"{"k\"ey":"x'0AFF'","num":1.5,"data":"x''"}"#)
  }

  @Test("A row is found by its key as the column compares it")
  func keysOfSources() throws {
    let fixture = try FetchFixture(artists: #"f: { from: "artists", where: "id = $source.id" }"#)
    #expect(try fixture.keys(Node("artists", .text("1"))) == "1")
    for key: Key in [.text("x"), .integer(9), .composite([.integer(1), .integer(1)])] {
      #expect(throws: FetchError.self) { try fixture.fetch(Node("artists", key)) }
    }
  }
}
