internal import CascadeModel
internal import CascadeStore
package import CascadePostgres
package import PostgresBinding
package import PostgresTables

/// The leases in force, as a transaction that deletes has to respect them.
///
/// 1. Such a transaction begins with those that are committed. What they hold stays, and what led to it is
///    kept in the journal.
/// 2. A lease may be taken meanwhile. Its trigger locks the row, so a deletion of that row waits for
///    the lease's transaction. But then it deletes, because it looked before it waited.
/// 3. So the transaction looks once more when it has deleted. If a lease has come for a row that is not
///    there, it is rolled back and tried again, and begins with that lease.
/// 4. A lease of a whole collection locks no rows of it. A row of Cascade's own, whose lock it shares
///    with others, tells that its transaction is open.
///
/// Times are those of the server, which all machines share.
package struct LiveLeases {
  private let store: StoreConnection
  let snapshot: String
  private let now: Int64
  package let isAny: Bool
  private let areProtected: Bool

  package init(_ store: StoreConnection) throws {
    self.init(store, try store.db.run(LiveLeases.sql))
  }

  /// `rows` is what `sql` returns.
  package init(_ store: StoreConnection, _ rows: Rows) {
    let row = rows.rows[0]
    self.store = store
    (snapshot, now, areProtected) = (row[0]!, Int64(row[1]!)!, row[3] == "t")
    isAny = row[2] == "t" || areProtected
  }

  /// Of no transaction.
  static func unknown(_ store: StoreConnection) -> LiveLeases {
    LiveLeases(store, Rows(rows: [["", "0", "f", "f"]]))
  }

  package static let sql = """
    SELECT pg_current_snapshot(), n.now,
      EXISTS (SELECT FROM cascade.lease l WHERE l.expires > n.now),
      EXISTS (SELECT FROM cascade.protected)
    FROM (SELECT \(LeaseTable.seconds)::bigint AS now) n
    """

  /// Whether a key of a table, as a text, is leased or protected.
  package func holds(_ table: MappedTable, _ key: String) -> String {
    if !isAny { return "false" }
    let isLeased = """
      EXISTS (SELECT FROM cascade.lease l WHERE l.collection = \(literal(table.collection))
        AND (l.key IS NULL OR l.key = \(key)) AND l.expires > \(now))
      """
    return areProtected ? "(\(isLeased) OR \(protects(table, key)))" : isLeased
  }

  package func protects(_ table: MappedTable, _ key: String) -> String {
    if !areProtected { return "false" }
    return """
      EXISTS (SELECT FROM cascade.protected p WHERE p.collection = \(table.number) AND p.key = \(key))
      """
  }

  /// Throws a conflict if something went that a lease holds by now. `last` runs before, in the same
  /// exchange with the server.
  func verify(after last: [Statement] = []) throws {
    let newLeases = """
      SELECT l.collection, l.key FROM cascade.lease l WHERE l.expires > $1
      AND NOT pg_visible_in_snapshot(l.xid, $2::pg_snapshot)
      """
    let answers = try store.db.runEach(
      last + [
        Statement("\(LeaseTable.rowOfCollections) FOR UPDATE SKIP LOCKED"),
        Statement(newLeases, ["\(now)", snapshot]),
      ])
    let (free, new) = (answers[last.count], answers[last.count + 1].rows)
    if free.isEmpty { throw LiveLeases.conflict }
    for lease in new {
      guard let table = store.binding.tables[lease[0]!] else { continue }
      let isThere = try lease[1].map { try store.db.run("SELECT \(table.has("$1"))", [$0]).bool }
      if isThere != true { throw LiveLeases.conflict }
    }
  }

  private static let conflict = PostgresError(
    sqlState: "40001", message: "a lease was taken meanwhile", doing: "delete")
}

extension Waves {
  /// A change file is rejected where a rule would take what is protected.
  private func refuseProtected(_ table: MappedTable, _ selection: RowRemoval.Selection) throws {
    let protects = leases.protects(table, table.key.text(selection.row))
    if protects == "false" { return }
    let keys = try keys(of: table, selection.only(where: protects), Receipt.mostListed)
    if keys.isEmpty { return }
    let nodes = """
      (SELECT \(table.number) AS collection, k.key FROM unnest(\(literal(arrayText(keys)))::text[]) k(key)) n
      """
    throw Rejection(try ProtectionRows(store).reasons(nodes))
  }

  /// Leaves those of the selected rows that are leased. Returns how many they are.
  mutating func leaveLeased(_ table: MappedTable, _ selection: RowRemoval.Selection) throws -> Int {
    if !leases.isAny { return 0 }
    let row = selection.row
    if !isSweep { try refuseProtected(table, selection) }
    let left = try db.run(
      """
      INSERT INTO cascade.blocked(collection, key, is_leased)
      SELECT \(table.number), \(table.key.text(row)), true FROM \(selection.from(table))
      WHERE \(selection.condition) AND \(leases.holds(table, table.key.text(row)))
      AND \(isNotBlocked(table, row)) ON CONFLICT(collection, key) DO UPDATE SET is_leased = true
      """, selection.values
    ).changed
    if left > 0 { (hasBlocked, hasLeased) = (true, true) }
    return left
  }
}
