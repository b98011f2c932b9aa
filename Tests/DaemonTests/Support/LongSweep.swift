import CascadeModel
import CascadeSystem

/// A store whose sweep takes a while: rows that hang on nothing, with keys that are all over the
/// place, and steps that are short.
final class LongSweep {
  let store: TestStore

  /// Nothing sweeps by itself, unless `sweeps` says otherwise.
  init(
    rows: Int, sweeps: String = #"sweeps: { trash: "never" },"#, lock: String = "1ms",
    trash: String = "0", resumes: Bool = true
  ) throws {
    store = try TestStore(model: LongSweep.model(sweeps, lock, trash), schema: LongSweep.schema)
    try store.ctl("pause")
    try store.sql(
      """
      PRAGMA foreign_keys = OFF;
      INSERT INTO root VALUES('gone');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
      INSERT INTO leaf SELECT hex(randomblob(18)), 'gone' FROM n;
      DELETE FROM root;
      """)
    if resumes { try store.ctl("resume") }
  }

  private static let schema = """
    CREATE TABLE root(id TEXT PRIMARY KEY);
    CREATE TABLE leaf(id TEXT PRIMARY KEY, root TEXT);
    CREATE INDEX leaf_root ON leaf(root);
    """

  private static func model(_ sweeps: String, _ lock: String, _ trash: String) -> String {
    """
    { collections: { roots: { table: "root", key: "id" }, leaves: { table: "leaf", key: "id" } },
      relationships: [{ name: "root", from: "leaves", to: "roots", column: "root",
        inverse: { name: "leaves", deleteRule: "cascade" } }],
      \(sweeps) trash: "\(trash)",
      limits: { lock: "\(lock)", alone: "\(lock)", hold: { deletes: 1000000 } } }
    """
  }

  /// Sweeps, by the command line.
  func begin() throws -> Running {
    let input = try FileDescriptor.open("/dev/null")
    return try Running([Programs.cascadectl, "--store", store.path, "sweep"], input: input)
  }

  func rest() throws -> Int64 { try store.integers("SELECT count(*) FROM leaf")[0] }
}
