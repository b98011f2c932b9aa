package import CascadeModel
package import CascadePostgres
package import PostgresBinding

/// A key that an application used again after it had deleted the node. What has the key now is
/// another node, and nothing that was lost before concerns it: what was lost until its predecessor was
/// deleted, and, since an edge to nothing is no edge of it, what was lost until it came.
///
/// Where the journal does not tell when it came, no loss in the journal counts: what the new node has
/// lost is found by a sweep of unreferenced nodes then.
package struct UsedKeys {
  private let binding: Binding

  package init(_ binding: Binding) { self.binding = binding }

  private static let (gone, reused) = (JournalSubject.gone.rawValue, JournalSubject.reused.rawValue)

  /// The number of a statement.
  static let now = "(SELECT nextval('cascade.journal_seq'))"

  /// Whether a row of the journal tells that a row went, or came again.
  static let tellsOfRows = "what IN (\(gone), \(reused)) AND at IS NOT NULL"

  // MARK: - Losses

  /// Whether a row, of the journal or of `work`, says that a node has lost an edge that was deleted
  /// according to the journal.
  package func isEnded(_ row: String, by journal: String = "cascade.journal") -> String {
    let deleted = losers.map { what, key, relations, table in
      """
      \(row).what = \(what.rawValue) AND \(row).subject IN (\(relations.joined(separator: ", ")))
      AND \(row).\(key) IN (SELECT g.key FROM \(journal) g
        WHERE g.what = \(UsedKeys.gone) AND g.subject = \(table))
      """
    }
    return deleted.isEmpty ? "false" : "(\(deleted.joined(separator: " OR ")))"
  }

  private typealias Loser = (what: JournalSubject, key: String, relations: [String], table: Int64)

  /// Of each kind of loss, which column of the journal has the node's key.
  private var losers: [Loser] {
    let binding = binding.watched
    let tables = binding.tables.values.filter { !$0.isManaged }.sorted { $0.number < $1.number }
    return tables.flatMap { table -> [Loser] in
      [
        (.lost, "other", binding.relations(to: table).map { "\($0.number)" }, table.number),
        (.widowed, "key", binding.relations(from: table).map { "\($0.number)" }, table.number),
      ].filter { !$0.2.isEmpty }
    }
  }

  /// Removes what nodes lost that were deleted afterwards, before a plan reads the journal. If no key is
  /// known to be `usedAgain`, the order of events need not be asked.
  package func drop(_ db: borrowing Session, usedAgain: Bool) throws {
    if losers.isEmpty { return }
    if !usedAgain {
      try db.run("DELETE FROM cascade.journal j WHERE \(isEnded("j"))")
      return
    }
    try db.run(
      """
      DELETE FROM cascade.journal j USING \(losses), (\(UsedKeys.all)) u
      WHERE \(isLoss("j", of: "u")) AND coalesce(j.at <= u.since, true)
      """)
    try dropUnlinked(db)
  }

  /// Removes what nodes had lost that a batch has deleted itself: from what no plan has read yet, and from
  /// what waits. The journal does not tell of these deletions.
  package func drop(_ db: borrowing Session, deletedIn batch: Int64, waiting: Int) throws {
    if losers.isEmpty { return }
    for (table, isOpen) in [
      ("cascade.journal", "true"), ("cascade.work", "j.batch = \(waiting) AND NOT j.done"),
    ] {
      try db.run(
        """
        DELETE FROM \(table) j USING \(losses), (
          SELECT d.collection AS subject, n.key FROM cascade.deleted d, unnest(d.keys) n(key)
          WHERE d.batch = \(batch) AND d.is_own
          AND EXISTS (SELECT FROM \(table) j WHERE \(isOpen) AND \(UsedKeys.tellsOfLoss))) u
        WHERE \(isOpen) AND \(isLoss("j", of: "u"))
        """)
    }
  }

  private static let tellsOfLoss = """
    j.what IN (\(JournalSubject.lost.rawValue), \(JournalSubject.widowed.rawValue))
    """

  /// The kinds of losses, for `isLoss`.
  private var losses: String {
    let rows = losers.flatMap { loser in
      loser.relations.map { "(\(loser.what.rawValue), \($0), \(loser.table))" }
    }
    return "(VALUES \(rows.joined(separator: ", "))) l(what, relation, node)"
  }

  /// Whether a row tells that a node has lost an edge.
  private func isLoss(_ row: String, of node: String) -> String {
    let lost = JournalSubject.lost.rawValue
    return """
      \(row).what = l.what AND \(row).subject = l.relation AND \(node).subject = l.node
      AND \(node).key = CASE WHEN l.what = \(lost) THEN \(row).other ELSE \(row).key END
      """
  }

  /// Removes what join rows say that led from nothing by then, and that the application has removed itself.
  private func dropUnlinked(_ db: borrowing Session) throws {
    let joins = binding.watched.relations.filter { $0.looseJoin != nil }.map {
      "(\($0.number), \($0.source.number), \($0.destination.number))"
    }
    if joins.isEmpty { return }
    try db.run(
      """
      DELETE FROM cascade.journal j
      USING (VALUES \(joins.joined(separator: ", "))) l(relation, source, destination), (\(UsedKeys.all)) u
      WHERE j.what = \(JournalSubject.lost.rawValue) AND j.subject = l.relation
      AND u.subject = l.destination AND u.key = j.other AND u.since > (
        SELECT max(g.at) FILTER (WHERE g.what = \(UsedKeys.gone)) FROM cascade.journal g
        WHERE g.subject = l.source AND g.key = j.key AND g.\(UsedKeys.tellsOfRows)
        HAVING (max(g.at) FILTER (WHERE g.what = \(UsedKeys.reused))
          > max(g.at) FILTER (WHERE g.what = \(UsedKeys.gone))) IS NOT TRUE)
      """)
  }

  /// The nodes that were deleted, and since when another one has the key; null if that is not known.
  private static let all = """
    SELECT g.subject, g.key, CASE WHEN max(g.at) FILTER (WHERE g.what = \(reused))
        > max(g.at) FILTER (WHERE g.what = \(gone))
      THEN max(g.at) FILTER (WHERE g.what = \(reused)) END AS since
    FROM cascade.journal g WHERE g.what IN (\(gone), \(reused))
    GROUP BY 1, 2 HAVING bool_or(g.what = \(gone))
    """

  // MARK: - Join rows

  /// The batch of join rows that are not kept: they cannot come back.
  package static let batch: Int64 = -1

  /// A condition for the join rows `e` of which one end, that has one of these keys, was made anew after
  /// the other end had gone. They lead from nothing to nothing that is there.
  package func isEndedJoinRow(
    of relation: EdgeRelation, _ join: JoinTable, madeAnew end: EdgeEnd
  ) -> String {
    let (table, lost) = (relation.table(at: end), relation.table(at: end.other))
    let (columns, others) = (join.columns(at: end), join.columns(at: end.other))
    return """
      NOT EXISTS (SELECT FROM \(lost.name) t WHERE \(others.equal("e", lost.key, "t")))
      AND (SELECT max(g.at) FROM cascade.journal g WHERE g.what = \(UsedKeys.gone)
        AND g.subject = \(lost.number) AND g.key = \(others.text("e")))
      <= (SELECT u.since FROM (\(UsedKeys.all)) u
        WHERE u.subject = \(table.number) AND u.key = \(columns.text("e")))
      """
  }

  /// The keys that were used again, by the numbers of their tables.
  package static func usedAgain(_ db: borrowing Session) throws -> [Int64: [String]] {
    let rows = try db.run(
      "SELECT DISTINCT g.subject, g.key FROM cascade.journal g WHERE g.what = \(reused)"
    ).rows
    return Dictionary(grouping: rows) { Int64($0[0]!)! }.mapValues { $0.map { $0[1]! } }
  }
}
