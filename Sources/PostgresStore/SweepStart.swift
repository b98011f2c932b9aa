internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// What a sweep of edges finds when it begins.
struct SweepStart {
  /// Whether what went may be looked for once more.
  let isLateDue: Bool
  /// The batch of a sweep that was not at its end.
  let unfinished: Int64?
  /// The number of a new batch; nil if the journal is empty.
  let batch: Int64?
  /// Whether the journal is short, and nothing waits: neither late edges, nor what led to nodes that had
  /// to stay, nor a plan that was found to be too much.
  let isSmall: Bool
  /// Whether something was held back.
  let hasWaiting: Bool
  /// Whose causes a sweep reads that is for no plan.
  let causes: Causes
  /// The first plan that was approved, and whose causes wait.
  let approved: Int64?
  /// The approved plan of an unfinished batch, if it owns its causes.
  let unfinishedPlan: Int64?
  /// How many nodes sweeps have deleted lately without an approval, at most.
  let recent: Int

  static func read(_ store: StoreConnection, _ kinds: [SweepKind]) throws -> SweepStart {
    let most = JournalRows.mostOfShort
    let row = try store.db.runAgain(
      """
      SELECT EXISTS (SELECT FROM cascade.recheck WHERE \(LateReferences.isDue)),
        (SELECT value FROM cascade.meta WHERE key = 'sweep.batch'),
        CASE WHEN j.count > 0 THEN nextval('cascade.batch') END,
        j.count BETWEEN 1 AND \(most) AND NOT j.has_arrived AND NOT w.has_waiting
        AND NOT EXISTS (SELECT FROM cascade.blocked)
        AND NOT EXISTS (SELECT FROM cascade.plan WHERE file LIKE '/%' AND value IS NULL),
        w.has_waiting, EXISTS (SELECT FROM cascade.plan WHERE owns_causes), \(CausePlan.firstApproved),
        (SELECT m.value FROM cascade.meta m JOIN cascade.plan p ON p.number = m.value AND p.owns_causes
          WHERE m.key = 'sweep.plan'), \(RecentDeletions.most(store.model))
      FROM (SELECT \(HeldEdges.areAny) AS has_waiting) w,
        (SELECT count(*), bool_or(n.what IN (\(JournalSubject.arrived.rawValue), \(JournalSubject.reused.rawValue))) AS has_arrived
        FROM (SELECT what FROM cascade.journal j
          WHERE \(JournalRows.isMeant(for: kinds, .unplanned, store.binding)) LIMIT \(most + 1)) n) j
      """
    ).rows[0]
    return SweepStart(
      isLateDue: row[0] == "t", unfinished: row[1].flatMap { Int64($0) },
      batch: row[2].flatMap { Int64($0) }, isSmall: row[3] == "t",
      hasWaiting: row[4] == "t", causes: row[5] == "t" ? .unplanned : .all,
      approved: row[6].flatMap { Int64($0) }, unfinishedPlan: row[7].flatMap { Int64($0) },
      recent: row[8].flatMap { Int($0) } ?? 0)
  }
}
