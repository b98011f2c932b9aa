import CascadeModel
import CascadeStore
import Testing

/// One node comes back with what went because of it, and nothing else; on every engine.
package struct UndoneNodes {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case alone = "A node comes back with what went because of it, and the rest stays in its batch"
    case rest = "The rest of the batch comes back later, as it was"
    case whole = "A batch that has nothing else is undone itself"
    case references = "References to it are set again, and those to others are not"
    case lists = "Of a list, what comes back is in its place, and the rest comes back later"
    case joins = "A join row to what stays away comes back with that"
    case edges = "Edges that are stored come back between what is there"
    case laterBatches = "What followed in a later batch comes back, too"
    case kept = "What the application deleted comes back with what followed"
    case again = "A row that was made anew gets no reference that another one lost"
    case taken = "What cannot come back is told, and stays"
    case unknown = "A node of which nothing is in the trash is refused"
    case steps = "Many nodes come back in steps"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .alone: try alone()
    case .rest: try rest()
    case .whole: try whole()
    case .references: try references()
    case .lists: try lists()
    case .joins: try joins()
    case .edges: try edges()
    case .laterBatches: try laterBatches()
    case .kept: try kept()
    case .again: try again()
    case .taken: try taken()
    case .unknown: try unknown()
    case .steps: try steps()
    }
  }

  private func alone() throws {
    let store = try RecordStore(engine)
    try store.delete("artists", 1, 2)
    let undone = try store.undo("artists", 1)
    #expect(undone.restored == 4 && undone.leftCount == 0)
    #expect(undone.byCollection == ["artists": 1, "albums": 1, "songs": 2])
    #expect(try store.ids("artist") == ["1", "3"] && store.ids("song") == ["1", "2", "5"])
    #expect(try store.sweep().outcome == .nothing)
  }

  private func rest() throws {
    let store = try RecordStore(engine)
    let before = try store.dump()
    let batch = try store.delete("artists", 1, 2)
    _ = try store.undo("artists", 1)
    let undone = try store.undo(batch)
    #expect(undone.leftCount == 0 && undone.restored == 4)
    #expect(try store.dump() == before)
    #expect(throws: UndoUnavailable.self) { try store.undo(batch) }
  }

  private func whole() throws {
    let store = try RecordStore(engine)
    let before = try store.dump()
    let batch = try store.delete("artists", 1)
    #expect(try store.undo("artists", 1).batch == batch)
    #expect(try store.dump() == before)
  }

  private func references() throws {
    let store = try RecordStore(engine)
    let before = try store.dump()
    let batch = try store.delete("songs", 1, 3)
    #expect(try store.texts("SELECT CAST(count(song) AS TEXT) FROM pick") == ["0"])
    let undone = try store.undo("songs", 3)
    #expect(undone.references == 1 && undone.leftCount == 0)
    #expect(try store.texts("SELECT CAST(id AS TEXT) FROM pick WHERE song = 3") == ["2"])
    #expect(try store.undo(batch).leftCount == 0)
    #expect(try store.dump() == before)
  }

  private func lists() throws {
    let store = try RecordStore(engine)
    let before = try store.dump()
    try store.delete("songs", 1, 2)
    #expect(try store.list() == [5])
    #expect(try store.undo("songs", 2).leftCount == 0)
    #expect(try store.list() == [2, 5])
    #expect(try store.undo("songs", 1).leftCount == 0)
    #expect(try store.list() == [1, 2, 5])
    #expect(try store.dump() == before)
  }

  private func joins() throws {
    let store = try RecordStore(engine)
    let before = try store.dump()
    let batch = try store.delete("songs", 1, 2, and: Node("tags", .integer(1)))
    let undone = try store.undo("songs", 1)
    #expect(undone.rows == 1 && undone.leftCount == 0)
    #expect(try store.tags() == ["1 2", "5 2"])
    #expect(try store.undo(batch).leftCount == 0)
    #expect(try store.dump() == before)
  }

  private func edges() throws {
    let store = try RecordStore(engine)
    let before = try store.dump()
    let batch = try store.delete("songs", 1, 2)
    let undone = try store.undo("songs", 1)
    #expect(undone.leftCount == 0 && undone.edges == 1)
    #expect(try store.undo(batch).leftCount == 0)
    #expect(try store.dump() == before)
  }

  private func laterBatches() throws {
    let store = try RecordStore(engine)
    let tags = try store.tags()
    try store.bySQL("DELETE FROM pick WHERE id = 1")
    try store.lease("1", in: "songs")
    try store.delete("artists", 1, 2)
    #expect(try store.ids("song") == ["1", "5"])
    try store.endLeases()
    _ = try store.sweep()
    #expect(try store.ids("song") == ["5"])
    #expect(try store.undo("artists", 1).restored == 4)
    #expect(try store.ids("song") == ["1", "2", "5"] && store.tags() == tags)
  }

  private func kept() throws {
    let store = try RecordStore(engine, keepDeleted: true)
    let before = try store.dump()
    try store.bySQL("DELETE FROM artist WHERE id IN (1, 2)")
    _ = try store.sweep()
    let undone = try store.undo("artists", 1)
    #expect(undone.restored == 4 && undone.danglingCount == 0)
    #expect(try store.ids("artist") == ["1", "3"])
    #expect(try store.undo("artists", 2).restored == 4)
    #expect(try store.dump() == before)
  }

  private func again() throws {
    let store = try RecordStore(engine)
    try store.delete("songs", 1, 3)
    try store.bySQL("DELETE FROM pick WHERE id = 1")
    _ = try store.sweep()
    try store.bySQL("INSERT INTO pick VALUES(1, NULL)")
    let undone = try store.undo("songs", 1)
    #expect(undone.restored == 1)
    // That of the mix, and not that of the pick.
    #expect(undone.references == 1)
    #expect(try store.texts("SELECT CAST(count(song) AS TEXT) FROM pick") == ["0"])
  }

  private func taken() throws {
    let store = try RecordStore(engine)
    let batch = try store.delete("artists", 1, 2)
    try store.bySQL("INSERT INTO song VALUES(2, 9)")
    let undone = try store.undo("artists", 1)
    #expect(undone.restored == 3)
    #expect(undone.left.compactMap(\.node) == [Node("songs", .integer(2))])
    try store.bySQL("DELETE FROM song WHERE id = 2")
    #expect(try store.undo("songs", 2).restored == 1)
    #expect(try store.undo(batch).restored == 4)
  }

  private func unknown() throws {
    let store = try RecordStore(engine)
    #expect(throws: UndoUnavailable.nodeNotInTrash(Node("songs", .integer(1)))) {
      try store.undo("songs", 1)
    }
    try store.delete("songs", 1)
    _ = try store.undo("songs", 1)
    #expect(throws: UndoUnavailable.nodeNotInTrash(Node("songs", .integer(1)))) {
      try store.undo("songs", 1)
    }
  }

  private func steps() throws {
    let store = try RecordStore(engine)
    let numbers = 100..<400
    try store.bySQL(
      "INSERT INTO song VALUES \(numbers.map { "(\($0), \($0 % 2 + 1))" }.joined(separator: ", "))")
    let before = try store.dump()
    store.inSteps(of: 20)
    let batch = try store.delete("artists", 1, 2)
    #expect(try store.undo("artists", 1).restored == 154)
    #expect(try store.undo(batch).restored == 154)
    #expect(try store.dump() == before)
  }
}

/// Artists 1 to 3, each with an album; songs 1 and 2 on the first, 3 and 4 on the second, 5 on the third.
/// Picks refer to songs 1 and 3, a mix lists songs 1, 2 and 5, and songs have tags.
private final class RecordStore {
  private let store: any StoreUnderTest

  init(_ engine: any EngineUnderTest, keepDeleted: Bool = false) throws {
    store = try engine.makeStore(
      model: StoreModel(
        """
        { keepDeleted: \(keepDeleted), collections: {
            artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
            songs: { table: "song", key: "id" }, picks: { table: "pick", key: "id" },
            mixes: { table: "mix", key: "id" }, tags: { table: "tag", key: "id" } },
          relationships: [
            { name: "artist", from: "albums", to: "artists", column: "artist",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "album", from: "songs", to: "albums", column: "album",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "song", from: "picks", to: "songs", column: "song",
              rules: ["nullifySourceIfDestinationDeleted"] },
            { name: "songs", from: "mixes", to: "songs", property: "doc.songs", toMany: true,
              rules: ["nullifySourceIfDestinationDeleted"] },
            { name: "tags", from: "songs", to: "tags", toMany: true,
              join: { table: "song_tag", source: "song", destination: "tag" } },
            { name: "next", from: "songs", to: "songs", toMany: true }] }
        """),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY);
        CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER);
        CREATE TABLE pick(id INTEGER PRIMARY KEY, song INTEGER);
        CREATE TABLE mix(id INTEGER PRIMARY KEY, doc TEXT);
        CREATE TABLE tag(id INTEGER PRIMARY KEY);
        CREATE TABLE song_tag(song INTEGER, tag INTEGER, PRIMARY KEY(song, tag));
        CREATE INDEX album_artist ON album(artist); CREATE INDEX song_album ON song(album);
        CREATE INDEX pick_song ON pick(song); CREATE INDEX song_tag_tag ON song_tag(tag);
        INSERT INTO artist VALUES(1), (2), (3); INSERT INTO album VALUES(1, 1), (2, 2), (3, 3);
        INSERT INTO song VALUES(1, 1), (2, 1), (3, 2), (4, 2), (5, 3);
        INSERT INTO pick VALUES(1, 1), (2, 3); INSERT INTO mix VALUES(1, '{"songs":[1,2,5]}');
        INSERT INTO tag VALUES(1), (2); INSERT INTO song_tag VALUES(1, 1), (1, 2), (2, 1), (5, 2);
        """)
    _ = try store.writer.sweep([.all], at: 1)
    _ = try store.apply([link(1, 2), link(1, 5)])
  }

  private func link(_ from: Int64, _ to: Int64) -> Change {
    .link(
      name: "next", from: song(from), to: .node(song(to)), rules: nil)
  }

  private func song(_ key: Int64) -> Node { Node("songs", .integer(key)) }

  /// By a change file. Returns its batch.
  @discardableResult
  func delete(_ collection: String, _ keys: Int64..., and other: Node? = nil) throws -> Int64 {
    let nodes = keys.map { Node(collection, .integer($0)) } + (other.map { [$0] } ?? [])
    return try #require(try store.apply(nodes.map { .delete($0) }).batch)
  }

  func undo(_ collection: String, _ key: Int64) throws -> UndoResult {
    try store.writer.undo(Node(collection, .integer(key)), by: "me", at: 3)
  }
  func undo(_ batch: Int64) throws -> UndoResult { try store.writer.undo(batch, by: "me", at: 3) }
  func sweep() throws -> SweepResult { try store.writer.sweep([.all], at: 1_000_000) }
  func inSteps(of rows: Int64) { store.sweepsInSteps(of: rows) }
  func lease(_ key: String, in collection: String) throws {
    try store.lease(key, in: collection, until: 4_000_000_000)
  }
  func endLeases() throws { try store.endLeases() }

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }
  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }
  func dump() throws -> [String] { try store.dump().sorted() }
  func ids(_ table: String) throws -> [String] {
    try texts("SELECT CAST(id AS TEXT) FROM \(table) ORDER BY id")
  }
  func tags() throws -> [String] {
    try texts("SELECT song || ' ' || tag FROM song_tag ORDER BY song, tag")
  }
  func list() throws -> [Int64]? {
    try JSON.parse(texts("SELECT doc FROM mix")[0])["songs"]?.array?.compactMap(\.integer)
  }
}
