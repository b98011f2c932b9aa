import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition

/// PostgreSQL, for the tests that every engine passes.
struct PostgresUnderTest: EngineUnderTest {
  func makeStore(model: StoreModel, schema: String) throws -> any StoreUnderTest {
    try PostgresFixture(model: model, schema: schema)
  }
}

extension PostgresFixture: StoreUnderTest {
  /// The daemon releases nothing.
  func rest() {}

  func lease(_ key: String, in collection: String, until end: some CustomStringConvertible) throws {
    try bySQL(
      """
      INSERT INTO cascade.lease(collection, key, owner, expires)
      VALUES('\(collection)', \(key), 'test', \(end))
      """)
  }

  func sweepsInSteps(of rows: Int64) { writer.rowsToAStep = Int(rows) }

  func withSteps<T>(of rows: Int64, _ body: () throws -> T) throws -> T {
    sweepsInSteps(of: rows)
    defer { writer.rowsToAStep = nil }
    return try body()
  }

  /// No number of nodes is treated in another way.
  func setManyNodes(_ count: Int) {}

  var unfinishedBatch: Int64? {
    get throws {
      try texts("SELECT value FROM cascade.meta WHERE key = 'sweep.batch'").first.flatMap {
        Int64($0)
      }
    }
  }

  func lastNotice() throws -> Int64 {
    try texts("SELECT coalesce(max(id), 0) FROM cascade.notice").first.flatMap { Int64($0) } ?? 0
  }

  func dump() throws -> [String] {
    let tables = try texts(
      """
      SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
      AND (schemaname <> 'cascade' OR tablename LIKE 'objects\\_%' OR tablename LIKE 'edges\\_%')
      ORDER BY 1
      """)
    return try tables.flatMap { table in
      try texts("SELECT (t.*)::text FROM \(table) t ORDER BY 1").map { "\(table) \($0)" }
    }
  }

  func isRowInTrash(_ node: Node) throws -> Bool {
    let key = node.key.managedText ?? node.key.json.text
    return try texts(
      """
      SELECT EXISTS (SELECT FROM cascade.trash t JOIN cascade.collection c ON c.number = t.collection
        WHERE c.name = '\(node.collection)' AND t.key = '\(key)')
      """) == ["t"]
  }
}
