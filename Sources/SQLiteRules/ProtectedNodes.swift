internal import CascadeEngine
internal import CascadeModel
package import CascadeSQLite
internal import CascadeStore
package import SQLiteBinding
internal import SQLiteTables

/// Protected nodes hold like leased ones, so whatever spares these spares them. An explicit deletion, which
/// a lease does not keep from anything, is refused.
extension Connection {
  /// Numbers the protected nodes.
  func findProtected(_ binding: Binding, _ numbers: NumberedTables) throws(SQLiteError) {
    if try !hasProtections { return }
    try hold(keys: "main.cascade_protected", as: "temp.protected_nodes", binding, numbers)
  }

  /// Those of the nodes `ids` that are protected, and why.
  package func protections(of ids: String, _ binding: Binding) throws -> [Denial] {
    if try integer("SELECT 1 FROM temp.protected_nodes LIMIT 1") == nil { return [] }
    let own = "SELECT x.id FROM (\(ids)) AS x WHERE x.id IN (SELECT id FROM temp.protected_nodes)"
    try storeKeysOfRows(binding, "SELECT id FROM (\(own)) WHERE id < 0")
    return try all(
      generated: """
        SELECT x.id, c.name, coalesce(k.key, n.key), r.name, t.key, t.reason
        FROM (\(own)) AS x
        LEFT JOIN temp.known AS k ON k.id = x.id LEFT JOIN cascade_node AS n ON n.id = x.id
        JOIN cascade_collection AS c ON c.id = coalesce(k.collection, n.collection)
        JOIN cascade_protected AS p ON p.collection = c.id AND p.key = coalesce(k.key, n.key)
        JOIN cascade_protection AS t ON t.protection = p.protection
        JOIN cascade_collection AS r ON r.id = t.collection
        GROUP BY x.id ORDER BY 2, 3
        """, []
    ) { row in
      Denial(
        denied: row.integer(0),
        reason: .protected(
          row.node(1, binding.model), with: row.node(3, binding.model), because: row.text(5)))
    }
  }
}
