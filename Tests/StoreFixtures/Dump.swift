internal import StoreDefinition
internal import CascadeSQLite

extension TestStore {
  /// Every row of the application's tables, and the nodes and edges that Cascade stores, with
  /// rowids, bit for bit.
  package func dump() throws -> [String] {
    let db = try Connection(path: path, access: .readOnly)
    let tables = try db.all(
      """
      SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
      AND (name NOT GLOB 'cascade_*' OR name IN ('cascade_node', 'cascade_edge'))
      AND name NOT GLOB 'sqlite_*' ORDER BY name
      """
    ) { (name: $0.text(0), withoutRowid: $0.integer(1) != 0) }
    return try tables.flatMap { try dump($0.name, withoutRowid: $0.withoutRowid, db) }
  }

  private func dump(
    _ table: String, withoutRowid: Bool, _ db: borrowing Connection
  ) throws -> [String] {
    var columns = try db.all("SELECT name FROM pragma_table_xinfo(?)", .text(table)) {
      "d.\(quoted($0.text(0)))"
    }
    if !withoutRowid { columns.append("d.rowid") }
    let values = columns.map {
      "typeof(\($0)) || iif(typeof(\($0)) IN ('text', 'blob'), hex(\($0)), quote(\($0)))"
    }
    // The number of a row that no edge names any more is nobody's business.
    let condition =
      table == "cascade_node"
      ? """
      WHERE d.type IS NOT NULL OR d.value IS NOT NULL OR EXISTS (
        SELECT 1 FROM cascade_edge AS e WHERE d.id IN (e.source, e.destination))
      """ : ""
    return try db.all(
      generated: """
        SELECT \(values.joined(separator: " || ' ' || ")) FROM \(quoted(table)) AS d \(condition)
        """
    ) { "\(table) \($0.text(0))" }.sorted()
  }
}
