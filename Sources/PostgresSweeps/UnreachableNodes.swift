internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
package import PostgresTables

/// Deletes, in steps, the nodes that a plan has found unreachable.
///
/// Between the plan and a step, another session may see such a node and let a root lead to it. Then
/// everything that the node leads to must still exist.
///
/// 1. A step takes some of the nodes, and all others that still lead to them. Nodes that lead to each
///    other in a circle so go in one step.
/// 2. It locks them, as a trigger does that writes an edge to one of them. What another session has
///    locked is left.
/// 3. Then it looks at them again, in a second statement: a node stays if a node leads to it that is not
///    in the step, or a lease holds it, and so does everything that it leads to.
/// 4. So what is there after a step has all that it leads to.
extension Waves {
  /// Returns how many nodes it looked at; nil if none is left.
  package mutating func deleteUnreachable(_ limit: Int) throws -> Int? {
    let counts = try takeSlice(limit)
    if counts.isEmpty { return nil }
    for (table, count) in counts { try lockSlice(of: table, count) }
    try leaveReachable(counts.map(\.table))
    var went = 0
    for (table, _) in counts { went += try deleteSlice(of: table) }
    for (table, _) in counts { try endSlice(of: table) }
    looksFirst = false
    return counts.reduce(max(1, went)) { $0 + $1.count }
  }

  private var slice: String { store.scratch[.slice] }
  private var target: (table: String, isOwn: String) { store.scratch.target(.slice, as: "h") }

  /// A query for the nodes that lead to one. Rows of a table to which nothing can lead hold none,
  /// unless they are leased.
  private func holders(of node: String) -> String {
    all(
      binding.paths.map { path in
        let query = path.beginnings(of: node)
        if binding.isReachable(path.from) { return query }
        let isLeased = leases.holds(path.from, "n.key")
        return "SELECT * FROM (\(query)) n(collection, key) WHERE \(isLeased)"
      })
  }

  private func all(_ queries: [String]) -> String {
    queries.isEmpty
      ? "SELECT 0, '' WHERE false" : queries.joined(separator: " UNION ALL ")
  }

  // MARK: - Which they are

  /// How many nodes of which tables are in the step; those that refer to others come first.
  private func takeSlice(_ limit: Int) throws -> [(table: MappedTable, count: Int)] {
    try store.begin([.slice])
    try db.run(
      """
      INSERT INTO \(store.scratch.into(.slice))(collection, key)
      WITH RECURSIVE w(collection, key) AS (
        (SELECT u.collection, u.key FROM cascade.unreached u WHERE NOT u.is_kept AND NOT u.is_denied
          ORDER BY u.id LIMIT \(limit))
        UNION SELECT n.collection, n.key
        FROM w g CROSS JOIN LATERAL (\(holders(of: "g")))
          n(collection, key)
        WHERE EXISTS (SELECT FROM cascade.unreached u
          WHERE u.collection = n.collection AND u.key = n.key AND NOT u.is_kept))
      SELECT w.collection, w.key FROM w
      """)
    let counts = try db.run("SELECT h.collection, count(*) FROM \(slice) h GROUP BY 1").rows
    let byTable = Dictionary(uniqueKeysWithValues: counts.map { (Int64($0[0]!)!, Int($0[1]!)!) })
    return binding.sourcesFirst.compactMap { table in byTable[table.number].map { (table, $0) } }
  }

  private func keys(of table: MappedTable) -> String {
    "ARRAY(SELECT h.key FROM \(slice) h WHERE h.collection = \(table.number))"
  }

  private func lockSlice(of table: MappedTable, _ count: Int) throws {
    let locked = try db.run(
      """
      WITH l AS (SELECT \(table.key.text("t")) AS key FROM \(table.name) t
        WHERE \(table.key.isAny("t", keys(of: table)))
        ORDER BY \(table.key.values("t")) FOR UPDATE OF t SKIP LOCKED)
      UPDATE \(target.table) SET is_locked = true FROM l
      WHERE \(target.isOwn) AND h.collection = \(table.number) AND h.key = l.key
      """
    ).changed
    if locked == count { return }
    try db.run(
      """
      WITH d AS (DELETE FROM \(target.table) WHERE \(target.isOwn) AND h.collection = \(table.number)
        AND NOT h.is_locked AND NOT \(table.has("h.key")) RETURNING h.key)
      DELETE FROM cascade.unreached u USING d
      WHERE u.collection = \(table.number) AND u.key = d.key
      """)
    try db.run(
      """
      UPDATE cascade.unreached u SET skipped = pg_current_xact_id() FROM \(slice) h
      WHERE h.collection = \(table.number) AND NOT h.is_locked
      AND u.collection = h.collection AND u.key = h.key
      """)
  }

  // MARK: - The nodes that stay

  private func leaveReachable(_ tables: [MappedTable]) throws {
    let leased = tables.map {
      "h.collection = \($0.number) AND \(leases.holds($0, "h.key"))"
    }.joined(separator: " OR ")
    try db.run(
      """
      WITH RECURSIVE k(collection, key) AS (
        SELECT h.collection, h.key FROM \(slice) h
        WHERE NOT h.is_locked OR \(leases.isAny ? leased : "false") OR EXISTS (
          SELECT FROM (\(holders(of: "h"))) n(collection, key)
          WHERE NOT EXISTS (SELECT FROM \(slice) o
            WHERE o.collection = n.collection AND o.key = n.key))
        UNION SELECT n.collection, n.key
        FROM k g CROSS JOIN LATERAL (\(all(binding.paths.map { $0.ends(of: "g") })))
          n(collection, key)
        WHERE EXISTS (SELECT FROM \(slice) o WHERE o.collection = n.collection AND o.key = n.key)),
      d AS (DELETE FROM \(target.table) USING k WHERE \(target.isOwn)
        AND h.collection = k.collection AND h.key = k.key RETURNING h.collection, h.key)
      UPDATE cascade.unreached u SET is_kept = true FROM d
      WHERE u.collection = d.collection AND u.key = d.key
      """)
  }

  // MARK: - The nodes that go

  private mutating func deleteSlice(of table: MappedTable) throws -> Int {
    let selection = RowRemoval.Selection(
      row: "t",
      condition: "\(table.key.isAny("t", keys(of: table))) AND \(isNotBlocked(table, "t"))")
    let went = try changeUnlessRefused(table, selection, by: .delete) {
      try $0.removal.delete(from: table, $1, because: nil, limit: .max).rows
    }
    count.rows += went
    deletions[table.number, default: [:]][0, default: 0] += went
    return went
  }

  /// What is still there is kept by the application, or denied.
  private func endSlice(of table: MappedTable) throws {
    let isOne = "u.collection = \(table.number) AND u.key = ANY(\(keys(of: table)))"
    try db.run(
      "DELETE FROM cascade.unreached u WHERE \(isOne) AND NOT \(table.has("u.key"))")
    try db.run(
      "UPDATE cascade.unreached u SET is_denied = true WHERE \(isOne) AND NOT u.is_denied")
  }
}

/// What a sweep of unreachable nodes leaves.
package enum UnreachedNodes {
  package static func forget(_ store: StoreConnection) throws {
    try store.db.execute("DELETE FROM cascade.unreached")
  }

  /// Looks again at the nodes that were kept. What held them may have gone by a rule. Returns whether
  /// there are any.
  package static func reopen(_ store: StoreConnection) throws -> Bool {
    try store.db.run(
      "UPDATE cascade.unreached SET is_kept = false WHERE is_kept AND skipped IS NULL"
    ).changed > 0
  }

  /// At the end of a sweep. Returns whether other sessions had locked some of them.
  package static func end(_ store: StoreConnection) throws -> Bool {
    try store.db.execute("DELETE FROM cascade.unreached WHERE skipped IS NULL")
    return try store.db.run("SELECT EXISTS (SELECT FROM cascade.unreached)").bool
  }

  /// Whether the transactions have ended that had locked what a sweep has left.
  package static let areDue = """
    EXISTS (SELECT FROM cascade.unreached
      WHERE is_kept AND skipped < pg_snapshot_xmin(pg_current_snapshot()))
    """

  /// Keeps the leases without which a sweep would have found more.
  package static func keepLeases(_ areAny: Bool, _ store: StoreConnection) throws {
    try store.db.execute("DELETE FROM cascade.reaching_lease")
    if !areAny { return }
    try store.db.run(
      """
      INSERT INTO cascade.reaching_lease(collection, key)
      SELECT l.collection, l.key FROM cascade.lease l WHERE l.expires > \(LeaseTable.seconds)
      """)
  }

  /// Whether one of these has ended.
  package static let hasLeaseEnded = """
    EXISTS (SELECT FROM cascade.reaching_lease r WHERE NOT EXISTS (SELECT FROM cascade.lease l
      WHERE l.collection = r.collection AND l.key IS NOT DISTINCT FROM r.key
      AND l.expires > \(LeaseTable.seconds)))
    """
}
