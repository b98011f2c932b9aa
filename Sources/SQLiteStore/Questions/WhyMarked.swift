package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables

extension Reader {
  package func marks(of node: Node) throws -> [MarkReason] {
    try db.snapshot {
      let binding = try binding()
      guard let table = binding.collections[node.collection], let key = table.stored(node.key),
        let marked = binding.marked[table.id]
      else { return [] }
      return try db.all(
        generated: """
          SELECT c.name, x.via_key, n.name, x.rule, x.at, x.batch FROM main.cascade_marked AS x
          CROSS JOIN \(table.rows) AS d ON \(table.hasKey("d", "x.key")) AND \(marked.isMarked("d"))
          JOIN main.cascade_collection AS c ON c.id = x.via_collection
          LEFT JOIN main.cascade_name AS n ON n.id = x.name
          WHERE x.collection = \(table.id) AND x.key = ?1 ORDER BY x.rule, x.at, 1, 2
          """, [key]
      ) { row in
        let rule = Rules(rawValue: row.integer(3)).names.first
        return MarkReason(
          via: rule == nil ? nil : row.node(0, model), name: row.optionalText(2), rule: rule,
          at: row.integer(4), batch: row.isNull(5) ? nil : row.integer(5))
      }
    }
  }
}
