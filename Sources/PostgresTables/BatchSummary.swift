package import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding

/// What a batch deleted, and not what others had deleted before.
package struct BatchSummary {
  package var deleted: [Node] = []
  package var deletedCount = 0
  package var byCollection: [String: Int] = [:]
  package var byRule: [String: Int] = [:]

  /// `counts`: how many nodes of each collection went by each rule, if that is known already. `withKept`: what
  /// others had deleted counts, too, if its row is kept.
  package init(
    _ store: StoreConnection, _ batch: Int64, counts: [Int64: [Int64: Int]]? = nil,
    withKept: Bool = false
  ) throws {
    for (collection, rules) in try counts ?? BatchSummary.counts(store, batch, withKept) {
      let name = store.binding.table(collection)?.collection ?? "?"
      for (rule, count) in rules {
        deletedCount += count
        byCollection[name, default: 0] += count
        if let rule = Rules.name("\(rule)") { byRule[rule, default: 0] += count }
      }
    }
    // Without the inner limit, a server that knows nothing of the table reads all of it.
    let nodes = try store.db.run(
      """
      SELECT d.collection, unnest(d.keys) FROM (
        SELECT id, collection, keys FROM cascade.deleted WHERE batch = \(batch) AND is_own
        ORDER BY id LIMIT \(Receipt.mostListed)) d
      ORDER BY d.id LIMIT \(Receipt.mostListed)
      """)
    deleted = nodes.rows.compactMap { row in
      store.binding.table(Int64(row[0]!)!)?.node(row[1]!)
    }
  }

  /// The rule 0 is none.
  private static func counts(
    _ store: StoreConnection, _ batch: Int64, _ withKept: Bool
  ) throws -> [Int64: [Int64: Int]] {
    let rows = try store.db.run(
      """
      SELECT collection, coalesce(rule, 0), sum(size) FROM cascade.deleted
      WHERE batch = \(batch) AND (is_own\(withKept ? " OR rows IS NOT NULL" : "")) GROUP BY 1, 2
      """
    ).rows
    return rows.reduce(into: [:]) { counts, row in
      counts[Int64(row[0]!)!, default: [:]][Int64(row[1]!)!] = Int(row[2]!)!
    }
  }
}
