internal import CascadeModel
internal import CascadeStore
import Testing

/// A count that finds its node held by an edge which a sweep of the other kind is about to remove. The edge
/// that goes then has no rule that counts, and the node goes all the same.
package struct CountedAgain {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case destination = "A destination goes when the last edge to it goes by another rule"
    case destinationOfJoins = "The same where the edges are join rows"
    case source = "A source goes when its last destination goes by another rule"
    case isHeld = "A node that is held in the end stays, also when that edge goes later"

    package var testDescription: String { rawValue }
  }

  package enum Order: String, CaseIterable, CustomTestStringConvertible {
    case countsFirst = "counts first"
    case cascadeFirst = "cascade first"
    case together = "both at once"

    package var testDescription: String { rawValue }

    fileprivate var kinds: [[SweepKind]] {
      switch self {
      case .countsFirst: [[.refcount], [.cascade]]
      case .cascadeFirst: [[.cascade], [.refcount]]
      case .together: [[.cascade, .refcount]]
      }
    }
  }

  package func expect(_ claim: Claim, _ order: Order) throws {
    let store = try CountedStore(engine, order.kinds)
    switch claim {
    case .destination:
      try store.bySQL("DELETE FROM album WHERE id = 1")
      #expect(try store.sweep() == ["songs": 1, "covers": 1])
    case .destinationOfJoins:
      try store.bySQL("DELETE FROM album WHERE id = 2")
      #expect(try store.sweep() == ["songs": 1, "tags": 1])
    case .source:
      try store.bySQL("DELETE FROM album WHERE id = 3")
      #expect(try store.sweep() == ["songs": 1, "lists": 1])
    case .isHeld:
      try store.bySQL("DELETE FROM album WHERE id = 4")
      #expect(try store.sweep() == ["songs": 1])
      try store.bySQL("DELETE FROM song WHERE id = 5")
      #expect(try store.sweep() == [:])
      #expect(try store.texts("SELECT CAST(id AS TEXT) FROM cover WHERE id = 4") == ["4"])
    }
  }
}

/// Each album has the cover, the tag or the list of its number, by a rule that counts, and a song that goes
/// with it and has the same by none. Album 4 has two songs, of which one stays.
private final class CountedStore {
  private let store: any StoreUnderTest
  private let kinds: [[SweepKind]]

  init(_ engine: any EngineUnderTest, _ kinds: [[SweepKind]]) throws {
    self.kinds = kinds
    store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: {
            albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" },
            covers: { table: "cover", key: "id" }, tags: { table: "tag", key: "id" },
            lists: { table: "list", key: "id" } },
          relationships: [
            { name: "album", from: "songs", to: "albums", column: "album",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "cover", from: "albums", to: "covers", column: "cover",
              rules: ["deleteDestinationIfAllSourcesDeleted"] },
            { name: "cover", from: "songs", to: "covers", column: "cover" },
            { name: "tag", from: "albums", to: "tags",
              join: { table: "album_tag", source: "album", destination: "tag" },
              rules: ["deleteDestinationIfAllSourcesDeleted"] },
            { name: "tag", from: "songs", to: "tags",
              join: { table: "song_tag", source: "song", destination: "tag" } },
            { name: "of", from: "lists", to: "albums", column: "album",
              rules: ["deleteSourceIfAllDestinationsDeleted"] },
            { name: "of", from: "lists", to: "songs", column: "song" }] }
        """),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY, cover INTEGER);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, cover INTEGER);
        CREATE TABLE cover(id INTEGER PRIMARY KEY);
        CREATE TABLE tag(id INTEGER PRIMARY KEY);
        CREATE TABLE list(id INTEGER PRIMARY KEY, album INTEGER, song INTEGER);
        CREATE TABLE album_tag(album INTEGER, tag INTEGER);
        CREATE TABLE song_tag(song INTEGER, tag INTEGER);
        CREATE INDEX song_album ON song(album); CREATE INDEX song_cover ON song(cover);
        CREATE INDEX album_cover ON album(cover); CREATE INDEX list_album ON list(album);
        CREATE INDEX list_song ON list(song);
        CREATE INDEX album_tag_album ON album_tag(album); CREATE INDEX album_tag_tag ON album_tag(tag);
        CREATE INDEX song_tag_song ON song_tag(song); CREATE INDEX song_tag_tag ON song_tag(tag);
        INSERT INTO cover VALUES(1), (4); INSERT INTO tag VALUES(2);
        INSERT INTO album VALUES(1, 1), (2, NULL), (3, NULL), (4, 4);
        INSERT INTO song VALUES(1, 1, 1), (2, 2, NULL), (3, 3, NULL), (4, 4, 4), (5, NULL, 4);
        INSERT INTO album_tag VALUES(2, 2); INSERT INTO song_tag VALUES(2, 2);
        INSERT INTO list VALUES(3, 3, 3);
        """)
    _ = try store.writer.sweep([.all], at: 1)
  }

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }
  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }

  /// Until no kind finds anything. Returns how many nodes went, by collection.
  func sweep() throws -> [String: Int] {
    var went: [String: Int] = [:]
    while true {
      let results = try kinds.map { try store.writer.sweep($0, at: 1).byCollection }
      for result in results { went.merge(result, uniquingKeysWith: +) }
      if results.allSatisfy(\.isEmpty) { return went }
    }
  }
}
