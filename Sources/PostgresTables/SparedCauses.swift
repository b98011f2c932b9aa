internal import CascadePostgres
package import PostgresBinding

/// What no search of whole tables may take: what only a held plan would let go, and what was given up
/// when a plan was rejected.
///
/// 1. A held plan owns rows of the journal, and of what waits. A reference to a node whose deletion a plan
///    owns is the plan's.
/// 2. What was given up is kept edge by edge, so that a reference that is changed is not given up any more.
package struct SparedCauses {
  static let sql = """
    -- Edges that were given up when a plan was rejected: `what` is a JournalSubject.
    CREATE TABLE cascade.given_up(
      what smallint NOT NULL, subject int NOT NULL, key text NOT NULL, other text NOT NULL,
      PRIMARY KEY(what, subject, key, other));
    -- The answers to rejected plans; `file` is null for those of sweeps.
    CREATE TABLE cascade.rejected_plan(
      number bigint PRIMARY KEY, file text, given_up bigint NOT NULL);
    """

  package let areAny: Bool

  package init(_ store: StoreConnection) throws {
    areAny = try store.db.run(
      """
      SELECT EXISTS (SELECT FROM cascade.plan WHERE owns_causes)
        OR EXISTS (SELECT FROM cascade.given_up)
      """
    ).bool
  }

  private static let held = """
    SELECT j.what, j.subject, j.key, j.other FROM cascade.journal j WHERE \(Causes.areHeld("j"))
    UNION ALL SELECT w.what, w.subject, w.key, w.other FROM cascade.work w
    WHERE w.batch = \(HeldEdges.waiting) AND NOT w.done AND \(Causes.areHeld("w"))
    """

  /// All of them `h`, for FROM.
  package static let rows = """
    (\(held) UNION ALL SELECT g.what, g.subject, g.key, g.other FROM cascade.given_up g) h
    """

  /// Whether a held plan owns the deletion of a node of these tables, or what it left is a cause still.
  package func ownsDeletion(_ key: String, of tables: String) -> String {
    if !areAny { return "false" }
    return """
      EXISTS (SELECT FROM (\(SparedCauses.held)) h WHERE h.what = \(JournalSubject.gone.rawValue)
        AND h.subject IN (\(tables)) AND h.key = \(key))
      """
  }

  /// Whether one of them tells that an edge of these relations lost an end; nil is any end.
  package func tellOfLoss(
    of relations: String, from key: String? = nil, to other: String? = nil,
    as whats: [JournalSubject] = [.lost, .widowed]
  ) -> String {
    if !areAny || relations.isEmpty { return "false" }
    let ends =
      (key.map { " AND h.key = \($0)" } ?? "") + (other.map { " AND h.other = \($0)" } ?? "")
    let numbers = whats.map { "\($0.rawValue)" }.joined(separator: ", ")
    return """
      EXISTS (SELECT FROM \(SparedCauses.rows) WHERE h.what IN (\(numbers))
        AND h.subject IN (\(relations))\(ends))
      """
  }
}
