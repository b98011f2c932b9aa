internal import CascadeModel
package import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

/// Which rows of the journal a sweep reads: those that no plan owns, or those of one plan.
///
/// 1. A plan that waits for approval owns its causes: the rows that the sweep had read when it was held.
///    They are ranges (`cascade_plan_rows`), so nothing is written into the journal for it, and the
///    triggers need not know of plans.
/// 2. Rows that tell that a node was deleted, or that its key was used again, belong to each plan, because
///    they end what the plan says of the node. They are remembered (`cascade_plan_used`) when a sweep has read
///    them, for as long as any plan owns rows.
/// 3. Where no plan owns rows, no statement asks for them.
package struct JournalScope {
  /// Nil: the rows that no plan owns.
  package let plan: Int64?
  package let areAnyOwned: Bool

  package init(plan: Int64?, _ db: borrowing Connection) throws(SQLiteError) {
    self.plan = plan
    areAnyOwned = try db.ownsJournalRows
  }

  /// A condition on a row of the journal, to follow another one.
  package func and(_ row: String) -> String {
    areAnyOwned ? "AND \(isIncluded(row))" : ""
  }

  private func isIncluded(_ row: String) -> String {
    let (isOwn, otherwise) =
      plan.map { ("r.high >= \(row).seq AND r.plan = \($0)", "0") }
      ?? ("r.high < \(row).seq OR NOT r.hides", "1")
    return "coalesce((SELECT \(isOwn) \(JournalScope.range(around: row))), \(otherwise))"
  }

  /// Whether a plan owns the row.
  package static func isOwned(_ row: String) -> String {
    "coalesce((SELECT r.high >= \(row).seq AND r.hides \(range(around: row))), 0)"
  }

  /// Ranges have no row in common.
  private static func range(around row: String) -> String {
    "FROM main.cascade_plan_rows AS r WHERE r.low < \(row).seq ORDER BY r.low DESC LIMIT 1"
  }

  /// The deletions that plans own, as `j`, by the number of the collection and key.
  package static let ownedDeletions = """
    SELECT w.meaning ->> 'rows', j.key FROM main.cascade_plan_rows AS o
    CROSS JOIN main.cascade_journal AS j ON j.seq > o.low AND j.seq <= o.high
    JOIN main.cascade_watch AS w ON w.what = j.what
    WHERE o.hides AND \(GoneMark.isDeletion("j")) AND j.key IS NOT NULL
    """
}

extension Connection {
  package var ownsJournalRows: Bool {
    get throws(SQLiteError) { try integer("SELECT 1 FROM cascade_plan_rows LIMIT 1") != nil }
  }

  package var hasGivenUp: Bool {
    get throws(SQLiteError) { try integer("SELECT 1 FROM cascade_given_up LIMIT 1") != nil }
  }

  /// Up to here, both kinds have read what no plan owns.
  package var journalFloor: Int64 {
    get throws(SQLiteError) {
      if try !ownsJournalRows { return 0 }
      return try min(journalPosition(.cascade), journalPosition(.refcount))
    }
  }

  /// Called before rows of the journal are deleted that no plan owns.
  package func keepUses(above low: Int64, upTo high: Int64) throws(SQLiteError) {
    let rows: [Value] = [.integer(low), .integer(high)]
    try run(
      generated: """
        INSERT INTO cascade_plan_used(collection, key, gone)
        SELECT iif(j.what = \(JournalSubject.ownDeletion), j.a, w.meaning ->> 'rows') AS nodes,
          j.key, max(j.seq)
        FROM cascade_journal AS j LEFT JOIN cascade_watch AS w ON w.what = j.what
        WHERE j.seq > ? AND j.seq <= ? AND \(GoneMark.isDeletion("j")) AND j.key IS NOT NULL
          AND nodes IS NOT NULL
        GROUP BY 1, 2 ON CONFLICT DO UPDATE SET gone = excluded.gone
        """, rows)
    try run(
      generated: """
        INSERT INTO cascade_plan_used(collection, key, arrived)
        SELECT j.a, j.key, max(j.seq) FROM cascade_journal AS j
        WHERE j.seq > ? AND j.seq <= ? AND j.what = \(JournalSubject.arrival) AND j.key IS NOT NULL
        GROUP BY 1, 2 ON CONFLICT DO UPDATE SET arrived = excluded.arrived
        """, rows)
  }
}
