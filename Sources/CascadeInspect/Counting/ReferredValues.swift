internal import CascadeSQLite
internal import SQLiteBinding

/// The values of a referring column, each once with the number of its rows, in a temporary table.
/// Sorted values are found in the key's index one after the other, which is faster than a lookup
/// for each row in the order of the rows.
struct ReferredValues {
  let name: String

  /// Values that no row has, in a table of their own.
  var dangling: String { "dangling_\(name)" }
}

extension Database {
  /// Collects the values as the key compares them: with its type and its collation.
  func collect(
    _ reference: InspectedRelationship, into name: String, of table: Table, key: Table.Column
  ) throws -> ReferredValues {
    let values = ReferredValues(name: name)
    try db.execute(
      """
      CREATE TABLE temp.\(values.name)(
        value \(key.affinity.declaration) COLLATE \(quoted(key.collation)) PRIMARY KEY, n)
        WITHOUT ROWID
      """)
    let column = table.comparedByBytes(reference.columns[0])
    try eachPart(of: RowSource(table)) { part in
      try rows(
        """
        INSERT INTO temp.\(values.name)
        SELECT \(column), count(*) FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND \(reference.refers) GROUP BY 1
        ON CONFLICT(value) DO UPDATE SET n = n + excluded.n
        """, part.values)
    } take: { _ in
      true
    }
    return values
  }

  /// Finds the values that no row has. Returns the rows that refer, and those that refer to
  /// nothing.
  func findDangling(
    _ values: ReferredValues, in parent: String, key: String
  ) throws -> (rows: Int, orphans: Int) {
    try db.execute("CREATE TABLE temp.\(values.dangling)(value, n)")
    try eachPart(of: RowSource(temporary: values.name, key: "value")) { part in
      try rows(
        """
        INSERT INTO temp.\(values.dangling)
        SELECT c.value, c.n FROM temp.\(values.name) AS c
        WHERE \(part.condition) AND NOT EXISTS (
          SELECT 1 FROM main.\(quoted(parent)) AS p WHERE p.\(quoted(key)) = c.value)
        """, part.values)
    } take: { _ in
      true
    }
    let sums = try rows(
      """
      SELECT (SELECT ifnull(sum(n), 0) FROM temp.\(values.name)),
        (SELECT ifnull(sum(n), 0) FROM temp.\(values.dangling))
      """)[0]
    return (Int(sums[0].integer ?? 0), Int(sums[1].integer ?? 0))
  }
}

extension Table {
  /// The column `c`, so that values differ if their bytes do.
  fileprivate func comparedByBytes(_ name: String) -> String {
    let isBinary = column(name)?.collation.uppercased() == "BINARY"
    return ReferenceSQL.column(name) + (isBinary ? "" : " COLLATE BINARY")
  }
}

extension Table.Affinity {
  fileprivate var declaration: String {
    switch self {
    case .integer: "INTEGER"
    case .text: "TEXT"
    case .blob: ""
    case .real: "REAL"
    case .numeric: "NUMERIC"
    }
  }
}
