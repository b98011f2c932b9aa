package import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresTables

extension PostgresReader {
  package func marks(of node: Node) throws -> [MarkReason] {
    try ask { store in
      guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key),
        let marked = store.binding.marked[table.number]
      else { return [] }
      let rows = try store.db.run(
        """
        SELECT x.via_collection, x.via_key, x.name, x.rule, x.at, x.batch FROM cascade.marked x
        JOIN \(table.name) s ON \(table.key.equal("s", text: "x.key")) AND \(marked.isMarked("s"))
        WHERE x.collection = \(table.number) AND x.key = $1 ORDER BY x.rule, x.at, 1, 2
        """, [key]
      ).rows
      return rows.map { row in
        let rule = row[3].flatMap(Rules.name)
        return MarkReason(
          via: rule == nil ? nil : store.binding.table(Int64(row[0]!)!)?.node(row[1]!),
          name: rule == nil ? nil : row[2], rule: rule, at: Int64(row[4]!)!,
          batch: row[5].flatMap { Int64($0) })
      }
    }
  }
}
