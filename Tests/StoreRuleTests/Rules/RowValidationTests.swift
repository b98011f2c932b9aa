import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing

/// The same demands where the ends are rows of the application.
@Suite("Validation of rows")
struct RowValidationTests {
  /// `songs/1 {"album":"A"}`: a row is put; without the object it has only its key.
  private func rows(_ texts: String...) -> [Change] {
    texts.map { text in
      let parts = text.split(separator: " ", maxSplits: 1)
      let value = parts.count > 1 ? JSONText(valid: String(parts[1])) : nil
      return .put(node(parts[0]), type: nil, value: value, edges: nil)
    }
  }

  private func patched(_ text: String, _ name: String, _ value: String) -> Change {
    .patch(node(text), set: [Member(name: name, value: JSONText(valid: value))], unset: [])
  }

  private func song(_ rest: String) -> String {
    "{ name: 'album', from: 'songs', to: 'albums', column: 'album', \(rest) }"
  }

  private func featuring(_ rest: String) -> String {
    """
    { name: 'featuring', from: 'songs', to: 'artists', \(rest),
      join: { table: 'song_artist', source: 'song', destination: 'artist' } }
    """
  }

  // MARK: - Columns

  @Test("A mandatory column refers to something that is there")
  func mandatory() throws {
    let store = try Library.store([song("optional: false")])
    #expect(try store.verdict(rows("songs/1")) == ["missingMandatory songs/1"])
    #expect(try store.verdict(rows(#"songs/1 {"album":"A"}"#)) == ["missingMandatory songs/1"])
    #expect(try store.verdict(rows(#"songs/1 {"album":"a"}"#, "albums/A")) == [])
    #expect(
      try store.verdict([patched("songs/1", "album", "null")]) == ["missingMandatory songs/1"])
    #expect(try store.verdict([.delete(node("albums/A"))]) == ["missingMandatory songs/1"])
    #expect(try store.verdict([.delete(node("albums/A")), .delete(node("songs/1"))]) == [])
  }

  @Test("Nullifying a mandatory reference is refused")
  func nullified() throws {
    let store = try Library.store([
      song("optional: false, rules: ['nullifySourceIfDestinationDeleted']")
    ])
    try store.apply(rows("albums/A", #"songs/1 {"album":"A"}"#))
    #expect(try store.verdict([.delete(node("albums/A"))]) == ["missingMandatory songs/1"])
    #expect(try store.reader.lines() == ["album songs/1>albums/A"])
  }

  @Test("The other side of a column has bounds of its own")
  func inverse() throws {
    let store = try Library.store([
      song("inverse: { name: 'songs', toMany: true, min: 2, max: 3, optional: false }")
    ])
    let (one, two) = (#"songs/1 {"album":"A"}"#, #"songs/2 {"album":"A"}"#)
    #expect(try store.verdict(rows("albums/A")) == ["missingMandatory albums/A"])
    #expect(try store.verdict(rows("albums/A", one)) == ["tooFew albums/A"])
    #expect(try store.verdict(rows("albums/A", one, two)) == [])
    #expect(try store.verdict(rows(#"songs/3 {"album":"a"}"#)) == [])
    #expect(try store.verdict(rows(#"songs/4 {"album":"A"}"#)) == ["tooMany albums/A"])
    #expect(
      try store.verdict([.delete(node("songs/3")), .delete(node("songs/2"))]) == ["tooFew albums/A"]
    )
    #expect(
      try store.verdict([patched("songs/3", "album", "null"), .delete(node("songs/2"))])
        == ["tooFew albums/A"])
  }

  @Test("Stored edges and columns of one name are counted together, two to one node once")
  func together() throws {
    let store = try Library.store([song("optional: false")])
    try store.apply(rows("albums/A", "albums/B", #"songs/1 {"album":"A"}"#))
    func put(_ song: String, _ value: String, listing album: String) -> Change {
      let edge = DeclaredEdge(name: "album", destination: .node(node(album)), rules: [])
      return .put(node(song), type: nil, value: JSONText(valid: value), edges: [edge])
    }
    let inA = #"{"album":"A"}"#
    #expect(try store.verdict([put("songs/1", inA, listing: "albums/a")]) == [])
    #expect(try store.verdict([put("songs/1", inA, listing: "albums/B")]) == ["tooMany songs/1"])
    #expect(try store.verdict([patched("songs/1", "album", "null")]) == [])
    #expect(try store.verdict([put("songs/2", "{}", listing: "albums/B")]) == [])
    #expect(try store.verdict([.delete(node("albums/B"))]) == ["missingMandatory songs/2"])
  }

  @Test("No two rows share a unique destination, be it a row or a file")
  func unique() throws {
    let store = try Library.store([
      song("unique: true"),
      "{ name: 'cover', from: 'albums', to: { files: 'media' }, column: 'cover', unique: true }",
    ])
    try store.apply(
      rows(
        #"albums/A {"cover":"a.jpg"}"#, #"albums/B {"cover":"b.jpg"}"#, #"songs/1 {"album":"A"}"#))
    #expect(try store.verdict(rows(#"songs/2 {"album":"a"}"#)) == ["notUnique albums/A"])
    #expect(try store.verdict(rows(#"songs/2 {"album":"B"}"#)) == [])
    let link = Change.link(
      name: "album", from: node("songs/3"), to: .node(node("albums/B")), rules: [])
    #expect(try store.verdict(rows("songs/3") + [link]) == ["notUnique albums/B"])
    #expect(
      try store.verdict([patched("songs/2", "album", #""A""#), .delete(node("songs/1"))]) == [])
    #expect(try store.verdict(rows(#"albums/C {"cover":"a.jpg"}"#)) == ["notUnique "])
  }

  @Test("A column that refers to an object of another type than before is judged")
  func types() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { rows: { table: 'row', key: 'id' }, posts: { types: { photo: 'photos' } } },
          relationships: [
            { name: 'pic', from: 'rows', to: 'photos', column: 'pic', optional: false } ] }
        """),
      schema: "CREATE TABLE row(id INTEGER PRIMARY KEY, pic TEXT)")
    func put(_ type: String) -> [Change] {
      [.put(node("posts/1"), type: type, value: nil, edges: nil)]
    }
    #expect(try store.verdict(put("photo") + rows(#"rows/1 {"pic":"1"}"#)) == [])
    #expect(try store.verdict(put("text")) == ["missingMandatory rows/1"])
    #expect(try store.verdict(put("photo")) == [])
  }

  // MARK: - Other places

  @Test("Rows of a join table count once for each node at the other end")
  func join() throws {
    let store = try Library.store([
      featuring("optional: false, max: 2, inverse: { name: 'songs', toMany: true, max: 2 }")
    ])
    try store.apply(rows("artists/1", "artists/2"))
    #expect(try store.verdict(rows("songs/1")) == ["missingMandatory songs/1"])
    try store.bySQL("INSERT INTO song_artist VALUES(1, 1), (1, 1), (1, 2), (2, 1), (3, 1)")
    #expect(try store.verdict(rows("songs/1")) == [])
    try store.bySQL("INSERT INTO song_artist VALUES(1, 3)")
    #expect(try store.verdict(rows("artists/3")) == ["tooMany songs/1"])
    #expect(try store.verdict(rows("songs/2", "artists/1")) == [])
    #expect(try store.verdict(rows("songs/3", "artists/1")) == ["tooMany artists/1"])
    #expect(try store.verdict([.delete(node("artists/1"))]) == ["missingMandatory songs/2"])
  }

  @Test("A join read from both sides is counted once")
  func bothSides() throws {
    let store = try Library.store([
      featuring("inverse: 'songs', max: 1"),
      """
      { name: 'songs', from: 'artists', to: 'songs', max: 1,
        join: { table: 'song_artist', source: 'artist', destination: 'song' } }
      """,
    ])
    try store.bySQL("INSERT INTO song_artist VALUES(1, 1), (2, 2)")
    #expect(try store.verdict(rows("songs/1", "artists/1", "artists/2", "songs/2")) == [])
    try store.bySQL("INSERT INTO song_artist VALUES(2, 3)")
    #expect(try store.verdict(rows("artists/3")) == ["tooMany songs/2"])
  }

  @Test("A list counts the nodes that are in it, and from the other side who lists a node")
  func lists() throws {
    let store = try Library.store([
      """
      { name: 'related', from: 'songs', to: 'songs', property: 'data.related', toMany: true, max: 2,
        inverse: { name: 'referrers', toMany: true, max: 2 } }
      """
    ])
    func song(_ key: Int, _ list: String) -> [Change] {
      rows(#"songs/\#(key) {"data":"{\"related\":\#(list)}"}"#)
    }
    #expect(try store.verdict(rows("songs/1", "songs/2", "songs/3")) == [])
    #expect(try store.verdict(song(4, "[1, 2, 2, 9]")) == [])
    #expect(try store.verdict(song(5, "[1, 2, 3]")) == ["tooMany songs/5"])
    #expect(try store.verdict(song(5, "[1]")) == [])
    #expect(try store.verdict(song(6, "[1]")) == ["tooMany songs/1"])
  }

  @Test("A managed object is judged by the rows that refer to it")
  func polymorphic() throws {
    let store = try Library.store([
      """
      { name: 'about', from: 'songs', to: { Album: 'albums', Note: 'notes' }, column: 'about',
        typeColumn: 'about_type', inverse: { name: 'song', toMany: false, optional: false } }
      """
    ])
    let one = #"songs/1 {"about":"n","about_type":"Note"}"#
    #expect(try store.verdict(rows("notes/n")) == ["missingMandatory notes/n"])
    #expect(try store.verdict(rows("notes/n", one)) == [])
    #expect(
      try store.verdict(rows(#"songs/2 {"about":"n","about_type":"Note"}"#))
        == ["tooMany notes/n"])
    #expect(try store.verdict([.delete(node("songs/1"))]) == ["missingMandatory notes/n"])
    #expect(
      try store.verdict([patched("songs/1", "about_type", #""Album""#)])
        == ["missingMandatory notes/n"])
  }

  @Test("A composite key is judged like any other")
  func composite() throws {
    let store = try Library.store([
      "{ name: 'album', from: 'tags', to: 'albums', column: 'album', optional: false }"
    ])
    let tag = Node("tags", .composite([.integer(1), .text("x")]))
    try store.apply(rows("albums/A"))
    let put = Change.put(tag, type: nil, value: nil, edges: nil)
    #expect(try store.reasons([put]).map(\.node) == [tag])
    try store.apply([.put(tag, type: nil, value: JSONText(valid: #"{"album":"A"}"#), edges: nil)])
    #expect(try store.reasons([.delete(node("albums/A"))]).map(\.node) == [tag])
  }

  // MARK: - Whom nobody judges

  @Test("What others wrote by SQL refuses nothing until it is touched")
  func untouched() throws {
    let store = try Library.store([song("optional: false")])
    try store.bySQL("INSERT INTO song(id) VALUES(1), (2)")
    #expect(try store.verdict(rows("albums/A", "notes/n")) == [])
    #expect(
      try store.verdict([patched("songs/2", "data", #""{}""#)]) == ["missingMandatory songs/2"])
  }

  @Test("Every violation is listed, with its code and its node")
  func all() throws {
    let store = try Library.store([
      song("optional: false, unique: true"), featuring("min: 2"),
      "{ name: 'artist', from: 'albums', to: 'artists', column: 'artist', optional: false }",
    ])
    try store.bySQL("INSERT INTO song_artist VALUES(1, 1)")
    let changes = rows(
      "artists/1", #"albums/A {"artist":7}"#, #"songs/1 {"album":"A"}"#, #"songs/2 {"album":"A"}"#,
      "songs/3")
    #expect(
      try store.verdict(changes) == [
        "missingMandatory albums/A", "missingMandatory songs/3", "notUnique albums/A",
        "tooFew songs/1",
      ])
    #expect(try store.reader.lines() == [])
  }
}
