import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import Testing

/// Deletions by SQL that rules 128 and 256 refuse at once.
@Suite("Denials as triggers")
struct DenialTriggerTests {
  private static let collections = """
    albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" },
    tags: { table: "tag", key: ["a", "b"] }
    """
  private static let tables = """
    CREATE TABLE album(id TEXT PRIMARY KEY, up TEXT);
    CREATE TABLE song(id INTEGER PRIMARY KEY, album_id TEXT, kind TEXT, doc TEXT);
    CREATE TABLE song_album(song INTEGER, album TEXT REFERENCES album ON UPDATE CASCADE);
    CREATE TABLE tag(a, b, up, PRIMARY KEY(a, b));
    INSERT INTO album VALUES('a', 'a'), ('b', 'a'), ('c', NULL);
    INSERT INTO song VALUES(1, 'a', 'A', '{"in":["a","x"]}'), (2, NULL, NULL, NULL),
      (3, 'zz', 'A', '{');
    INSERT INTO song_album VALUES(1, 'a'), (9, 'b');
    INSERT INTO tag VALUES(1, 'x', 'a'), (2, 'y', NULL);
    """

  private func store(_ relationship: String) throws -> TestStore {
    try TestStore(
      model: StoreModel(
        "{ collections: { \(DenialTriggerTests.collections) }, relationships: [ { \(relationship) } ] }"
      ),
      schema: DenialTriggerTests.tables)
  }

  /// Empty where nothing is refused.
  private func refusal(_ store: TestStore, _ sql: String) -> String {
    do {
      try store.bySQL(sql)
      return ""
    } catch { return (error as? SQLiteError)?.message ?? "\(error)" }
  }

  private static let places = [
    #"from: "songs", to: "albums", column: "album_id""#,
    #"from: "songs", to: { A: "albums" }, column: "album_id", typeColumn: "kind""#,
    #"from: "songs", to: "albums", property: "doc.in", toMany: true"#,
    """
    from: "songs", to: "albums", toMany: true,
    join: { table: "song_album", source: "song", destination: "album" }
    """,
  ]

  private func displaceable(_ rule: String, _ form: String) throws -> TestStore {
    let (from, to) = rule.contains("Source") ? ("albums", "songs") : ("songs", "albums")
    let column = rule.contains("Source") ? "song" : "album"
    return try TestStore(
      model: StoreModel(
        """
        { collections: { albums: { table: 'album', key: 'id' }, songs: { table: 'song', key: 'id' } },
          relationships: [
            { name: 'of', from: '\(from)', to: '\(to)', column: '\(column)', rules: ['\(rule)'] } ] }
        """),
      schema: """
        CREATE TABLE album(id TEXT PRIMARY KEY, code TEXT COLLATE NOCASE UNIQUE, n INT UNIQUE, song INT) \(form);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album TEXT);
        INSERT INTO album VALUES('a', 'x', 1, 1), ('b', 'y', 2, NULL), ('c', 'z', NULL, NULL);
        INSERT INTO song VALUES(1, 'a');
        """)
  }

  private static let displacing = [
    "INSERT OR REPLACE INTO album VALUES('d', 'X', 9, NULL)",
    "REPLACE INTO album(id, n) VALUES('d', 1)",
    "INSERT OR REPLACE INTO album VALUES('d', 'Y', 8, NULL), ('e', 'v', 1, NULL)",
    "INSERT OR REPLACE INTO album VALUES('b', 'x', 2, NULL)",
    "UPDATE OR REPLACE album SET code = 'x' WHERE id = 'c'",
    "UPDATE OR REPLACE album SET n = 1, id = 'd' WHERE id = 'b'",
  ]

  @Test(
    "What is denied is not displaced either",
    arguments: ["denyDestinationDeletion", "denySourceDeletion"], ["", "WITHOUT ROWID"])
  func displaced(rule: String, form: String) throws {
    let store = try displaceable(rule, form)
    let before = try store.dump()
    for sql in DenialTriggerTests.displacing {
      let message = refusal(store, sql)
      let reason = "albums/a must stay: songs/1 holds it by \"of\" (\(rule))"
      #expect(message.contains(reason), "\(sql)")
      #expect(try store.dump() == before)
    }
  }

  @Test(
    "Nothing else is refused because it might have been", arguments: ["", "WITHOUT ROWID"])
  func notDisplaced(form: String) throws {
    let store = try displaceable("denyDestinationDeletion", form)
    for sql in [
      "INSERT OR IGNORE INTO album VALUES('d', 'x', 9, NULL)",
      "INSERT INTO album VALUES('d', 'X', 9, NULL) ON CONFLICT(code) DO UPDATE SET song = 7",
      "INSERT OR REPLACE INTO album VALUES('a', 'x', 1, 3)",
      "INSERT OR REPLACE INTO album VALUES('d', 'y', 2, NULL)",
      "UPDATE OR REPLACE album SET n = 2 WHERE id = 'a'",
      "UPDATE OR IGNORE album SET code = 'x' WHERE id = 'c'",
      // Let go, and referred to again when it is gone: what was noted is not remembered against it.
      """
      DELETE FROM song; DELETE FROM album WHERE id = 'a'; INSERT INTO song VALUES(1, 'a');
      INSERT INTO album VALUES('e', 'x', 1, NULL)
      """,
      """
      INSERT INTO song VALUES(2, 'e'); INSERT OR IGNORE INTO album VALUES('f', 'x', 7, NULL);
      DELETE FROM song WHERE id = 2; UPDATE album SET id = 'g' WHERE id = 'e';
      INSERT INTO song VALUES(3, 'e'); INSERT INTO album VALUES('h', 'w', 6, NULL)
      """,
    ] { #expect(refusal(store, sql) == "", "\(sql)") }
    let plain = refusal(store, "INSERT INTO album VALUES('i', 'x', 5, NULL)")
    #expect(plain.contains("UNIQUE constraint failed"))
    let ids = try Connection(path: store.path, access: .readOnly).all(
      "SELECT id FROM album ORDER BY id"
    ) { $0.text(0) }
    #expect(ids == ["c", "g", "h"])
  }

  @Test("A destination stays while a source lives", arguments: places)
  func destination(place: String) throws {
    let store = try store("name: 'it''s', rules: ['denyDestinationDeletion'], \(place)".json5)
    let message = refusal(store, "DELETE FROM album WHERE id = 'a'")
    #expect(
      message.contains(
        "albums/a must stay: songs/1 holds it by \"it''s\" (denyDestinationDeletion)"))
    #expect(refusal(store, "BEGIN; DELETE FROM album; COMMIT").contains("albums/a must stay"))
    #expect(refusal(store, "DELETE FROM album WHERE id IN ('b', 'c')") == "")
    #expect(refusal(store, "UPDATE album SET id = 'z' WHERE id = 'a'").contains("albums/a must"))
    #expect(refusal(store, "BEGIN; DELETE FROM song; DELETE FROM album; COMMIT") == "")
  }

  @Test("A source stays while a destination lives", arguments: places)
  func source(place: String) throws {
    let store = try store("name: 'in', rules: ['denySourceDeletion'], \(place)".json5)
    #expect(
      refusal(store, "DELETE FROM song WHERE id = 1").contains(
        "songs/1 must stay: albums/a holds it by \"in\" (denySourceDeletion)"))
    #expect(refusal(store, "DELETE FROM song WHERE id IN (2, 3)") == "")
    let renamed = refusal(store, "UPDATE song SET id = 7 WHERE id = 1")
    #expect(renamed.isEmpty == !place.contains("join"))
    #expect(refusal(store, "BEGIN; DELETE FROM album; DELETE FROM song; COMMIT") == "")
  }

  @Test("A row that refers to itself is not held by itself")
  func itself() throws {
    let store = try store(
      "name: 'up', from: 'albums', to: 'albums', column: 'up', rules: ['denyDestinationDeletion']")
    #expect(refusal(store, "DELETE FROM album WHERE id = 'a'").contains("albums/b holds it"))
    #expect(refusal(store, "DELETE FROM album WHERE id = 'b'") == "")
    #expect(refusal(store, "DELETE FROM album WHERE id = 'a'") == "")
  }

  @Test("A key that takes its references along may change")
  func follows() throws {
    let store = try store(
      "name: 'in', rules: ['denyDestinationDeletion'], \(DenialTriggerTests.places[3])".json5)
    let sql = "UPDATE album SET id = 'z' WHERE id = 'a'"
    #expect(refusal(store, sql).contains("albums/a must stay"))
    #expect(refusal(store, "PRAGMA foreign_keys = ON; \(sql)") == "")
  }

  @Test("A composite key is named whole")
  func composite() throws {
    let store = try store(
      "name: 'up', from: 'tags', to: 'albums', column: 'up', rules: ['denySourceDeletion']")
    #expect(refusal(store, "DELETE FROM tag").contains(#"["tags",[1,"x"]] must stay: albums/a"#))
  }

  @Test(
    "A composite key that is referred to holds who refers to it, and nobody else",
    arguments: ["property: 'doc.of', toMany: true", "property: 'doc.one'"])
  func compositeHeld(place: String) throws {
    let store = try store(
      "name: 'of', from: 'songs', to: 'tags', rules: ['denySourceDeletion'], \(place)".json5)
    let doc = #"{"of": ["[1, \"x\"]"], "one": "[1, \"x\"]"}"#
    try store.bySQL(
      """
      UPDATE song SET doc = NULL WHERE id = 3; UPDATE song SET doc = '\(doc)' WHERE id = 1;
      CREATE UNIQUE INDEX song_kind ON song(id, kind);
      """)
    #expect(refusal(store, "DELETE FROM song WHERE id > 1") == "")
    #expect(refusal(store, "INSERT INTO song(id) VALUES(7); UPDATE song SET kind = 'Z'") == "")
    #expect(refusal(store, "DELETE FROM song").contains("songs/1 must stay: "))
    try store.bySQL("DELETE FROM tag")
    #expect(refusal(store, "DELETE FROM song") == "")
  }

  @Test("A refused statement leaves nothing of itself, and the transaction goes on")
  func statement() throws {
    let store = try store(
      "name: 'in', rules: ['denyDestinationDeletion'], \(DenialTriggerTests.places[0])")
    let db = try Connection(path: store.path, access: .readWrite)
    try db.execute("BEGIN; DELETE FROM album WHERE id = 'c'")
    #expect(throws: SQLiteError.self) { try db.execute("DELETE FROM album WHERE id >= 'a'") }
    let goesOn = db.isInTransaction
    #expect(goesOn)
    try db.execute("COMMIT")
    #expect(try store.journal() == "albums c")
    #expect(try db.integer("SELECT count(*) FROM album") == 2)
  }

  @Test("The daemon's own deletions are judged by the daemon")
  func quiet() throws {
    let store = try store(
      "name: 'in', rules: ['denyDestinationDeletion'], \(DenialTriggerTests.places[0])")
    #expect(
      refusal(
        store,
        "INSERT INTO cascade_muted VALUES(1); DELETE FROM album; DELETE FROM cascade_muted") == "")
  }

  @Test("An edge of Cascade's own holds rows from the transaction on that adds it")
  func stored() throws {
    let store = try store("name: 'in', \(DenialTriggerTests.places[0])")
    try store.run("X Y")
    #expect(try store.schema().allSatisfy { !$0.contains("cascade_deny_") })
    try store.run("X-128>Y")
    try store.bySQL(
      """
      INSERT INTO cascade_node(id, collection, key)
      SELECT 100, id, 'a' FROM cascade_collection WHERE name = 'albums';
      INSERT INTO cascade_edge
      SELECT source, name, 100, 0, 128, 0 FROM cascade_edge
      """)
    #expect(
      refusal(store, "DELETE FROM album").contains(
        "albums/a must stay: n/X holds it by \"e\" (denyDestinationDeletion)"))
    #expect(refusal(store, "DELETE FROM album WHERE id = 'b'; DELETE FROM song") == "")
    #expect(refusal(store, "UPDATE album SET id = 'z' WHERE id = 'a'").contains("albums/a must"))
    try store.bySQL("DELETE FROM cascade_edge WHERE destination = 100")
    #expect(refusal(store, "DELETE FROM album") == "")
  }

  @Test("A holder of the model's whose row is gone holds nothing")
  func storedByModel() throws {
    let store = try store(
      "name: 'in', from: 'songs', to: 'albums', rules: ['denyDestinationDeletion']")
    try store.bySQL(
      """
      INSERT INTO cascade_name VALUES(50, 'in');
      INSERT INTO cascade_node(id, collection, key)
      SELECT 100, id, 'a' FROM cascade_collection WHERE name = 'albums';
      INSERT INTO cascade_node(id, collection, key)
      SELECT 101, id, 1 FROM cascade_collection WHERE name = 'songs';
      INSERT INTO cascade_edge VALUES(101, 50, 100, 0, 128, 0)
      """)
    #expect(
      refusal(store, "DELETE FROM album").contains(
        "albums/a must stay: songs/1 holds it by \"in\" (denyDestinationDeletion)"))
    #expect(refusal(store, "BEGIN; DELETE FROM song; DELETE FROM album; COMMIT") == "")
  }

  @Test("Nobody pays for a denial that no edge has")
  func none() throws {
    let store = try store("name: 'in', \(DenialTriggerTests.places[0])")
    #expect(try store.schema().allSatisfy { !$0.contains("cascade_deny_") })
  }
}

extension String {
  /// A doubled quote in a model's text of single quotes.
  fileprivate var json5: String { replacing("''", with: #"\'"#) }
}
