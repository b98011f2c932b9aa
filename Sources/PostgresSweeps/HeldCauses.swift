package import CascadeModel
package import CascadePostgres
internal import PostgresBinding
package import PostgresTables

/// How a held plan gets what its sweep has read, in the transaction of the closure: its snapshot has what
/// was read, and nothing else.
extension Closure {
  package func giveCauses(to plan: Int64, of kinds: [SweepKind], _ causes: Causes) throws {
    try HeldCauses.shareReused(db)
    try db.run(
      """
      WITH u AS (UPDATE cascade.journal j SET plan = \(plan), seq = NULL
        WHERE j.what <> \(JournalSubject.arrived.rawValue)
        AND \(JournalRows.isMeant(for: kinds, causes, binding)) RETURNING j.*)
      \(SparedCauses.adding("u", to: plan))
      """)
    if journal?.isLong ?? false { try db.execute("ANALYZE cascade.held_cause") }
    try giveWaiting(to: plan, causes)
    try FileRows(store: store).give(to: plan)
  }

  /// Of what waits, only that is a cause by which a node would go now.
  private func giveWaiting(to plan: Int64, _ causes: Causes) throws {
    for relation in binding.relations {
      for (what, key, table) in [
        (JournalSubject.lost, "w.other", relation.destination),
        (.widowed, "w.key", relation.source),
      ] {
        try giveWaiting(
          to: plan, causes, "w.what = \(what.rawValue) AND w.subject = \(relation.number)",
          "\(isGone(table, key))")
      }
    }
    try giveWaiting(to: plan, causes, "w.what = \(JournalSubject.gone.rawValue)", "true")
  }

  private func giveWaiting(
    to plan: Int64, _ causes: Causes, _ isOne: String, _ condition: String
  ) throws {
    try db.run(
      """
      WITH u AS (UPDATE cascade.work w SET plan = \(plan)
        WHERE w.batch = \(BlockedNodes.waiting) AND NOT w.done AND \(isOne)
        AND \(causes.include("w")) AND \(condition) RETURNING w.*)
      \(SparedCauses.adding("u", to: plan))
      """)
  }
}

package enum HeldCauses {
  /// Has each plan know that a key was used again of which it owns a deletion (`Causes`, 2).
  package static func shareReused(_ db: borrowing Session) throws {
    let (gone, reused) = (JournalSubject.gone.rawValue, JournalSubject.reused.rawValue)
    try db.run(
      """
      INSERT INTO cascade.journal(seq, what, subject, key, at, plan)
      SELECT DISTINCT NULL::bigint, r.what, r.subject, r.key, r.at, g.plan
      FROM cascade.journal r JOIN cascade.journal g ON g.subject = r.subject AND g.key = r.key
      WHERE r.what = \(reused) AND \(Causes.unplanned.include("r"))
      AND g.what = \(gone) AND g.at IS NOT NULL AND \(Causes.areHeld("g"))
      AND NOT EXISTS (SELECT FROM cascade.journal o WHERE o.what = \(reused) AND o.subject = r.subject
        AND o.key = r.key AND o.at = r.at AND o.plan = g.plan)
      """)
  }
}
