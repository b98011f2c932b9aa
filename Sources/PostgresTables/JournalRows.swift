package import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import PostgresBinding

/// Rows of the journal with which a closure begins.
package struct JournalRows {
  /// For FROM.
  package let rows: String
  /// The batch of a change file.
  package private(set) var ownBatch: Int64?
  private let counts: [JournalSubject: [Int64: Int]]

  /// Whether a row `j` of the journal is for a sweep of these kinds, and is about what can be swept.
  package static func isMeant(
    for kinds: [SweepKind], _ causes: Causes, _ binding: Binding
  ) -> String {
    let isReady = "NOT \(binding.waits("j")) AND \(causes.include("j"))"
    if kinds.followedRules == .all { return isReady }
    let kind = literal((kinds.cascades ? SweepKind.cascade : .refcount).rawValue)
    return "\(isReady) AND (j.kind IS NULL OR j.kind = \(kind))"
  }

  /// Others' deletions, and what is left to do of an unfinished sweep. What was held back is asked
  /// whether it still has a reason, if `asksWaiting`.
  package static func ofSweep(
    _ store: StoreConnection, _ kinds: [SweepKind], _ causes: Causes, asksWaiting: Bool = true
  ) throws -> JournalRows {
    let held = HeldEdges(store)
    let isOver = try asksWaiting && held.areAny ? held.isOver("w") : "false"
    return try JournalRows(
      store,
      """
      (SELECT what, subject, key, other, is_manual FROM cascade.journal j
        WHERE \(isMeant(for: kinds, causes, store.binding)) AND j.what <> \(JournalSubject.reused.rawValue)
          AND NOT \(isOnlyEnd("j"))
        UNION ALL SELECT what, subject, key, other, is_manual FROM cascade.work w
          WHERE NOT \(isOver) AND NOT \(store.binding.waits("w")) AND \(causes.include("w"))
        \(causes.isOfPlan ? "" : ofUnfinished))
      """, nil)
  }

  private static let ofUnfinished = """
    UNION ALL SELECT \(JournalSubject.gone.rawValue), collection, unnest(keys), NULL, NULL
      FROM cascade.deleted
      WHERE batch = (SELECT value FROM cascade.meta WHERE key = 'sweep.batch') AND follows
    """

  package static func ofFile(_ store: StoreConnection, _ batch: Int64) throws -> JournalRows {
    try JournalRows(
      store,
      """
      (SELECT what, subject, key, other, is_manual FROM cascade.work w
        WHERE batch = \(batch) AND NOT \(isOnlyEnd("w")))
      """, batch)
  }

  /// Whether a row only names the missing end of edges that are journaled one by one.
  private static func isOnlyEnd(_ row: String) -> String {
    "(\(row).told AND \(row).what = \(JournalSubject.gone.rawValue))"
  }

  private init(_ store: StoreConnection, _ rows: String, _ batch: Int64?) throws {
    var counts: [JournalSubject: [Int64: Int]] = [:]
    for row in try store.db.run(
      "SELECT j.what, j.subject, count(*) FROM \(rows) j GROUP BY 1, 2"
    ).rows {
      guard let what = JournalSubject(rawValue: Int(row[0]!)!) else { continue }
      counts[what, default: [:]][Int64(row[1]!)!] = Int(row[2]!)!
    }
    (self.rows, self.counts, ownBatch) = (rows, counts, batch)
  }

  package var isEmpty: Bool { counts.isEmpty }
  package var count: Int { counts.values.reduce(0) { $0 + $1.values.reduce(0, +) } }
  package var isLong: Bool { count > JournalRows.mostOfShort }
  package static let mostOfShort = 1_000

  package func has(_ what: JournalSubject, _ subject: Int64? = nil) -> Bool {
    guard let subject else { return counts[what] != nil }
    return counts[what]?[subject] != nil
  }
}
