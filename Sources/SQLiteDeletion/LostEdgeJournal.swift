internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules

/// Journals edges in the application's tables that cannot be read there any more once one of their
/// ends is gone. What follows from the loss is then found in the journal, as it is for the stored
/// edges that a step removed (`JournalPositions.swift`).
///
/// 1. A sweep of one kind deletes join rows that lose one of their ends.
/// 2. A step does the same with join rows that were added since its plan was made.
/// 3. Once an object is gone, nothing tells what it was: it has no row and no watch.
extension Writer {
  /// To be called before the objects go, where deleting what follows from them may be left to later
  /// steps or to another kind of sweep.
  func journalReferences(toObjectsIn slice: Slice, _ ends: NodeCounts) throws {
    for relation in binding.edgeRelations
    where relation.destination.kind == .managed && ends.has(relation.destination) {
      try journal(relation, losing: .destination, relation.rules, slice)
    }
  }

  /// To be called before the rows go: journals the edges whose rules are left to another kind of
  /// sweep.
  func journalLostJoins(of relation: EdgeRelation, _ slice: Slice) throws {
    let others = relation.rules.subtracting(current.sweep.followedRules)
    // If the destinations are objects, the sources were journaled before.
    for end in EdgeEnd.allCases where end == .source || relation.destination.kind != .managed {
      try journal(relation, losing: end, others, slice)
    }
  }

  /// To be called before the rows go: journals the edges that the plan did not know. A node in the
  /// plan is left out, since its turn comes. A rule that counts does not ask for a node that has
  /// another edge which stays.
  func journalUnplanned(_ relation: EdgeRelation, _ slice: Slice) throws {
    let numbers = current.numbers
    let rules = relation.rules.intersection(current.sweep.followedRules)
    for effect in RuleEffect.all(.delete) {
      let (end, other) = (effect.lostEnd, effect.lostEnd.other)
      if end == .destination && relation.destination.kind == .managed { continue }
      try stage(relation, losing: end, rules, slice)
      if try db.integer("SELECT 1 FROM temp.staged LIMIT 1") == nil { continue }
      try db.numberFound()
      try db.run("DELETE FROM temp.staged WHERE id IN (SELECT id FROM temp.gone)")
      for form in numbers.forms(of: relation[other]) {
        try db.run(
          """
          DELETE FROM temp.staged WHERE rule <> \(effect.bit) AND id IN (
            SELECT g.id \(relation.edges(at: other, in: .found, form, numbers))
            AND \(relation.stays(end, numbers)))
          """)
      }
      try journalFound(losing: end, slice)
    }
  }

  private func journal(
    _ relation: EdgeRelation, losing end: EdgeEnd, _ rules: Rules, _ slice: Slice
  ) throws {
    try stage(relation, losing: end, rules, slice)
    try journalFound(losing: end, slice)
  }

  private func stage(
    _ relation: EdgeRelation, losing end: EdgeEnd, _ rules: Rules, _ slice: Slice
  ) throws {
    let following = rules.intersection(.deleting(losing: end)).rawValue
    if following == 0 { return }
    try db.stageNodes(
      losing: end, of: relation, rule: following, in: slice, current.numbers,
      from: current.numbers.existingReferences(relation),
      where: end == .source ? "1" : relation.leadsNowhereElse(staying: current.numbers))
  }

  /// Journals the edges in `temp.staged`. An edge that loses both ends runs no rule, and is left
  /// out. In a sweep in steps, a node that is to go in a later step may stay after all, so its edge
  /// is journaled.
  private func journalFound(losing end: EdgeEnd, _ slice: Slice) throws {
    if try db.integer("SELECT 1 FROM temp.staged LIMIT 1") == nil { return }
    try db.numberFound()
    try db.run(
      """
      DELETE FROM temp.staged AS f
      WHERE EXISTS (SELECT 1 FROM temp.gone AS g WHERE g.id = f.id AND g.seq <= ?)
      """, .integer(current.sweep.isStepped ? slice.high : .max))
    try persistFoundNumbers()
    let (source, destination) = end == .source ? ("v", "s") : ("s", "v")
    try db.run(
      generated: """
        INSERT INTO main.cascade_journal(what, key, a, b, c, d)
        WITH numbered AS MATERIALIZED (
          SELECT k.id AS id, n.id AS kept FROM temp.known AS k
          CROSS JOIN main.cascade_node AS n ON n.collection = k.collection AND n.key = k.key
          WHERE k.id IN (\(Writer.stagedEnds))
        )
        SELECT \(JournalSubject.tableEdge), \(end.removal), \(source).kept, f.name,
          \(destination).kept, f.rule
        FROM temp.staged AS f JOIN numbered AS s ON s.id = f.id JOIN numbered AS v ON v.id = f.via
        WHERE \(LossQuery.isLoss("f.id", via: "f.via"))
        """)
    try db.clearFound()
  }

  private static let stagedEnds = "SELECT id FROM temp.staged UNION SELECT via FROM temp.staged"

  /// Gives the nodes in `temp.staged` ids in `cascade_node`, which outlive the transaction.
  private func persistFoundNumbers() throws {
    try db.storeKeysOfRows(binding, Writer.stagedEnds)
    try db.run(
      """
      INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
      SELECT id, collection, key, NULL, 1 FROM main.cascade_node WHERE id IN (\(Writer.stagedEnds))
      """)
    try db.run(
      """
      INSERT INTO main.cascade_node(id, collection, key)
      SELECT \(bind: identities.counters.nextId) - 1 + row_number() OVER (), k.collection, k.key
      FROM (
        SELECT DISTINCT collection, key FROM temp.known WHERE id IN (\(Writer.stagedEnds))) AS k
      WHERE NOT EXISTS (
        SELECT 1 FROM main.cascade_node AS n WHERE n.collection = k.collection AND n.key = k.key)
      """)
    identities.counters.nextId += Int64(db.changes)
  }
}
