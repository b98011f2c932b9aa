internal import CascadeModel
internal import CascadeSQLite
package import SQLiteBinding

/// Deleted rows that no record names. They are identified by a number made from their rowid
/// (`Numbers`, 3). So a change file can delete very many rows without naming each, and what follows
/// from them is found as in a sweep. Not used where the application has triggers: before the flush,
/// a trigger may put another row in the place of a deleted one.
package struct UnnamedDeletedRows {
  package let table: NodeTable
  /// Marks the row whose key is bound as dead, if no record names it.
  package let mark: String

  /// Nil if rows of the table have no such numbers.
  package init?(_ table: NodeTable) {
    guard let base = table.numberBase else { return nil }
    self.table = table
    let isNamed = "collection = \(table.id) AND key = +\(table.key("s"))"
    mark = """
      INSERT OR IGNORE INTO temp.dead SELECT \(base) + \(table.row("s"))
      FROM \(table.rows) AS s WHERE \(table.isKeyed("s")) AND \(table.isInRange("s"))
      AND NOT EXISTS (SELECT 1 FROM temp.known WHERE id > 0 AND \(isNamed))
      AND NOT EXISTS (SELECT 1 FROM main.cascade_node WHERE \(isNamed))
      """
  }
}
