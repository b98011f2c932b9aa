internal import CascadeModel
internal import CascadePostgres

/// The end of the waves, when nothing is deleted any more.
extension Waves {
  /// Nullifies references and writes notices, when nothing goes any more, and empties the journal.
  /// Returns how many notices there are, and whether nodes are left that another session has locked.
  mutating func finish(at now: Int64) throws -> (notices: Int, hasLocked: Bool) {
    var notices = 0
    for relation in binding.relations { notices += try notify(relation, now) }
    for relation in binding.relations(with: .nullifySourceIfDestinationDeleted) {
      count.edges += try nullify(relation) + shorten(relation)
    }
    let hasLocked = try keepLocked()
    try LateReferences(store).remember(batch)
    try db.run("DELETE FROM cascade.journal WHERE batch = \(batch) AND done")
    return (notices, hasLocked)
  }

  private func notify(_ relation: EdgeRelation, _ now: Int64) throws -> Int {
    var notices = 0
    if relation.rules.contains(.notifyIfSourceDeleted) {
      notices += try notify(
        relation, now, losesSource: true,
        journaled(.lost, relation, relation.destination, "j.other"))
    }
    if relation.rules.contains(.notifyIfDestinationDeleted) {
      var widowed = journaled(.widowed, relation, relation.source, "j.key")
      if relation.join == nil {
        widowed += """
           UNION ALL SELECT \(relation.source.key.text("s")), \(relation.to())
          FROM \(relation.edges()) WHERE \(isWidowed(relation))
          """
      }
      notices += try notify(relation, now, losesSource: false, widowed)
    }
    return notices
  }

  private func notify(
    _ relation: EdgeRelation, _ now: Int64, losesSource: Bool, _ edges: String
  ) throws -> Int {
    try db.run(
      """
      INSERT INTO cascade.notice(relation, source, destination, lost_source, batch, at)
      SELECT DISTINCT \(relation.number), l.source, l.destination, \(losesSource), \(batch), \(now)
      FROM (\(edges)) l(source, destination)
      """
    ).changed
  }

  /// The edges that the journal says lost one end, where the other is there.
  private func journaled(
    _ what: JournalSubject, _ relation: EdgeRelation, _ receiver: MappedTable, _ key: String
  ) -> String {
    let isOver =
      what == .lost
      ? relation.hasEdge("j.key", "j.other") : relation.isRestored("j.key", "j.other")
    return """
      SELECT j.key, j.other FROM cascade.journal j WHERE \(isDone(what, relation))
      AND NOT \(isOver) AND \(receiver.has(key))
      """
  }

  /// Whether the destination of an edge is gone.
  private func isWidowed(_ relation: EdgeRelation) -> String {
    "\(relation.leads(toAnyOf: gone(relation.destination))) AND \(relation.isDangling)"
  }

  private func nullify(_ relation: EdgeRelation) throws -> Int {
    guard let columns = relation.columns else { return 0 }
    let key = relation.source.key
    return try db.run(
      """
      WITH w AS (SELECT \(key.text("s")) AS key, \(relation.to()) AS value
        FROM \(relation.source.name) s WHERE \(isWidowed(relation)) FOR UPDATE),
      u AS (UPDATE \(relation.source.name) s
        SET \(columns.all.map { "\($0.name) = NULL" }.joined(separator: ", ")) FROM w
        WHERE \(key.equal("s", text: "w.key")) AND \(columns.equal("s", text: "w.value")))
      INSERT INTO cascade.nullified(batch, relation, key, value)
      SELECT \(batch), \(relation.number), w.key, w.value FROM w
      """
    ).changed
  }

  /// Takes what is gone out of lists. Returns how many edges went.
  private func shorten(_ relation: EdgeRelation) throws -> Int {
    guard let list = relation.list else { return 0 }
    let (source, gone) = (relation.source, gone(relation.destination))
    let isLost = relation.isLost(anyOf: gone)
    let removed = try db.run(
      """
      WITH w AS (SELECT \(source.key.text("s")) AS key, s.\(list.name)::text AS value,
        (SELECT count(*) FROM \(list.elements("s")) WHERE \(isLost)) AS lost
        FROM \(source.name) s WHERE \(relation.hasLost(anyOf: gone)) FOR UPDATE),
      u AS (UPDATE \(source.name) s SET \(list.name) = \(list.list("s", without: isLost))
        FROM w WHERE \(source.key.equal("s", text: "w.key"))
        RETURNING w.key, w.value, w.lost, s.\(list.name)::text AS rest),
      n AS (INSERT INTO cascade.nullified(batch, relation, key, value, rest)
        SELECT \(batch), \(relation.number), u.key, u.value, u.rest FROM u)
      SELECT coalesce(sum(u.lost), 0) FROM u
      """
    ).integer
    return Int(removed ?? 0)
  }

  /// What could go, but was locked by another session, stays in the journal.
  private func keepLocked() throws -> Bool {
    var isAny = false
    func keep(
      _ what: JournalSubject, _ relation: EdgeRelation, _ table: MappedTable, _ row: String,
      _ key: String, _ isHeld: String
    ) throws {
      let kept = try db.run(
        """
        UPDATE cascade.journal j SET done = false, batch = NULL WHERE \(isDone(what, relation))
        AND EXISTS (SELECT FROM \(table.name) \(row) WHERE \(table.key.equal(row, text: key))
          AND NOT \(isHeld) AND \(Removal.isNotBlocked(table, row, binding)))
        """)
      if kept.changed > 0 { isAny = true }
    }
    for relation in binding.relations(with: .deleteDestinationIfAllSourcesDeleted) {
      try keep(
        .lost, relation, relation.destination, "t", "j.other", binding.hasSource(relation))
    }
    for relation in binding.relations(with: .deleteSourceIfAllDestinationsDeleted) {
      try keep(.widowed, relation, relation.source, "s", "j.key", binding.hasDestination(relation))
    }
    return isAny
  }
}
