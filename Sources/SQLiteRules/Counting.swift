internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

/// Rules 16 and 32: whether any edge of a name remains at a node.
///
/// The edges that nodes lose in a level are collected in `temp.level_losses`. They are subtracted
/// from the nodes that are in `temp.remaining_counts` already. A node that is not there yet is
/// added, and its remaining edges are counted, if an edge that it lost has the counting rule
/// (`asks`). Of several lost edges, one that has the rule is recorded as the reason.
extension Closure {
  private var counts: Bool {
    counted.values.contains { !$0.isEmpty } || !storedRules.isDisjoint(with: .counting)
  }

  /// Adds to D the nodes at which no edge of the name remains.
  func addNodesWithoutRemainingEdges(_ db: borrowing Connection) throws {
    if !counts { return }
    try db.run(
      """
      INSERT OR IGNORE INTO temp.gone(id, via, name, rule, collection)
      SELECT node, via, name, rule, collection FROM temp.remaining_counts
      WHERE remaining <= 0 AND node NOT IN (SELECT id FROM temp.blocked)
      AND node NOT IN (SELECT id FROM temp.pending_join_rows)
      ORDER BY node, rule, name
      """)
    try db.run("DELETE FROM temp.remaining_counts WHERE remaining <= 0")
  }

  /// In a sweep that follows no cascading rule: remembers the nodes that stay because of an edge
  /// that another kind of sweep may remove. If that edge does not have the counting rule, its loss
  /// alone would not have the node examined again.
  func rememberKeptByOtherRules(_ db: borrowing Connection) throws {
    if !followed.isDisjoint(with: .cascading) { return }
    for effect in RuleEffect.all(.deleteLast) {
      let silent = binding.examinedRelations.filter { !$0.rules.contains(effect.rule) }
        .map { "\($0.nameId)" }.unique.joined(separator: ", ")
      try db.run(
        """
        INSERT OR IGNORE INTO temp.new_candidates(id, via, name, rule, collection, waits_for)
        SELECT node, via, name, rule, collection, \(WaitsFor.removalByOtherKind.rawValue) FROM temp.remaining_counts
        WHERE remaining > 0 AND rule = \(effect.bit) AND (name IN (\(silent)) OR EXISTS (
          SELECT 1 FROM main.cascade_edge AS e
          WHERE e.\(effect.affectedEnd.rawValue) = remaining_counts.node
          AND e.name = remaining_counts.name AND NOT e.rules & \(effect.bit)))
        """)
    }
  }

  /// Counts what the nodes lose in a level. The removed edges are counted with the first level:
  /// they are in no table any more.
  func count(_ db: borrowing Connection, _ level: Level, withRemoved: Bool) throws {
    if !counts { return }
    let effects = RuleEffect.all(.deleteLast).filter { followed.contains($0.rule) }
    for effect in effects {
      if !level.ends.areAllByRow {
        try db.run(
          LossQuery.stored(losing: effect.lostEnd, in: level.slice).addingToLosses(effect))
      }
      for relation in counted[effect]! { try collect(db, effect, relation, level) }
    }
    if !binding.isEmpty {
      try db.numberFound()
      for effect in effects { try db.run(LossQuery.staged(effect).addingToLosses(effect)) }
      try db.clearFound()
    }
    if withRemoved {
      for effect in effects { try db.run(LossQuery.removed(effect).addingToLosses(effect)) }
    }
    try startCounts(db, effects, level)
    let tally = EdgeRelation.StartingNodes.tally.limited(to: "g.level = \(bind: level.number)")
    for table in binding.collections.values where numbers.tablesInNodes.contains(table.id) {
      try db.addKnownRows(table, tally)
    }
    for effect in effects {
      for relation in counted[effect]! { try countRemaining(db, effect, relation, at: tally) }
    }
    try db.run("DELETE FROM temp.level_losses")
  }

  /// Collects the edges of a relation that nodes lose. A source never goes with a file.
  private func collect(
    _ db: borrowing Connection, _ effect: RuleEffect, _ relation: EdgeRelation, _ level: Level
  ) throws {
    let end = effect.lostEnd
    if relation[end].kind == .files { return }
    if try end == .source && canCountAlongIndex(db, effect, relation, level) {
      return try collectAlongIndex(db, effect, relation, level)
    }
    let isThere = binding.edgeStillExists(relation, numbers)
    let forms = level.ends.forms(of: relation[end])
    if !numbers.isEachByRow(in: relation[end.other]) {
      return try db.stageNodes(
        losing: end, of: relation, forms, rule: effect.bit, in: level.slice, numbers, where: isThere
      )
    }
    for form in forms {
      let lost = LossQuery.edges(
        of: relation, losing: end, in: .gone.limited(to: level.slice), form, numbers,
        where: isThere)
      try db.run(lost.addingToLosses(effect))
    }
  }

  /// Subtracts the losses of the level, and adds the nodes that are counted for the first time,
  /// with the stored edges that remain.
  private func startCounts(
    _ db: borrowing Connection, _ effects: [RuleEffect], _ level: Level
  ) throws {
    try db.run(
      """
      UPDATE temp.remaining_counts SET remaining = remaining - l.edges FROM temp.level_losses AS l
      WHERE remaining_counts.rule = l.rule AND remaining_counts.node = l.node AND remaining_counts.name = l.name
      """)
    try db.run(
      """
      INSERT OR IGNORE INTO temp.remaining_counts(rule, node, name, remaining, via, level, collection)
      SELECT rule, node, name, coalesce(stays, 0), via, ?, collection FROM temp.level_losses
      WHERE asks AND node NOT IN (SELECT id FROM temp.gone)
      """, .integer(level.number))
    for effect in effects {
      try db.run(
        """
        UPDATE temp.remaining_counts SET remaining = remaining + (
          SELECT count(*) FROM main.cascade_edge AS r
          WHERE r.\(effect.affectedEnd.rawValue) = remaining_counts.node
          AND r.name = remaining_counts.name
          AND r.\(effect.lostEnd.rawValue) NOT IN (SELECT id FROM temp.gone))
        WHERE level = \(bind: level.number) AND rule = \(effect.bit)
        AND EXISTS (SELECT 1 FROM main.cascade_edge)
        """)
    }
  }

  /// Counts the edges of a relation that remain at the nodes that this level counts for the first
  /// time.
  private func countRemaining(
    _ db: borrowing Connection, _ effect: RuleEffect, _ relation: EdgeRelation,
    at tally: EdgeRelation.StartingNodes
  ) throws {
    let end = effect.affectedEnd
    let isThere = binding.edgeStillExists(relation, numbers)
    for form in numbers.forms(of: relation[end]) {
      try db.run(
        """
        UPDATE temp.remaining_counts SET remaining = remaining + l.edges
        FROM (
          SELECT g.node AS node, count(*) AS edges
          \(relation.edges(at: end, in: tally, form, numbers))
          AND \(relation.stays(end.other, numbers)) AND \(isThere)
          AND g.rule = \(effect.bit) AND g.name = \(relation.nameId)
          AND NOT EXISTS (SELECT 1 FROM temp.level_losses AS l
            WHERE l.rule = \(effect.bit) AND l.node = g.node AND l.name = \(relation.nameId)
            AND l.stays IS NOT NULL)
          GROUP BY 1
        ) AS l
        WHERE remaining_counts.rule = \(effect.bit) AND remaining_counts.node = l.node
        AND remaining_counts.name = \(relation.nameId)
        """)
    }
  }
}

extension Binding {
  func counted(
    _ effect: RuleEffect, stored: Rules, following followed: Rules
  ) -> [EdgeRelation] {
    if !followed.contains(effect.rule) { return [] }
    let names = Set(edgeRelations.filter { $0.rules.contains(effect.rule) }.map(\.name))
    return examinedRelations.filter { relation in
      (stored.contains(effect.rule) || names.contains(relation.name))
        && (effect.affectedEnd == .source
          ? relation.countsAtSource : countsAtDestination(relation))
    }
  }
}
