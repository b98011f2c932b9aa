import Glibc
import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// A large undo is many transactions: killed between two of them, the daemon goes on with what is
/// left, and nobody waits for it meanwhile.
@Suite struct UndoKillTests {
  private static let isLong = Process.environment("CASCADE_LONG") != nil
  private static let kills = isLong ? 50 : 5
  private static let leaves = 20_000

  private static func store() throws -> TestStore {
    try TestStore(
      model: """
        { collections: { roots: { table: "root", key: "id" }, leaves: { table: "leaf", key: "id" } },
          relationships: [{ name: "root", from: "leaves", to: "roots", column: "root",
            rules: ["deleteSourceIfDestinationDeleted"] }],
          limits: { hold: { deletes: 100000, share: 1 } }, sweeps: {} }
        """,
      schema: """
        CREATE TABLE root(id INTEGER PRIMARY KEY);
        CREATE TABLE leaf(id TEXT PRIMARY KEY, root INTEGER, value);
        CREATE INDEX leaf_root ON leaf(root);
        INSERT INTO root VALUES(1), (2);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(leaves))
        INSERT INTO leaf SELECT hex(randomblob(18)), 1, iif(i % 3, i, randomblob(20)) FROM n;
        """)
  }

  /// The names of what the application deleted stay.
  private static let kindsInTrash: StaticString = """
    SELECT DISTINCT l.kind FROM cascade_trash AS t JOIN cascade_trash_layout AS l USING(batch, layout)
    """
  private static let rows: StaticString =
    "SELECT rowid || id || root || quote(value) FROM leaf ORDER BY id"

  /// The batch that a sweep was.
  private static func delete(in store: TestStore) throws -> String {
    try store.sql("DELETE FROM root WHERE id = 1")
    let swept = try store.ctl("--json", "sweep", "cascade").json
    #expect(swept["deletedCount"]?.integer == Int64(leaves))
    try store.sql("INSERT INTO root VALUES(1)")
    return String(try #require(swept["batch"]?.integer))
  }

  private static func undo(_ batch: String, in store: TestStore) throws -> Running {
    try Running(
      [Programs.cascadectl, "--store", store.path, "undo", batch],
      input: try FileDescriptor.open("/dev/null"))
  }

  /// The batch of an undo of which a part is back.
  private static func killAmidUndo(of store: TestStore) throws -> String {
    // Steps rest where another process has the store open.
    let neighbour = try Connection(path: store.path, access: .readOnly)
    #expect(try neighbour.integer("SELECT count(*) FROM leaf") == Int64(leaves))
    let batch = try delete(in: store)
    let asking = try undo(batch, in: store)
    try store.waitUntil("a part is back") { try store.integers("SELECT count(*) FROM leaf") != [0] }
    #expect(try store.end(SIGKILL) == .signal(SIGKILL))
    _ = try asking.finish()
    return batch
  }

  @Worker @Test func tellsWhoAskedBeforeTheRestart() throws {
    let store = try UndoKillTests.store()
    let batch = try UndoKillTests.killAmidUndo(of: store)
    try store.start()
    try store.waitUntil("it is told of") { store.log.contains("batch \(batch) undone by uid ") }
  }

  @Worker @Test func saysThatItCannotGoOn() throws {
    let store = try UndoKillTests.store()
    let batch = try UndoKillTests.killAmidUndo(of: store)
    try store.sql("CREATE TRIGGER t AFTER INSERT ON leaf BEGIN SELECT RAISE(ROLLBACK, 'no'); END")
    try store.start()
    try store.waitUntil("it is told of") {
      store.log.contains("batch \(batch) is undone only in part: ")
    }
    try store.sql("DROP TRIGGER t")
    #expect(try store.ctl("undo", batch).status == 0)
    #expect(try store.integers("SELECT count(*) FROM leaf") == [Int64(UndoKillTests.leaves)])
  }

  @Worker @Test func comesBackWhole() throws {
    var random = Seeded()
    print("kill -9 among undos: seed \(random.seed)")
    let store = try UndoKillTests.store()
    let before = try store.texts(UndoKillTests.rows)
    // Steps rest where another process has the store open.
    let neighbour = try Connection(path: store.path, access: .readOnly)
    #expect(try neighbour.integer("SELECT count(*) FROM leaf") == Int64(UndoKillTests.leaves))
    var hits = 0
    for _ in 0..<UndoKillTests.kills {
      let batch = try UndoKillTests.delete(in: store)
      let asking = try UndoKillTests.undo(batch, in: store)
      SystemClock.sleep(for: .milliseconds(Int.random(in: 0..<400, using: &random)))
      #expect(try store.end(SIGKILL) == .signal(SIGKILL))
      _ = try asking.finish()
      hits += try store.integers("SELECT count(*) FROM cascade_meta WHERE name = 'undo.batch'")
        .count
      try store.start()
      try store.ctl("undo", batch)
      #expect(try store.texts(UndoKillTests.rows) == before)
      #expect(try store.texts(UndoKillTests.kindsInTrash) == ["name"])
    }
    #expect(hits > 0)
    #expect(try neighbour.first("PRAGMA integrity_check") { $0.text(0) } == "ok")
  }
}
