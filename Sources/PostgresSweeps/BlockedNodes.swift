internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
package import PostgresBinding
package import PostgresTables

/// Nodes that had to stay, because a rule of the model denies their deletion, because a lease holds them,
/// or because a constraint or a trigger of the application refuses it.
///
/// 1. What led to such a node stays in `work`, in the batch 0, and each later sweep takes it up.
/// 2. The end of a denial is written to the journal by a trigger, so that a sweep runs, and so does
///    it after the end of a lease. Nothing tells of
///    the application's own reasons, so a sweep also runs after a while, and again after twice that time.
package struct BlockedNodes {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }

  package init(_ store: StoreConnection) { self.store = store }

  /// The batch of what waits.
  package static let waiting = 0

  // MARK: - Which they are

  package var isAny: Bool {
    get throws { try db.runAgain("SELECT EXISTS (SELECT FROM cascade.blocked)").bool }
  }

  /// Begins anew, with those that the rules deny according to the closure that was just computed, if
  /// one was. Returns whether there are any.
  package func begin(withDenied hasClosure: Bool) throws -> Bool {
    try db.execute("DELETE FROM cascade.blocked")
    return try hasClosure && addDenied()
  }

  /// Begins anew for nodes that no root reaches: what others led to is not looked at, and leases still hold.
  package func beginUnreachable() throws {
    try db.execute("DELETE FROM cascade.blocked WHERE NOT is_leased")
    try addDenied()
  }

  /// Adds those that the rules deny according to the closure that was just computed. Returns whether there
  /// are any.
  @discardableResult
  private func addDenied() throws -> Bool {
    try db.run(
      """
      INSERT INTO cascade.blocked(collection, key)
      SELECT collection, key FROM \(store.scratch[.kept]) k ON CONFLICT DO NOTHING
      """
    ).changed > 0
  }

  package func add(_ key: String, of table: MappedTable, because why: String) throws {
    try db.run(
      """
      INSERT INTO cascade.blocked(collection, key, why) VALUES(\(table.number), $1, $2)
      ON CONFLICT(collection, key) DO UPDATE SET why = excluded.why
      """, [key, why])
  }

  /// What the application refused.
  package func refusals() throws -> [Reason] {
    try db.run(
      """
      SELECT b.collection, b.key, b.why FROM cascade.blocked b WHERE b.why IS NOT NULL
      ORDER BY 1, 2 LIMIT \(Receipt.mostListed)
      """
    ).rows.compactMap { row in
      store.binding.table(Int64(row[0]!)!).map { table in
        let node = table.node(row[1]!)
        return Reason(.denied, "\(node) must stay: \(row[2]!)", node: node, keepsNode: true)
      }
    }
  }

  /// Whether a row of a table is none of them.
  static func isNotBlocked(
    _ table: MappedTable, _ row: String, byLease: Bool = false
  ) -> String {
    """
    NOT EXISTS (SELECT FROM cascade.blocked b WHERE b.collection = \(table.number)
      AND b.key = \(table.key.text(row))\(byLease ? " AND b.is_leased" : ""))
    """
  }

  // MARK: - What led to them

  /// Keeps what led to blocked nodes, in the transaction that ends a batch.
  func keepCauses(of batch: Int64) throws {
    if try isAny {
      for relation in store.binding.relations { try keepCauses(relation, batch) }
    }
    try planLook()
  }

  private func keepCauses(_ relation: EdgeRelation, _ batch: Int64) throws {
    let (source, table) = (relation.source, relation.destination)
    func isBlocked(_ node: MappedTable, _ key: String) -> String {
      "EXISTS (SELECT FROM cascade.blocked b WHERE b.collection = \(node.number) AND b.key = \(key))"
    }
    try keep(.lost, relation.number, batch, isBlocked(table, "j.other"))
    try keep(.widowed, relation.number, batch, isBlocked(source, "j.key"))
    if relation.join != nil || relation.rules.isDisjoint(with: .losingDestination) { return }
    func leadsToBlocked(_ key: String) -> String {
      """
      EXISTS (SELECT FROM \(relation.edges()) WHERE \(relation.leads(toText: key))
        AND NOT \(BlockedNodes.isNotBlocked(source, "s")))
      """
    }
    try keep(.gone, table.number, batch, leadsToBlocked("j.key"))
    try keepDeleted(table, batch, leadsToBlocked("k.key"))
  }

  private func keep(
    _ what: JournalSubject, _ subject: Int64, _ batch: Int64, _ condition: String
  ) throws {
    try db.run(
      """
      UPDATE cascade.work j SET batch = \(BlockedNodes.waiting), done = false, told = true
      WHERE j.batch = \(batch) AND j.done AND j.what = \(what.rawValue) AND j.subject = \(subject)
      AND \(condition)
      """)
  }

  /// The same for what the batch itself deleted. Several relations may lead to a node.
  private func keepDeleted(_ table: MappedTable, _ batch: Int64, _ condition: String) throws {
    let (gone, waiting) = (JournalSubject.gone.rawValue, BlockedNodes.waiting)
    try db.run(
      """
      INSERT INTO cascade.work(batch, what, subject, key, told)
      SELECT DISTINCT \(waiting), \(gone), k.collection, k.key, true FROM cascade.deleted_node k
      WHERE k.batch = \(batch) AND k.collection = \(table.number) AND k.follows AND \(condition)
      AND NOT EXISTS (SELECT FROM cascade.work j WHERE j.batch = \(waiting) AND NOT j.done
        AND j.what = \(gone) AND j.subject = k.collection AND j.key = k.key)
      """)
  }

  // MARK: - When to look again

  /// In seconds.
  private static let firstDelay: Int64 = 1
  private static let longestDelay: Int64 = 60

  /// The time to look again, if it has come; else null.
  package static let lastDue = """
    (SELECT value FROM cascade.meta WHERE key = 'look_again'
      AND value <= extract(epoch FROM clock_timestamp()))
    """

  /// Whether it is time to look again.
  package static let isDue = "(\(lastDue) IS NOT NULL)"

  /// Looks again after twice the last time, as long as something waits.
  private func planLook() throws {
    let waits = "SELECT FROM cascade.work WHERE batch = \(BlockedNodes.waiting) AND NOT done"
    if try !db.run("SELECT EXISTS (\(waits))").bool {
      try db.run("DELETE FROM cascade.meta WHERE key IN ('look_again', 'look_again_delay')")
      return
    }
    let last = try store[meta: "look_again_delay"]
    if try last != nil && !db.run("SELECT \(BlockedNodes.isDue)").bool { return }
    let delay = min(last.map { $0 * 2 } ?? BlockedNodes.firstDelay, BlockedNodes.longestDelay)
    try store.set("look_again_delay", delay)
    let now = try db.run("SELECT extract(epoch FROM clock_timestamp())::bigint").integer!
    try store.set("look_again", now + delay)
  }
}
