import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// What the application's own triggers and join rows that are nodes mean for our deletions.
@Suite("The application's rules")
struct ApplicationTriggerTests {
  private static let schema = """
    CREATE TABLE album(id INTEGER PRIMARY KEY, title TEXT);
    CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER, photo_id INTEGER);
    CREATE TABLE photo(id INTEGER PRIMARY KEY);
    CREATE TABLE archive(id INTEGER PRIMARY KEY, photo INTEGER, photos TEXT);
    CREATE TABLE song_photo(song INTEGER, photo INTEGER, PRIMARY KEY(song, photo));
    INSERT INTO album VALUES(1, 'a'), (2, 'b');
    INSERT INTO photo VALUES(1), (2);
    INSERT INTO song VALUES(1, 1, 1), (2, 2, 1), (3, 2, 2);
    """
  private static let collections = """
    albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" },
    photos: { table: "photo", key: "id" }, archive: { table: "archive", key: "id" },
    uses: { table: "song_photo", key: ["song", "photo"] },
    """
  private static let counted = """
    { name: "photo", from: "songs", to: "photos", column: "photo_id",
      rules: ["deleteDestinationIfAllSourcesDeleted"] }
    """
  private static let joined = """
    { name: "uses", from: "songs", to: "photos",
      join: { table: "song_photo", source: "song", destination: "photo" },
      rules: ["deleteDestinationIfAllSourcesDeleted"] }
    """

  private func store(_ relationships: String..., sql: String = "") throws -> TestStore {
    let relationships = relationships.joined(separator: ", ")
    let store = try TestStore(
      model: StoreModel(
        "{ collections: { \(Self.collections) }, relationships: [ \(relationships) ] }"),
      schema: Self.schema + sql)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  @Test("Sources with keys of two columns are told apart when they are gone")
  func compositeSources() throws {
    let store = try store(
      """
      { name: "photo", from: "uses", to: "photos", column: "photo",
        rules: ["notifyIfSourceDeleted"] }
      """, sql: "INSERT INTO song_photo VALUES(1, 1), (2, 1);")
    try store.bySQL("DELETE FROM song_photo")
    _ = try store.writer.sweep([.all], at: 1)
    let sources = try store.reader.notices(after: 0).map(\.edge.source.key)
    #expect(
      Set(sources) == [
        .composite([.integer(1), .integer(1)]), .composite([.integer(2), .integer(1)]),
      ])
  }

  private func rows(_ store: TestStore, _ collection: String) throws -> [String] {
    try store.reader.nodes(in: collection, after: nil, limit: 100).map(\.node.description)
  }

  @Test(
    "What a trigger of the application refers to, when we delete its row, stays",
    arguments: [nil, 1, 2] as [Int64?], ["AFTER", "BEFORE"])
  func archive(rows: Int64?, when: String) throws {
    let store = try store(
      Self.counted,
      """
      { name: "album", from: "songs", to: "albums", column: "album_id",
        rules: ["deleteSourceIfDestinationDeleted"] }
      """,
      """
      { name: "kept", from: "archive", to: "photos", column: "photo",
        rules: ["deleteDestinationIfAllSourcesDeleted"] },
      { name: "photo", from: "archive", to: "photos", column: "photo",
        rules: ["deleteDestinationIfAllSourcesDeleted"] }
      """,
      sql: """
        INSERT INTO song VALUES(4, 2, 2);
        INSERT INTO photo VALUES(3);
        INSERT INTO song VALUES(5, 2, 3);
        CREATE TRIGGER own \(when) DELETE ON song WHEN OLD.photo_id <> 3 BEGIN
          INSERT INTO archive(id, photo) VALUES(OLD.id, OLD.photo_id);
        END;
        """)
    if let rows { store.sweepsInSteps(of: rows) }
    try store.bySQL("DELETE FROM album")
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try self.rows(store, "songs") == [])
    #expect(try self.rows(store, "photos") == ["photos/1", "photos/2"])
    #expect(try store.reader.checkReferences().total == 0)
    try store.bySQL("DELETE FROM archive")
    _ = try store.writer.sweep([.all], at: 2)
    #expect(try self.rows(store, "photos") == [])
  }

  @Test(
    "It stays also where a change file or SQL deletes the row, and where a list refers to it",
    arguments: [
      ("column: 'photo'", "photo", "OLD.photo_id"),
      ("property: 'photos', toMany: true", "photos", "json_array(OLD.photo_id)"),
    ], ["change", "sql"])
  func archiveOfChange(place: (form: String, column: String, value: String), by: String) throws {
    let store = try store(
      Self.counted,
      """
      { name: "photo", from: "archive", to: "photos", \(place.form),
        rules: ["deleteDestinationIfAllSourcesDeleted"] }
      """,
      """
      { name: "album", from: "songs", to: "albums", column: "album_id",
        rules: ["deleteSourceIfDestinationDeleted"] }
      """,
      sql: """
        CREATE TRIGGER own AFTER DELETE ON song BEGIN
          INSERT INTO archive(id, \(place.column)) VALUES(OLD.id, \(place.value));
        END;
        """)
    if by == "change" {
      try store.apply([.delete(node("songs/3"))])
    } else {
      try store.bySQL("DELETE FROM album WHERE id = 2")
      _ = try store.writer.sweep([.all], at: 1)
    }
    #expect(try rows(store, "photos") == ["photos/1", "photos/2"])
    #expect(
      try store.texts("SELECT \(place.column) FROM archive WHERE id = 3")
        == [place.column == "photo" ? "2" : "[2]"])
  }

  @Test("What a trigger of the application deletes when we delete is journaled, and swept")
  func triggers() throws {
    let store = try store(
      Self.counted,
      sql: """
        CREATE TRIGGER own AFTER DELETE ON album BEGIN
          DELETE FROM song WHERE album_id = OLD.id;
        END;
        """)
    try store.apply([.delete(node("albums/2"))])
    #expect(try rows(store, "songs") == ["songs/1"])
    #expect(try rows(store, "photos") == ["photos/1", "photos/2"])
    #expect(try store.journal() == "songs 2 1, songs 3 2")
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try rows(store, "photos") == ["photos/1"])
    #expect(try store.journal() == "")
  }

  @Test("What we delete ourselves is judged once, also where the application has triggers")
  func judgedOnce() throws {
    let notified = """
      { name: "photo", from: "songs", to: "photos", column: "photo_id",
        rules: ["notifyIfSourceDeleted"] }
      """
    let store = try store(
      notified, sql: "CREATE TRIGGER own AFTER DELETE ON album BEGIN SELECT 1; END;")
    try store.apply([.delete(node("songs/3")), put("songs/1", #"{"photo_id": 2}"#)])
    #expect(try store.journal() == "")
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try store.reader.notices(after: 0).count == 2)
  }

  @Test("A node stays that a trigger of the application keeps, and what holds it by a rule too")
  func refusal() throws {
    let cascade = """
      { name: "album", from: "songs", to: "albums", column: "album_id",
        rules: ["deleteSourceIfDestinationDeleted"] }
      """
    let store = try store(
      cascade,
      sql: """
        CREATE TRIGGER own BEFORE DELETE ON song WHEN OLD.id = 2 BEGIN
          SELECT RAISE(ABORT, 'song 2 is for ever');
        END;
        """)
    #expect(try store.refusal(.delete(node("albums/2"))).contains("song 2 is for ever"))
    try store.bySQL("DELETE FROM album WHERE id = 2")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.outcome == .blocked)
    #expect(result.blocked.map(\.node) == [node("songs/2").withInteger])
    #expect(try rows(store, "songs") == ["songs/1", "songs/2"])
    // It was tried twice, and the second time is all there is of it.
    let batch = try #require(try store.reader.batches(after: 0, limit: 10).last)
    #expect(batch.id == "sweep-\(batch.batch)" && batch.deletedCount == 1)
    #expect(result.batch == batch.batch)
  }

  private static let nullified = "rules: ['nullifySourceIfDestinationDeleted'],"

  @Test(
    "Nor does a node go whose reference a trigger keeps",
    arguments: [
      ("column: 'album_id', \(nullified)", "BEFORE UPDATE ON song BEGIN SELECT RAISE(IGNORE); END"),
      (
        "column: 'album_id', \(nullified)",
        """
        AFTER UPDATE ON song WHEN NEW.album_id IS NULL BEGIN
          UPDATE song SET album_id = OLD.album_id WHERE id = OLD.id; END
        """
      ),
      (
        "property: 'data', toMany: true, \(nullified)",
        "BEFORE UPDATE ON song BEGIN SELECT RAISE(IGNORE); END"
      ),
      (
        "join: { table: 'both', source: 'song', destination: 'album' },",
        "BEFORE DELETE ON both BEGIN SELECT RAISE(IGNORE); END"
      ),
    ])
  func keptReference(place: String, trigger: String) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { albums: { table: 'album', key: 'id' }, songs: { table: 'song', key: 'id' } },
          relationships: [ { \(place) name: 'albums', from: 'songs', to: 'albums' } ] }
        """),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY); CREATE TABLE both(song INTEGER, album INTEGER);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER, data TEXT);
        INSERT INTO album VALUES(1); INSERT INTO song VALUES(1, 1, '[1]'); INSERT INTO both VALUES(1, 1);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("CREATE TRIGGER own \(trigger)")
    let refusal = try store.refusal(.delete(node("albums/1")))
    #expect(refusal.hasPrefix("albums/1 must stay: ") && refusal.contains("prevents this"))
    try store.bySQL("DELETE FROM album")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.outcome == .blocked && result.edgesRemoved == 0)
    try store.bySQL("DROP TRIGGER own")
    #expect(try store.writer.sweep([.all], at: 2).edgesRemoved == 1)
  }

  @Test(
    "A join row that is a node goes with its ends, and lets go of what it joins",
    arguments: [
      "DELETE FROM song_photo WHERE song = 1", "DELETE FROM song WHERE id = 1",
    ])
  func joinRows(sql: String) throws {
    let store = try store(Self.joined, sql: "INSERT INTO song_photo VALUES(1, 1), (2, 2), (3, 2);")
    try store.bySQL(sql)
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try rows(store, "photos") == ["photos/2"])
    #expect(try rows(store, "uses") == [#"["uses",[2,2]]"#, #"["uses",[3,2]]"#])
  }

  @Test("The same by change files, one of two and both")
  func joinRowsByFile() throws {
    let store = try store(Self.joined, sql: "INSERT INTO song_photo VALUES(1, 1), (2, 2), (3, 2);")
    func use(_ song: Int64) -> Change {
      .delete(Node("uses", .composite([.integer(song), .integer(2)])))
    }
    try store.apply([use(2)])
    #expect(try rows(store, "photos") == ["photos/1", "photos/2"])
    try store.apply([use(3)])
    #expect(try rows(store, "photos") == ["photos/1"])
    try store.apply([.delete(node("songs/1"))])
    #expect(try rows(store, "photos") == [])
    #expect(try rows(store, "uses") == [])
  }
}

extension Node {
  fileprivate var withInteger: Node { Node(collection, .integer(Int64(key.managedText!)!)) }
}
