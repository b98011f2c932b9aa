internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
package import PostgresBinding
package import PostgresTables

/// Nodes that had to stay, because a rule of the model denies their deletion, because a lease holds them,
/// or because a constraint or a trigger of the application refuses it.
///
/// 1. What led to such a node stays in `work`, in the batch 0, and each later sweep takes it up, if it is
///    still a reason (`HeldEdges.swift`).
/// 2. The end of a denial is written to the journal by a trigger, so that a sweep runs, and so does
///    it after the end of a lease. Nothing tells of
///    the application's own reasons, so a sweep also runs after a while, and again after twice that time.
package struct BlockedNodes {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }

  package init(_ store: StoreConnection) { self.store = store }

  /// The batch of what waits.
  package static let waiting = HeldEdges.waiting

  // MARK: - Which they are

  package var isAny: Bool {
    get throws { try db.runAgain("SELECT EXISTS (SELECT FROM cascade.blocked)").bool }
  }

  /// Begins anew, with those that the rules deny according to the closure that was just computed, if
  /// one was. Returns whether there are any. `keepsOthers`: the sweep does not look at all that waits.
  package func begin(withDenied hasClosure: Bool, keepsOthers: Bool = false) throws -> Bool {
    if keepsOthers {
      if hasClosure { try addDenied() }
      return try isAny
    }
    // A sweep of one kind does not look at all that waits for the end of a lease.
    let isKept = store.binding.leavesRules ? "b.is_leased AND \(BlockedNodes.isLeased)" : "false"
    try db.execute("DELETE FROM cascade.blocked b WHERE NOT (\(isKept))")
    return try hasClosure && addDenied()
  }

  /// Whether a lease holds the node of a row `b`.
  package static let isLeased = """
    (EXISTS (SELECT FROM cascade.lease l JOIN cascade.collection c ON c.name = l.collection
        WHERE c.number = b.collection AND (l.key IS NULL OR l.key = b.key)
        AND l.expires > \(LeaseTable.seconds))
      OR EXISTS (SELECT FROM cascade.protected p WHERE p.collection = b.collection AND p.key = b.key))
    """

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

  package func add(_ keys: [String], of table: MappedTable, because why: String) throws {
    try db.run(
      """
      INSERT INTO cascade.blocked(collection, key, why)
      SELECT DISTINCT \(table.number), k.key, $2 FROM unnest($1::text[]) k(key)
      ON CONFLICT(collection, key) DO UPDATE SET why = excluded.why
      """, [arrayText(keys), why])
  }

  /// What the application refused, and what is protected.
  package func refusals() throws -> [Reason] {
    let protections = ProtectionRows(store)
    let protected =
      try protections.isAny
      ? protections.reasons(
        "(SELECT b.collection, b.key FROM cascade.blocked b WHERE b.is_leased) n") : []
    return try protected + refusedByApplication()
  }

  private func refusedByApplication() throws -> [Reason] {
    try db.run(
      """
      SELECT b.collection, b.key, b.why FROM cascade.blocked b WHERE b.why IS NOT NULL
      ORDER BY 1, 2 LIMIT \(Receipt.mostListed)
      """
    ).rows.compactMap { row in
      store.binding.table(Int64(row[0]!)!).map { table in
        .mustStay(table.node(row[1]!), because: row[2]!)
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

  /// Whether a row of a table is one of them, and no lease holds it.
  static func isDenied(_ table: MappedTable, _ row: String) -> String {
    """
    EXISTS (SELECT FROM cascade.blocked b WHERE b.collection = \(table.number)
      AND b.key = \(table.key.text(row)) AND NOT b.is_leased)
    """
  }

  // MARK: - What led to them

  /// Keeps what led to blocked nodes, in the transaction that ends a batch.
  func keepCauses(of waves: Waves) throws {
    if try isAny {
      for relation in store.binding.relations { try keepCauses(relation, waves) }
    }
    try HeldEdges(store).settle()
    try planLook(waves.hasLocked ? BlockedNodes.longestDelayOfLocks : BlockedNodes.longestDelay)
  }

  /// Keeps what led to join rows that had to stay. Returns how many nodes that are gone have some.
  func keepCauses(
    ofRowsIn relation: EdgeRelation, _ join: JoinTable, lost end: EdgeEnd, _ keys: KeyArray
  ) throws -> Int {
    let (table, columns) = (relation.table(at: end), join.columns(at: end))
    let left = """
      SELECT DISTINCT \(columns.text("e")) AS key FROM \(join.name) e
      WHERE \(relation.isAny(at: end, keys.sql, of: join))
      AND NOT EXISTS (SELECT FROM \(table.name) t WHERE \(columns.equal("e", table.key, "t")))
      """
    try db.run(
      """
      INSERT INTO cascade.work(batch, what, subject, key, told)
      SELECT \(BlockedNodes.waiting), \(JournalSubject.gone.rawValue), \(table.number), l.key, true
      FROM (\(left)) l WHERE NOT \(isWaiting(table, "l.key"))
      """, keys.values)
    return try Int(db.run("SELECT count(*) FROM (\(left)) l", keys.values).integer ?? 0)
  }

  private func isWaiting(_ table: MappedTable, _ key: String) -> String {
    """
    EXISTS (SELECT FROM cascade.work j WHERE j.batch = \(BlockedNodes.waiting) AND NOT j.done
      AND j.what = \(JournalSubject.gone.rawValue) AND j.subject = \(table.number) AND j.key = \(key))
    """
  }

  /// Only what is a reason still: of a count, that no edge is left.
  private func keepCauses(_ relation: EdgeRelation, _ waves: Waves) throws {
    let (source, table, rules) = (relation.source, relation.destination, relation.allRules)
    if !rules.isDisjoint(with: .deletingDestination) {
      let isNone = "NOT \(store.binding.hasSource(relation))"
      let counts = rules.contains(.deleteDestinationIfAllSourcesDeleted)
      try keep(
        .lost, relation.number, waves,
        blocked(table, "t", "j.other", counts ? isNone : "true"))
    }
    if !rules.isDisjoint(with: .deletingSource) {
      let isNone = "NOT \(store.binding.hasDestination(relation))"
      let isLost = "NOT \(relation.isRestored(lostIn: "j"))"
      let counts = rules.contains(.deleteSourceIfAllDestinationsDeleted)
      try keep(
        .widowed, relation.number, waves, blocked(source, "s", "j.key", counts ? isNone : isLost))
      if relation.join == nil { try keepReferences(relation, waves, counts ? isNone : "true") }
    }
    if rules.contains(.nullifySourceIfDestinationDeleted) && relation.join == nil {
      try keepRefused(relation, waves)
    }
  }

  /// Whether the row of a table that has this key is blocked, and a condition on it holds.
  private func blocked(
    _ table: MappedTable, _ row: String, _ key: String, _ condition: String
  ) -> String {
    """
    EXISTS (SELECT FROM \(table.name) \(row) WHERE \(table.key.equal(row, text: key))
      AND NOT \(BlockedNodes.isNotBlocked(table, row)) AND \(condition))
    """
  }

  private func keep(
    _ what: JournalSubject, _ subject: Int64, _ waves: Waves, _ condition: String
  ) throws {
    try db.run(
      """
      UPDATE cascade.work j SET batch = \(BlockedNodes.waiting), done = false, told = true
      WHERE j.batch = \(waves.batch) AND j.done AND j.what = \(what.rawValue)
      AND j.subject = \(subject) AND \(condition)
      """)
  }

  /// References of blocked rows to what went in the batch.
  private func keepReferences(
    _ relation: EdgeRelation, _ waves: Waves, _ condition: String
  ) throws {
    let (source, widowed) = (relation.source, JournalSubject.widowed.rawValue)
    let lost = try store.leads(relation, toAnyOf: waves.gone(relation.destination))
    try db.run(
      """
      INSERT INTO cascade.work(batch, what, subject, key, other, told)
      SELECT DISTINCT \(BlockedNodes.waiting), \(widowed), \(relation.number),
        \(source.key.text("s")), \(relation.to()), true
      FROM \(relation.edges()) WHERE \(lost.condition) AND \(relation.isDangling)
      AND NOT \(BlockedNodes.isNotBlocked(source, "s")) AND \(condition)
      AND NOT EXISTS (SELECT FROM cascade.work w WHERE w.batch = \(BlockedNodes.waiting)
        AND NOT w.done AND w.what = \(widowed) AND w.subject = \(relation.number)
        AND w.key = \(source.key.text("s")) AND w.other = \(relation.to()))
      """, lost.values)
  }

  /// What went, and could not be taken out of the references of a row.
  private func keepRefused(_ relation: EdgeRelation, _ waves: Waves) throws {
    func leadsToIt(_ key: String) -> String {
      """
      EXISTS (SELECT FROM \(relation.edges()) WHERE \(relation.leads(toText: key))
        AND \(relation.isDangling) AND NOT \(BlockedNodes.isNotBlocked(relation.source, "s")))
      """
    }
    try keep(.gone, relation.destination.number, waves, leadsToIt("j.key"))
    try keepDeleted(relation.destination, waves.batch, leadsToIt("k.key"))
  }

  /// The same for what the batch itself deleted. Several relations may lead to a node.
  private func keepDeleted(_ table: MappedTable, _ batch: Int64, _ condition: String) throws {
    let (gone, waiting) = (JournalSubject.gone.rawValue, BlockedNodes.waiting)
    try db.run(
      """
      INSERT INTO cascade.work(batch, what, subject, key, told)
      SELECT DISTINCT \(waiting), \(gone), k.collection, k.key, true FROM cascade.deleted_node k
      WHERE k.batch = \(batch) AND k.collection = \(table.number) AND k.follows AND \(condition)
      AND NOT \(isWaiting(table, "k.key"))
      """)
  }

  // MARK: - When to look again

  /// In seconds.
  private static let firstDelay: Int64 = 1
  private static let longestDelay: Int64 = 60
  /// A lock may end at any moment.
  private static let longestDelayOfLocks: Int64 = 5

  static let longestWait = Duration.seconds(longestDelay)

  /// After which time the last look was to be followed by another one; nil if nothing waits.
  var delay: Duration? {
    get throws { try store[meta: "look_again_delay"].map { .seconds($0) } }
  }

  /// The time to look again, if it has come; else null.
  package static let lastDue = """
    (SELECT value FROM cascade.meta WHERE key = 'look_again'
      AND value <= extract(epoch FROM clock_timestamp()))
    """

  /// Whether it is time to look again.
  package static let isDue = "(\(lastDue) IS NOT NULL)"

  /// Has a sweep look again at once.
  package func lookAgain() throws {
    try db.run(
      """
      UPDATE cascade.meta SET value = floor(extract(epoch FROM clock_timestamp()))::bigint
      WHERE key = 'look_again'
      """)
  }

  /// Looks again after twice the last time, as long as something waits.
  private func planLook(_ longest: Int64) throws {
    if try !db.run("SELECT \(HeldEdges.areAnyUnplanned)").bool {
      try db.run("DELETE FROM cascade.meta WHERE key IN ('look_again', 'look_again_delay')")
      return
    }
    let last = try store[meta: "look_again_delay"]
    if try last != nil && !db.run("SELECT \(BlockedNodes.isDue)").bool { return }
    let delay = min(last.map { $0 * 2 } ?? BlockedNodes.firstDelay, longest)
    try store.set("look_again_delay", delay)
    let now = try db.run("SELECT extract(epoch FROM clock_timestamp())::bigint").integer!
    try store.set("look_again", now + delay)
  }
}
