internal import CascadeEngine
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// Numbers that rows have back, and other rows have by now.
struct UndoNumbers {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  /// What is to be said of a table to which the rows with these keys came back.
  func remarks(_ table: MappedTable, _ keys: [String]) throws -> [String] {
    if table.isManaged { return [] }
    let referring = store.binding.relations(from: table).flatMap { $0.columns?.all ?? [] }
    let named = Set((table.key.all + referring).map(\.name))
    return try columns(of: table).filter { !named.contains($0) }.compactMap {
      try NumberColumn(store: store, table: table, keys: arrayText(keys), name: $0).remark()
    }
  }

  /// Those of whole numbers that are in no foreign key.
  private func columns(of table: MappedTable) throws -> [String] {
    try store.db.run(
      """
      SELECT format('%I', a.attname) FROM pg_attribute a
      WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
        AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)
        AND NOT EXISTS (SELECT FROM pg_constraint c
          WHERE c.conrelid = a.attrelid AND c.contype = 'f' AND a.attnum = ANY(c.conkey))
      ORDER BY a.attnum
      """, [table.name]
    ).texts
  }
}

private struct NumberColumn: RestoredNumbers {
  let store: StoreConnection
  let table: MappedTable
  let keys: String
  let name: String

  var column: String { "\(table.name).\(name)" }

  private var ofAll: String {
    "SELECT s.\(name) AS n FROM \(table.name) s WHERE s.\(name) IS NOT NULL"
  }
  private var ofRestored: String { "\(ofAll) AND \(table.key.isAny("s", "$1"))" }

  private func limited(_ numbers: String, _ first: Int?) -> String {
    first.map { "\(numbers) LIMIT \($0)" } ?? numbers
  }

  private func count(
    _ numbers: String, first: Int?, _ values: [String] = []
  ) throws -> NumberCount {
    let row = try store.db.run(
      "SELECT count(n), count(DISTINCT n) FROM (\(limited(numbers, first))) n", values
    ).rows[0]
    return NumberCount(rows: Int(row[0]!)!, numbers: Int(row[1]!)!)
  }

  func restored(first: Int?) throws -> NumberCount {
    try count(ofRestored, first: first, [keys])
  }

  func all(first: Int?) throws -> NumberCount {
    try store.readingWholeTables { try count(ofAll, first: first) }
  }

  func countShared(first: Int?) throws -> Int {
    try store.readingWholeTables {
      try Int(
        store.db.run(
          """
          SELECT count(*) FROM (SELECT n FROM (\(ofAll)) a WHERE n IN (\(limited(ofRestored, first)))
            GROUP BY n HAVING count(*) > 1) n
          """, [keys]
        ).integer ?? 0)
    }
  }
}
