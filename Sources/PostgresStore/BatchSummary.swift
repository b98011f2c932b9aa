internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// What a batch deleted, and not what others had deleted before.
struct BatchSummary {
  var deleted: [Node] = []
  var deletedCount = 0
  var byCollection: [String: Int] = [:]
  var byRule: [String: Int] = [:]

  init(_ store: StoreConnection, _ batch: Int64) throws {
    let counts = try store.db.run(
      """
      SELECT collection, rule, count(*) FROM cascade.deleted WHERE batch = \(batch) AND is_own
      GROUP BY 1, 2
      """)
    for row in counts.rows {
      let count = Int(row[2]!)!
      deletedCount += count
      let name = store.binding.table(Int64(row[0]!)!)?.collection ?? "?"
      byCollection[name, default: 0] += count
      if let rule = row[1].flatMap(Rules.name) { byRule[rule, default: 0] += count }
    }
    let nodes = try store.db.run(
      """
      SELECT collection, key FROM cascade.deleted WHERE batch = \(batch) AND is_own
      ORDER BY id LIMIT \(Receipt.mostListed)
      """)
    deleted = nodes.rows.compactMap { row in
      store.binding.table(Int64(row[0]!)!)?.node(row[1]!)
    }
  }
}
