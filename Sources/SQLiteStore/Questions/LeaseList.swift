internal import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
package import CascadeStore
internal import SQLiteBinding
internal import SQLiteSweeps
internal import SQLiteRules

extension Reader {
  /// The leases in force now, the first to end first.
  package func leases(at now: Int64? = nil, limit: Int = 1_000) throws -> [Lease] {
    try db.all(
      """
      SELECT collection, key, owner, CAST(expires AS INTEGER), connection FROM cascade_lease
      WHERE expires > ? ORDER BY expires, id LIMIT ?
      """, .integer((now ?? SystemClock.wall()) / 1_000), .integer(Int64(limit))
    ) { Lease(row: $0, model) }
  }

  /// The leases of an existing node, and those of its collection.
  func leases(of node: Node, at now: Int64?) throws -> [Lease] {
    let now = (now ?? SystemClock.wall()) / 1_000
    guard let table = try binding().collections[node.collection],
      let values = table.columnValues(node.key)
    else {
      return try db.all(
        """
        SELECT collection, key, owner, CAST(expires AS INTEGER), connection FROM cascade_lease
        WHERE collection = ? AND expires > ? AND (key IS NULL OR CAST(key AS TEXT) = ?)
        ORDER BY expires, id
        """, .text(node.collection), .integer(now), .text(node.key.managedText)
      ) { Lease(row: $0, model) }
    }
    return try db.all(
      generated: """
        SELECT l.collection, l.key, l.owner, CAST(l.expires AS INTEGER), l.connection
        FROM \(table.rows) AS n CROSS JOIN main.cascade_lease AS l
          ON l.collection = \(literal(node.collection))
          AND (l.key IS NULL
            OR \(table.leasedKeys("l").map { table.hasKey("n", $0) }.joined(separator: " OR ")))
        WHERE \(table.isKeyed("n")) AND l.expires > \(now)
        ORDER BY l.expires, l.id
        """, values
    ) { Lease(row: $0, model) }
  }
}
