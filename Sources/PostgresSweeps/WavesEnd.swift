internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// The end of the waves, when nothing is deleted any more.
extension Waves {
  /// Nullifies references and writes notices, when nothing goes any more, and ends the work.
  /// Returns how many notices there are, and whether nodes are left that another session has locked.
  package mutating func finish(at now: Int64) throws -> (notices: Int, hasLocked: Bool) {
    var notices = 0
    try leaveToOtherKind()
    let last = try isSweep ? 0 : lastNotice()
    for relation in binding.relations { notices += try notify(relation, now, after: last) }
    // A join row goes with the node that it leads to.
    for relation in binding.relations(with: .nullifySourceIfDestinationDeleted)
    where relation.join == nil {
      count.edges += try removeReferences(relation)
    }
    try work.giveBackStopped()
    let hasLocked = try keepLocked()
    try LateReferences(store).remember(self)
    if isSweep || hasLeased { try BlockedNodes(store).keepCauses(of: self) }
    try db.execute(
      """
      DELETE FROM cascade.work WHERE batch = \(batch) AND done;
      DELETE FROM cascade.followed WHERE batch = \(batch)
      """)
    return (notices, hasLocked)
  }

  /// A batch of several flushes has earlier notices.
  private func lastNotice() throws -> Int64 {
    try db.run("SELECT coalesce(max(id), 0) FROM cascade.notice").integer ?? 0
  }

  private func notify(_ relation: EdgeRelation, _ now: Int64, after last: Int64) throws -> Int {
    var notices = 0
    if relation.rules.contains(.notifyIfSourceDeleted) {
      let lost = journaled(.lost, relation, relation.destination, "j.other")
      notices += try notify(Losses(relation: relation, end: .source, edges: lost), now, last)
    }
    if relation.rules.contains(.notifyIfDestinationDeleted) {
      let lost = journaled(.widowed, relation, relation.source, "j.key")
      notices += try notify(Losses(relation: relation, end: .destination, edges: lost), now, last)
      let isLeft = !relation.left.isDisjoint(with: .losingDestination)
      if relation.join == nil && !isLeft { notices += try notify(widowed(relation), now, last) }
    }
    return notices
  }

  /// Edges that lost one end.
  private struct Losses {
    let relation: EdgeRelation
    let end: EdgeEnd
    /// A query for their sources, destinations, and whether they are manual.
    let edges: String
    var values: [String?] = []
  }

  /// Of references that are in a row, and neither told of one by one, nor held back and told of.
  private func widowed(_ relation: EdgeRelation) throws -> Losses {
    let lost = try store.leads(relation, toAnyOf: gone(relation.destination, untold: true))
    let edges = """
      SELECT \(relation.source.key.text("s")), \(relation.to()), NULL::boolean
      FROM \(relation.edges()) WHERE \(lost.condition) AND \(relation.isDangling)
      AND \(isNotWaiting(relation))
      EXCEPT SELECT j.key, j.other, NULL FROM cascade.work j WHERE \(isDone(.widowed, relation))
      """
    return Losses(relation: relation, end: .destination, edges: edges, values: lost.values)
  }

  /// An edge that has two places gets one notice.
  private func notify(_ losses: Losses, _ now: Int64, _ last: Int64) throws -> Int {
    let (relation, losesSource) = (losses.relation, losses.end == .source)
    let others = binding.otherPlaces(of: relation).map { "\($0.number)" }
    let isTold = """
      l.is_manual IS NOT TRUE AND EXISTS (SELECT FROM cascade.notice n
        WHERE n.batch = \(batch) AND n.id > \(last) AND n.relation IN (\(others.joined(separator: ", ")))
        AND n.source = l.source AND n.destination = l.destination AND n.lost_source = \(losesSource)
        AND n.is_manual IS NOT TRUE)
      """
    return try db.run(
      """
      INSERT INTO cascade.notice(relation, source, destination, is_manual, lost_source, batch, at)
      SELECT DISTINCT \(relation.number), l.source, l.destination, l.is_manual, \(losesSource), \(batch),
        \(now) FROM (\(losses.edges)) l(source, destination, is_manual)
      WHERE \(others.isEmpty ? "true" : "NOT (\(isTold))")
      """, losses.values
    ).changed
  }

  /// The edges that the journal says lost one end, where the other is there.
  private func journaled(
    _ what: JournalSubject, _ relation: EdgeRelation, _ receiver: MappedTable, _ key: String
  ) -> String {
    let isOver =
      what == .lost
      ? binding.hasEdge(relation, lostIn: "j") : relation.isRestored(lostIn: "j")
    return """
      SELECT j.key, j.other, j.is_manual FROM cascade.work j WHERE \(isDone(what, relation))
      AND NOT j.told AND NOT \(isOver) AND \(receiver.has(key))
      """
  }

  // MARK: - References

  /// Sets references to null whose destination is gone, and takes it out of lists. Returns how many
  /// edges went.
  private mutating func removeReferences(_ relation: EdgeRelation) throws -> Int {
    let selection = try hasLostGone(relation)
    if !isSweep { return try removeReferences(relation, selection) }
    return try changeUnlessRefused(relation.source, selection, by: .update) {
      try $0.removeReferences(relation, $1)
    }
  }

  private func removeReferences(
    _ relation: EdgeRelation, _ selection: RowRemoval.Selection
  ) throws -> Int {
    switch relation.form {
    case .columns(let columns): try nullify(relation, columns, selection)
    case .list(let list): try shorten(relation, list, selection)
    case .join: 0
    }
  }

  private func nullify(
    _ relation: EdgeRelation, _ columns: Columns, _ selection: RowRemoval.Selection
  ) throws -> Int {
    let (source, emptied) = (relation.source, relation.emptied(columns))
    if binding.access(to: source.name) != .direct {
      return try changeByOwner(source, emptied, selection, relation, was: [relation.to()]).count
    }
    return try db.run(
      """
      WITH w AS (SELECT \(source.key.text("s")) AS key, \(relation.to()) AS value
        FROM \(selection.from(source)) WHERE \(selection.condition) FOR UPDATE),
      u AS (UPDATE \(source.name) s SET \(emptied.list) FROM w
        WHERE \(source.key.equal("s", text: "w.key")) AND \(columns.equal("s", text: "w.value")))
      INSERT INTO cascade.nullified(batch, relation, key, value)
      SELECT \(batch), \(relation.number), w.key, w.value FROM w
      """, selection.values
    ).changed
  }

  private func shorten(
    _ relation: EdgeRelation, _ list: ListColumn, _ selection: RowRemoval.Selection
  ) throws -> Int {
    let source = relation.source
    let isLost = relation.isLost(anyOf: gone(relation.destination))
    let rest = list.list("s", without: isLost)
    let lost = "(SELECT count(*) FROM \(list.elements("s")) WHERE \(isLost))"
    if binding.access(to: source.name) != .direct {
      let rows = try changeByOwner(
        source, [Assignment(list.name, rest)], selection, relation,
        was: ["s.\(list.name)", "(\(rest))", lost])
      return rows.rows.reduce(0) { $0 + (Int($1[3] ?? "") ?? 0) }
    }
    let removed = try db.run(
      """
      WITH w AS (SELECT \(source.key.text("s")) AS key, s.\(list.name)::text AS value, \(lost) AS lost
        FROM \(selection.from(source)) WHERE \(selection.condition) FOR UPDATE),
      u AS (UPDATE \(source.name) s SET \(list.name) = \(rest)
        FROM w WHERE \(source.key.equal("s", text: "w.key"))
        RETURNING w.key, w.value, w.lost, s.\(list.name)::text AS rest),
      n AS (INSERT INTO cascade.nullified(batch, relation, key, value, rest)
        SELECT \(batch), \(relation.number), u.key, u.value, u.rest FROM u)
      SELECT coalesce(sum(u.lost), 0) FROM u
      """, selection.values
    ).integer
    return Int(removed ?? 0)
  }

  /// Where tables have several owners. `was` are the value that is removed, and what is left of a list.
  private func changeByOwner(
    _ table: MappedTable, _ set: [Assignment], _ selection: RowRemoval.Selection,
    _ relation: EdgeRelation, was: [String]
  ) throws -> Rows {
    let statement = binding.update(
      table.name, "s", set: set, where: selection.condition,
      returning: [table.key.text("s")] + was)
    let rows = try store.writing(table.name) { try db.run(statement, selection.values) }
    let columns = ["key", "value", "rest"].prefix(max(2, was.count))
    let values = columns.indices.map { place in arrayText(rows.rows.map { $0[place] ?? "" }) }
    try db.run(
      """
      INSERT INTO cascade.nullified(batch, relation, \(columns.joined(separator: ", ")))
      SELECT \(batch), \(relation.number), n.*
      FROM unnest(\(columns.indices.map { "$\($0 + 1)::text[]" }.joined(separator: ", "))) n
      """, values)
    return rows
  }

  /// What could go, but was locked by another session, comes back into the journal.
  private func keepLocked() throws -> Bool {
    var isAny = false
    func keep(
      _ what: JournalSubject, _ relation: EdgeRelation, _ table: MappedTable, _ row: String,
      _ key: String, _ isHeld: String
    ) throws {
      let kept = try db.run(
        """
        WITH k AS (DELETE FROM cascade.work j WHERE \(isDone(what, relation))
          AND (SELECT NOT \(isHeld) AND \(isNotBlocked(table, row))
            FROM \(table.name) \(row) WHERE \(table.key.equal(row, text: key)))
          RETURNING j.*)
        INSERT INTO cascade.journal(what, subject, key, other, told, is_manual, plan)
        SELECT what, subject, key, other, told, is_manual, \(plan.map { "\($0)" } ?? "NULL")::bigint FROM k
        """)
      if kept.changed > 0 { isAny = true }
    }
    for relation in binding.relations(with: .deleteDestinationIfAllSourcesDeleted)
    where !isWhole || keptDestinations.contains(relation.number) {
      try keep(
        .lost, relation, relation.destination, "t", "j.other", binding.hasSource(relation))
    }
    for relation in binding.relations(with: .deleteSourceIfAllDestinationsDeleted) {
      try keep(.widowed, relation, relation.source, "s", "j.key", binding.hasDestination(relation))
    }
    return isAny
  }
}
