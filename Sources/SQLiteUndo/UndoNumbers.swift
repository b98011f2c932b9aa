internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteTables

/// Numbers that rows have back, and other rows have by now. Whole tables may be read for that, so no
/// transaction is open.
extension Undo {
  mutating func findRepeatedNumbers() throws {
    for kept in layouts where kept.layout.kind == .row && kept.remaining > 0 {
      guard let id = kept.layout.collection, let rows = writer.binding.collection(id),
        let table = rows.table
      else { continue }
      for column in table.columns where column.affinity == .integer && !isNamed(column, in: rows) {
        let numbers = NumberColumn(
          writer: writer, layout: kept.number, rows: rows, table: table, name: column.name)
        if let remark = try numbers.remark() { result.remark(remark) }
      }
    }
  }

  /// Whether the column is one of the key, or refers to something.
  private func isNamed(_ column: Table.Column, in rows: NodeTable) -> Bool {
    let referring = writer.binding.edgeRelations.filter { $0.source.id == rows.id }
      .flatMap(\.referringColumns)
    let foreignKeys = rows.table?.foreignKeys.flatMap(\.columns) ?? []
    return (rows.keyNames + referring + foreignKeys).contains { $0.folded == column.name.folded }
  }
}

private struct NumberColumn: RestoredNumbers {
  let writer: Writer
  let layout: Int64
  let rows: NodeTable
  let table: Table
  let name: String

  var column: String { "\(table.name).\(name)" }

  /// An application may have written anything into the column.
  private var isNumber: String { "typeof(s.\(quoted(name))) = 'integer'" }

  private var ofRestored: String {
    """
    SELECT s.\(quoted(name)) AS n FROM temp.restored AS r CROSS JOIN \(rows.rows) AS s ON \(rows.hasKey("s", "r.key"))
    WHERE r.layout = \(layout) AND \(isNumber)
    """
  }

  private var ofAll: String {
    "SELECT s.\(quoted(name)) AS n FROM \(rows.rows) AS s WHERE \(isNumber)"
  }

  private func count(_ numbers: String) throws -> NumberCount {
    try writer.db.all(generated: "SELECT count(n), count(DISTINCT n) FROM (\(numbers))", []) {
      NumberCount(rows: Int($0.integer(0)), numbers: Int($0.integer(1)))
    }[0]
  }

  private func limited(_ numbers: String, _ first: Int?) -> String {
    first.map { "\(numbers) LIMIT \($0)" } ?? numbers
  }

  func restored(first: Int?) throws -> NumberCount { try count(limited(ofRestored, first)) }

  func all(first: Int?) throws -> NumberCount { try count(limited(ofAll, first)) }

  func countShared(first: Int?) throws -> Int {
    let shared = """
      SELECT count(*) FROM (SELECT n FROM (\(ofAll)) WHERE n IN (SELECT n FROM (\(limited(ofRestored, first))))
        GROUP BY n HAVING count(*) > 1)
      """
    return Int(try writer.db.integer(generated: shared, []) ?? 0)
  }
}
