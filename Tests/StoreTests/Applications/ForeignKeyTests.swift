import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteUndo
import SQLiteSweeps

/// Tables outside of the model may refer to its nodes by foreign keys. What SQLite does with their
/// rows when a node goes, steps do in its place; where they cannot, the sweep is one transaction.
@Suite("Foreign keys outside of the model")
struct ForeignKeyTests {
  private static let model = """
    { collections: { artists: { table: 'artist', key: 'id' }, songs: { table: 'song', key: 'id' } },
      relationships: [
        { name: 'artist', from: 'songs', to: 'artists', column: 'artist',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'featuring', from: 'songs', to: 'artists',
          join: { table: 'featuring', source: 'song', destination: 'artist' } },
        { name: 'like', from: 'songs', to: 'songs',
          join: { table: 'alike', source: 'song', destination: 'other' } } ] }
    """

  /// `joined` is what the foreign keys of the join table do, if it has some.
  private static func store(_ more: String, joined: String?) throws -> TestStore {
    func key(_ parent: String) -> String { joined.map { "REFERENCES \(parent) \($0)" } ?? "" }
    return try TestStore(
      model: StoreModel(model),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id TEXT PRIMARY KEY, artist INTEGER, no INTEGER UNIQUE);
        CREATE INDEX song_artist ON song(artist);
        CREATE TABLE featuring(id INTEGER PRIMARY KEY, song TEXT \(key("song")),
          artist INTEGER \(key("artist")));
        CREATE TABLE alike(song TEXT \(key("song")), other TEXT \(key("song")));
        INSERT INTO artist VALUES(1), (2), (3);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
        INSERT INTO song SELECT 's' || i, i % 3 + 1, i FROM n;
        INSERT INTO featuring(song, artist) SELECT s.id, a.id FROM song AS s, artist AS a;
        INSERT INTO alike SELECT s.id, o.id FROM song AS s, song AS o WHERE s.no % 3 = o.no % 3;
        \(more)
        """)
  }

  /// What is left of it, and how many transactions it took.
  private static func sweep(_ store: TestStore) throws -> (result: SweepResult, dump: [String]) {
    try store.bySQL("DELETE FROM artist WHERE id = 2")
    let result = try store.writer.sweep([.all], at: 1)
    let db = try Connection(path: store.path, access: .readOnly)
    #expect(try db.all("PRAGMA foreign_key_check") { $0.text(0) } == [])
    #expect(result.deletedCount == 4)
    return (result, try store.dump())
  }

  /// As SQLite does it, and back.
  private static func compare(_ more: String, joined: String? = nil, steps: Bool) throws {
    let (stepped, whole) = (try store(more, joined: joined), try store(more, joined: joined))
    let before = try stepped.dump()
    stepped.sweepsInSteps(of: 1)
    let (result, left) = try sweep(stepped)
    #expect((result.lockMilliseconds.count > 4) == steps)
    #expect(try left == sweep(whole).dump)
    #expect(try kept(in: stepped) == kept(in: whole))
    try stepped.bySQL("INSERT INTO artist VALUES(2)")
    let undone = try stepped.writer.undo(try #require(result.batch), by: "test", at: 2)
    #expect(undone.leftCount == 0, "\(undone.left)")
    #expect(try stepped.dump() == before)
  }

  private static func kept(in store: TestStore) throws -> Int64? {
    try Connection(path: store.path, access: .readOnly)
      .integer("SELECT count(*) FROM cascade_trash")
  }

  @Test(
    "A join table's go with their ends",
    arguments: ["", "ON DELETE CASCADE", "ON DELETE RESTRICT", "ON DELETE SET NULL"])
  func joinTables(does: String) throws {
    try ForeignKeyTests.compare("", joined: does, steps: true)
  }

  @Test("A join row between two that go is there as long as one of them is")
  func joinRowStays() throws {
    let store = try ForeignKeyTests.store("", joined: "ON DELETE CASCADE")
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM artist WHERE id = 2")
    let db = try Connection(path: store.path, access: .readOnly)
    var seen: Set<Int64> = []
    let manners = StepPolicy { _ in
      let left = try db.integer("SELECT count(*) FROM song WHERE artist = 2") ?? 0
      seen.insert(left)
      #expect(try db.integer("SELECT count(*) FROM alike") == 48 - (4 - left) * (4 - left))
    }
    _ = try store.writer.sweep([.all], at: 1, manners: manners)
    #expect(seen == [0, 1, 2, 3, 4])
  }

  @Test(
    "What cascades or is set to null follows each step",
    arguments: [
      "CREATE TABLE note(song TEXT REFERENCES song ON DELETE CASCADE)",
      "CREATE TABLE note(song TEXT REFERENCES song ON DELETE SET NULL)",
      "CREATE TABLE note(song TEXT PRIMARY KEY REFERENCES song ON DELETE CASCADE) WITHOUT ROWID",
    ])
  func follow(table: String) throws {
    try ForeignKeyTests.compare(
      "\(table); INSERT INTO note SELECT id FROM song WHERE no % 4", steps: true)
  }

  @Test("A reference that no rule nullifies is set to null with each step, in the model's tables")
  func setNull() throws {
    try ForeignKeyTests.compare(
      """
      ALTER TABLE song ADD COLUMN like TEXT REFERENCES song ON DELETE SET NULL;
      UPDATE song SET like = 's' || ((no + iif(no < 7, 2, 0)) % 12 + 1);
      """, steps: true)
  }

  @Test("And what follows from that")
  func followFurther() throws {
    try ForeignKeyTests.compare(
      """
      CREATE TABLE note(id INTEGER PRIMARY KEY, no INT REFERENCES song(no) ON DELETE CASCADE);
      CREATE TABLE line(id INTEGER PRIMARY KEY, note REFERENCES note ON DELETE CASCADE,
        song TEXT REFERENCES song ON DELETE CASCADE);
      CREATE TABLE word(line REFERENCES line ON DELETE SET NULL, text);
      INSERT INTO note SELECT 100 + no, no FROM song; INSERT INTO note VALUES(1, NULL);
      INSERT INTO line SELECT 2 * id, id, 's' || (id - 99) FROM note WHERE id BETWEEN 100 AND 111;
      INSERT INTO word SELECT id, 'a' FROM line; INSERT INTO word SELECT id, 'b' FROM line;
      """, joined: "ON DELETE CASCADE", steps: true)
  }

  @Test("And a whole tree below it; no ring of tables", arguments: [true, false])
  func followTree(isOneTable: Bool) throws {
    try ForeignKeyTests.compare(
      """
      CREATE TABLE note(id INTEGER PRIMARY KEY, song TEXT REFERENCES song ON DELETE CASCADE,
        up INT REFERENCES \(isOneTable ? "note" : "page") ON DELETE CASCADE);
      CREATE TABLE page(id INTEGER PRIMARY KEY, up INT REFERENCES note ON DELETE CASCADE);
      INSERT INTO note SELECT no, id, NULL FROM song; INSERT INTO page SELECT id, id FROM note;
      INSERT INTO note SELECT 12 + no, NULL, no FROM song; INSERT INTO page SELECT id, id FROM note WHERE id > 12;
      INSERT INTO note SELECT 24 + no, NULL, 12 + no FROM song;
      """, steps: isOneTable)
  }

  @Test(
    "What refuses is asked beforehand",
    arguments: [
      "note(song TEXT REFERENCES song); INSERT INTO note SELECT id",
      "note(song TEXT REFERENCES song(id) ON DELETE RESTRICT); INSERT INTO note SELECT id",
      """
      note(no INT REFERENCES song(no), other TEXT REFERENCES artist ON DELETE SET NULL);
      INSERT INTO note SELECT no, NULL
      """,
      """
      note(song TEXT, artist INT, FOREIGN KEY(song, artist) REFERENCES song(id, artist));
      CREATE UNIQUE INDEX twice ON song(id, artist);
      INSERT INTO note SELECT id, artist
      """,
      """
      note(song TEXT REFERENCES song); CREATE TABLE heard(id);
      CREATE TRIGGER own AFTER DELETE ON song BEGIN INSERT INTO heard VALUES(OLD.id); END;
      INSERT INTO note SELECT id
      """,
    ])
  func askBeforehand(note: String) throws {
    let schema = "CREATE TABLE \(note) FROM song WHERE no IN (1, 2, 4)"
    let (stepped, whole) = (
      try ForeignKeyTests.store(schema, joined: "ON DELETE CASCADE"),
      try ForeignKeyTests.store(schema, joined: "ON DELETE CASCADE")
    )
    stepped.sweepsInSteps(of: 1)
    #expect(try refusedSweep(stepped) > refusedSweep(whole))
    #expect(try stepped.dump() == whole.dump())
  }

  /// Returns how many transactions it took.
  private func refusedSweep(_ store: TestStore) throws -> Int {
    try store.bySQL("DELETE FROM artist WHERE id = 2")
    let plan = try store.reader.planSweep([.all])
    let result = try store.writer.sweep([.all], at: 1)
    #expect(plan.deletedCount == 2 && result.deletedCount == 2)
    #expect(result.blocked.compactMap { $0.node?.description } == ["songs/s1", "songs/s4"])
    #expect(plan.denials.map(\.message) == result.blocked.map(\.message))
    #expect(result.blocked[0].message.contains(#"a row of "note" refers to it (FOREIGN KEY ("#))
    return result.lockMilliseconds.count
  }

  @Test(
    "Not where a trigger of the application's may make room", arguments: ["note", "\"no\"\"te\""])
  func makeRoom(note: String) throws {
    let store = try ForeignKeyTests.store(
      """
      CREATE TABLE \(note)(song TEXT REFERENCES song); INSERT INTO \(note) SELECT id FROM song;
      CREATE TRIGGER own BEFORE DELETE ON song
      BEGIN DELETE FROM \(note.uppercased()) WHERE song = OLD.id; END;
      """, joined: "ON DELETE CASCADE")
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM artist WHERE id = 2")
    #expect(try store.reader.planSweep([.all]).denials.isEmpty)
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.deletedCount == 4 && result.blocked.isEmpty)
  }

  @Test("And again where somebody wrote meanwhile")
  func askAgain() throws {
    let store = try ForeignKeyTests.store(
      "CREATE TABLE note(song TEXT REFERENCES song)", joined: "ON DELETE CASCADE")
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM artist WHERE id = 2")
    var left: [String] = []
    let manners = StepPolicy { _ in
      if !left.isEmpty { return }
      let db = try Connection(path: store.path, access: .readOnly)
      left = try db.all("SELECT id FROM song WHERE artist = 2 ORDER BY no") { $0.text(0) }
      try store.bySQL("INSERT INTO note VALUES('\(left.last!)')")
    }
    let result = try store.writer.sweep([.all], at: 1, manners: manners)
    #expect(left.count > 1)
    #expect(result.blocked.compactMap { $0.node } == [Node("songs", .text(left.last!))])
    #expect(result.deletedCount == 3)
  }

  @Test(
    "Where some set a default, or lead back, or to no end, it is one transaction",
    arguments: [
      "CREATE TABLE note(song TEXT REFERENCES song, artist REFERENCES artist ON DELETE CASCADE)",
      "CREATE TABLE note(song TEXT REFERENCES song REFERENCES song(no) ON DELETE SET NULL)",
      "ALTER TABLE song ADD COLUMN like TEXT REFERENCES song ON DELETE SET DEFAULT",
      "CREATE TABLE note(song TEXT DEFAULT 's0' REFERENCES song ON DELETE SET DEFAULT)",
      """
      CREATE TABLE note(id INTEGER PRIMARY KEY, song TEXT REFERENCES song ON DELETE CASCADE);
      CREATE TABLE line(note REFERENCES note)
      """,
      """
      CREATE TABLE note(id INTEGER PRIMARY KEY, song TEXT REFERENCES song ON DELETE CASCADE);
      ALTER TABLE song ADD COLUMN note REFERENCES note ON DELETE CASCADE
      """,
      "CREATE TABLE credit(featuring REFERENCES featuring ON DELETE CASCADE)",
      "ALTER TABLE featuring ADD COLUMN original REFERENCES song ON DELETE CASCADE",
    ])
  func takeOneTransaction(schema: String) throws {
    try ForeignKeyTests.compare(schema, joined: "ON DELETE CASCADE", steps: false)
  }
}
