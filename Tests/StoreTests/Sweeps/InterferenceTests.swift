import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps
import SQLiteUndo

/// What others do between the steps of a sweep: what gained a holder stays with all that
/// would have followed it, and who comes to refer to what goes follows it.
///
/// An artist takes the albums along, which take their songs; a tag goes with its last song, and a
/// photo with the album that shows it.
@Suite("Between the steps of a sweep")
struct InterferenceTests {
  private static let model = """
    {
      collections: {
        artists: { table: 'artist', key: 'id' }, albums: { table: 'album', key: 'id' },
        songs: { table: 'song', key: 'id' }, tags: { table: 'tag', key: 'id' },
        photos: { table: 'photo', key: 'id' }, notes: {},
      },
      relationships: [
        { name: 'artist', from: 'albums', to: 'artists', column: 'artist',
          rules: ['deleteSourceIfDestinationDeleted', 'notifyIfDestinationDeleted'] },
        { name: 'photo', from: 'albums', to: 'photos', column: 'photo',
          rules: ['deleteDestinationIfSourceDeleted'] },
        { name: 'album', from: 'songs', to: 'albums', column: 'album',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'tags', from: 'songs', to: 'tags', toMany: true,
          join: { table: 'song_tag', source: 'song', destination: 'tag' },
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
      ],
    }
    """

  /// Two of all, and the songs of the first artist are `a` to `f`.
  private static let schema = """
    CREATE TABLE artist(id INTEGER PRIMARY KEY);
    CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER, photo TEXT);
    CREATE TABLE song(id TEXT PRIMARY KEY, album INTEGER);
    CREATE TABLE tag(id TEXT PRIMARY KEY);
    CREATE TABLE photo(id TEXT PRIMARY KEY, slot TEXT UNIQUE);
    CREATE TABLE song_tag(song TEXT, tag TEXT, PRIMARY KEY(song, tag)) WITHOUT ROWID;
    INSERT INTO artist VALUES(1), (2);
    INSERT INTO album VALUES(1, 1, 'p'), (2, 1, 'q'), (3, 2, 'r');
    INSERT INTO song VALUES('a', 1), ('b', 1), ('c', 1), ('d', 2), ('e', 2), ('f', 2), ('x', 3);
    INSERT INTO tag VALUES('t'), ('u'), ('v');
    INSERT INTO photo(id) VALUES('p'), ('q'), ('r');
    INSERT INTO song_tag VALUES('a', 't'), ('b', 't'), ('c', 'u'), ('f', 'u'), ('x', 'v');
    """

  private static let whole = "artist 1,2 album 1,2,3 song a,b,c,d,e,f,x tag t,u,v photo p,q,r"
  private static let rest = "artist 2 album 3 song x tag v photo r"

  @Test("A sweep whose plans are all outdated by new tables ends later, where it would have")
  func altered() throws {
    let store = try TestStore(
      model: StoreModel(InterferenceTests.model), schema: InterferenceTests.schema)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    var count = 0
    let manners = StepPolicy { _ in
      count += 1
      if !count.isMultiple(of: 2) || count > 18 { try store.bySQL("CREATE TABLE t\(count)(a)") }
    }
    let result = try store.writer.sweep([.cascade, .refcount], at: 1, manners: manners)
    #expect(result.isCutShort && result.outcome == .blocked)
    #expect(try store.writer.unfinishedSweep == [.cascade, .refcount])
    _ = try store.writer.sweep([.refcount], at: 2)
    #expect(try store.writer.unfinishedSweep == [.cascade, .refcount])
    #expect(try !store.writer.sweep([.cascade, .refcount], at: 3).isCutShort)
    #expect(try store.writer.unfinishedSweep == nil)
    #expect(try store.texts("SELECT id FROM song UNION ALL SELECT id FROM tag") == ["x", "v"])
    #expect(try store.reader.checkReferences().total == 0)
  }

  /// The rows that are left after the first artist was deleted and swept, `sql` came after so many
  /// steps of a row each, and all that follows from it was swept too.
  private func left(
    _ sql: String, after step: Int, deleting deleted: [Substring] = [], counting total: Int? = nil,
    beginningWith first: String = ""
  ) throws -> String {
    let store = try TestStore(
      model: StoreModel(InterferenceTests.model), schema: InterferenceTests.schema)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM artist WHERE id = 1; \(first)")
    var count = 0
    let manners = StepPolicy { _ in
      count += 1
      if count == step { try store.bySQL(sql) }
    }
    let result = try store.writer.sweep([.all], at: 1, manners: manners)
    #expect(count >= step)
    #expect(total == nil || result.deletedCount == total)
    let left = try rows(store)
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
    #expect(try store.reader.checkReferences().total == 0)
    #expect(try store.reader.notices(after: 0).allSatisfy(\.receiverDeleted))
    if let batch = result.batch { _ = try store.writer.undo(batch, by: "me", at: 3) }
    #expect(try lost(store).filter { !deleted.contains($0) } == [])
    return left
  }

  private func rows(_ store: TestStore) throws -> String {
    let db = try Connection(path: store.path, access: .readOnly)
    return try ["artist", "album", "song", "tag", "photo"].map { table in
      let rows = try db.all(generated: "SELECT id FROM \(table) ORDER BY id", []) { $0.text(0) }
      return "\(table) \(rows.joined(separator: ","))"
    }.joined(separator: " ")
  }

  /// What the undo did not bring back.
  private func lost(_ store: TestStore) throws -> [Substring] {
    let rows = Set(try rows(store).split { " ,".contains($0) })
    let wanted = InterferenceTests.whole.split { " ,".contains($0) }.dropFirst().filter {
      $0 != "1"
    }
    return wanted.filter { !rows.contains($0) }
  }

  @Test("Nothing but the rules, when nobody comes between")
  func nobody() throws { #expect(try left("SELECT 1", after: 1) == InterferenceTests.rest) }

  @Test("A root that is there again keeps all that had not gone yet", arguments: 1...12)
  func returned(step: Int) throws {
    let left = try left("INSERT INTO artist VALUES(1)", after: step)
    let songs = left.split(separator: " ")[5]
    if step == 1 { #expect(left == InterferenceTests.whole) }
    // Whoever is left is there with what it needs.
    #expect(left.contains("album 1") || !songs.contains("a"))
    #expect(left.contains("artist 1,2"))
  }

  @Test("A new holder keeps what would have gone with the last", arguments: 1...6)
  func held(step: Int) throws {
    #expect(
      try left("INSERT INTO song_tag VALUES('x', 't')", after: step)
        == "artist 2 album 3 song x tag t,v photo r")
  }

  @Test(
    "Who refers to something else now stays, and what would have followed it", arguments: [1, 2])
  func changed(step: Int) throws {
    #expect(
      try left("UPDATE album SET artist = 2 WHERE id = 2", after: 1)
        == "artist 2 album 2,3 song d,e,f,x tag u,v photo q,r")
    #expect(
      try left("UPDATE album SET artist = NULL WHERE id = 2", after: 1)
        == "artist 2 album 2,3 song d,e,f,x tag u,v photo q,r")
    #expect(
      try left("UPDATE song SET album = 3 WHERE id IN ('a', 'f')", after: step)
        == "artist 2 album 3 song a,f,x tag t,u,v photo r")
  }

  @Test("Who stays keeps what goes before its turn", arguments: [1, 2])
  func heldByWhoWasToGo(step: Int) throws {
    #expect(
      try left(
        "INSERT INTO song_tag VALUES('f', 'v'); UPDATE song SET album = 3 WHERE id = 'f'",
        after: step, deleting: ["x"], beginningWith: "DELETE FROM song WHERE id = 'x'")
        == "artist 2 album 3 song f tag u,v photo r")
  }

  @Test("Who comes to refer to what goes, goes with it", arguments: 1...12)
  func follower(step: Int) throws {
    let sql = """
      INSERT INTO album VALUES(9, 1, 'z'); INSERT INTO photo(id) VALUES('z');
      INSERT INTO song VALUES('n', 1), ('o', 9), ('s', 3); INSERT INTO tag VALUES('w'), ('y');
      INSERT INTO song_tag VALUES('o', 'w'), ('n', 'v'), ('s', 'y');
      """
    #expect(try left(sql, after: step) == "artist 2 album 3 song s,x tag v,y photo r")
  }

  @Test("Other roots that go meanwhile are swept too", arguments: 1...12)
  func roots(step: Int) throws {
    #expect(
      try left("DELETE FROM artist WHERE id = 2", after: step) == "artist  album  song  tag  photo "
    )
  }

  @Test("Another row in the place of one that was to go stays", arguments: 1...12)
  func reused(step: Int) throws {
    let sql = """
      DELETE FROM song WHERE id = 'd'; REPLACE INTO song(rowid, id, album) VALUES(4, 'n', 3);
      DELETE FROM tag WHERE id = 't'; REPLACE INTO tag(rowid, id) VALUES(1, 's');
      DELETE FROM photo WHERE id = 'p'; REPLACE INTO photo(rowid, id) VALUES(1, 'o');
      """
    #expect(
      try left(sql, after: step, deleting: ["d", "t", "p"])
        == "artist 2 album 3 song n,x tag s,v photo o,r")
  }

  @Test("Another row that displaced one that was to go stays", arguments: 1...4)
  func displaced(step: Int) throws {
    let sql = "UPDATE photo SET slot = id; REPLACE INTO photo(rowid, id, slot) VALUES(1, 'o', 'p')"
    #expect(
      try left(sql, after: step, deleting: ["p"]) == "artist 2 album 3 song x tag v photo o,r")
  }

  @Test("Rows that lie elsewhere now are found there", arguments: 1...8)
  func vacuum(step: Int) throws {
    let sql = "DELETE FROM song WHERE id = 'b'; VACUUM"
    #expect(try left(sql, after: step, deleting: ["b"]) == InterferenceTests.rest)
  }

  @Test("Tables that are altered meanwhile are swept as they are", arguments: 1...8)
  func altered(step: Int) throws {
    let sql = "ALTER TABLE song ADD COLUMN stars; UPDATE song SET stars = 5"
    #expect(try left(sql, after: step, counting: 12) == InterferenceTests.rest)
  }
}
