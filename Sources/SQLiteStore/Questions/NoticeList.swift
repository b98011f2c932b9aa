package import CascadeStore
internal import CascadeModel
internal import CascadeSQLite
internal import CascadePlanning
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules

extension Reader {
  package func notices(after id: Int64, limit: Int = 1_000) throws -> [Notice] {
    try db.all(
      """
      SELECT m.name, sc.name, n.source_key, dc.name, n.destination_key, n.rules, n.origin,
        n.id, n.reason, n.receiver_deleted, n.batch,
        n.receiver_collection = n.source_collection AND n.receiver_key = n.source_key
      FROM cascade_notice AS n
      JOIN cascade_name AS m ON m.id = n.name
      JOIN cascade_collection AS sc ON sc.id = n.source_collection
      JOIN cascade_collection AS dc ON dc.id = n.destination_collection
      WHERE n.id > ? ORDER BY n.id LIMIT ?
      """, .integer(id), .integer(Int64(limit))
    ) { Notice(row: $0, model) }
  }
}

extension Notice {
  fileprivate init(row: Row, _ model: StoreModel) {
    let edge = Edge(row: row, model)
    self.init(
      id: row.integer(7),
      node: row.integer(11) != 0 ? edge.source : edge.destination.node ?? edge.source, edge: edge,
      reason: row.text(8), receiverDeleted: row.integer(9) != 0, batch: row.integer(10))
  }
}

extension Writer {
  /// Deletes the notices up to `id`. Returns how many there were.
  package func acknowledge(upTo id: Int64) throws -> Int {
    try group {
      // The numbering continues after the last one, even if no notice is left.
      try db.run(
        """
        INSERT OR REPLACE INTO cascade_meta
        SELECT ?, max(id) FROM cascade_notice HAVING max(id) IS NOT NULL
        """, .text(MetaKey.lastNotice.name))
      try db.run("DELETE FROM cascade_notice WHERE id <= ?", .integer(id))
      return db.changes
    }
  }
}
