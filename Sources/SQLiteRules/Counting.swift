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
      WHERE remaining <= 0 AND node NOT IN (SELECT id FROM temp.pending_join_rows)
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
    for effect in effects where !level.ends.areAllByRow {
      try db.run(
        LossQuery.stored(losing: effect.lostEnd, in: level.slice).amongUsedKeys(level.hasUsedKeys)
          .addingToLosses(effect))
    }
    for isJoin in level.hasUsedKeys ? [true, false] : [nil] {
      try collect(db, effects, level, inJoinTables: isJoin)
    }
    if withRemoved {
      for effect in effects { try db.run(LossQuery.removed(effect).addingToLosses(effect)) }
    }
    try startCounts(db, effects, level)
    let tally = EdgeRelation.StartingNodes.tally.limited(to: "g.level = \(bind: level.number)")
    try db.addKnownRows(binding, numbers, tally)
    for effect in effects {
      for relation in counted[effect]! { try countRemaining(db, effect, relation, at: tally) }
    }
    try db.run("DELETE FROM temp.level_losses")
  }

  /// Those of relations in join tables, or of all others; nil: of all.
  private func collect(
    _ db: borrowing Connection, _ effects: [RuleEffect], _ level: Level, inJoinTables isJoin: Bool?
  ) throws {
    for effect in effects {
      for relation in counted[effect]!
      where relation.isInJoinTable == isJoin ?? relation.isInJoinTable {
        try collect(db, effect, relation, level)
      }
    }
    if binding.isEmpty { return }
    try db.numberFound()
    for effect in effects {
      try db.run(LossQuery.staged(effect).amongUsedKeys(isJoin == true).addingToLosses(effect))
    }
    try db.clearFound()
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
    let isThere =
      end == .source
      ? binding.edgeStillExists(relation, numbers)
      : "\(binding.edgeStillExists(relation, numbers)) AND \(relation.isNotWaiting(numbers))"
    let forms = level.ends.forms(of: relation[end])
    if !numbers.isEachByRow(in: relation[end.other]) {
      return try db.stageNodes(
        losing: end, of: relation, forms, rule: effect.bit, in: level.slice, numbers, where: isThere
      )
    }
    for form in forms {
      let lost = LossQuery.edges(
        of: relation, losing: end, in: .gone.limited(to: level.slice), form, numbers,
        where: isThere
      ).amongUsedKeys(level.hasUsedKeys && relation.isInJoinTable)
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

  // MARK: - Rule 32 where a large part of a table goes in one level
  //
  // The index on the reference column has all references to one node side by side. So one walk along
  // it tells how many edges each node loses, and how many stay. This is faster than looking up each
  // row that goes, and then counting at each node that loses one.

  /// Whether the walk pays off, and this index has every edge of the name that a row can be.
  func canCountAlongIndex(
    _ db: borrowing Connection, _ effect: RuleEffect, _ relation: EdgeRelation, _ level: Level
  ) throws -> Bool {
    guard !level.hasUsedKeys, case .column(let columns, nil) = relation.form, columns.count == 1,
      let table = relation.source.table, table.hasIndex(on: columns), relation.destination.isMapped,
      relation.tellsKeysApart,
      !counted[effect]!.contains(where: {
        $0 != relation && $0.nameId == relation.nameId && $0.destination == relation.destination
      }),
      numbers.isEachByRow(in: relation.source), numbers.isEachByRow(in: relation.destination)
    else { return false }
    let going = level.ends.byRow(of: relation.source)
    if going == 0 { return false }
    // The range of the rowids is an upper bound of the number of rows. This takes two searches
    // instead of a count. It is too large where rows were deleted.
    let (rows, row) = (relation.source.rows, relation.source.row("d"))
    let most = try db.integer(
      generated: """
        SELECT (SELECT max(\(row)) FROM \(rows) AS d) - (SELECT min(\(row)) FROM \(rows) AS d) + 1
        """)
    return going * 2 >= most ?? 0
  }

  func collectAlongIndex(
    _ db: borrowing Connection, _ effect: RuleEffect, _ relation: EdgeRelation, _ level: Level
  ) throws {
    try db.run(
      generated: """
        INSERT INTO temp.level_losses
        SELECT \(effect.bit), \(relation.destination.number("d", numbers)), \(relation.nameId), sum(l.goes), min(l.via),
          \(relation.rules.rawValue & effect.bit) <> 0, \(relation.destination.id), sum(l.stays)
        FROM (
          SELECT \(relation.reference.value) AS reference, count(iif(g.seq > ?1, 1, NULL)) AS goes,
            min(iif(g.seq > ?1, g.id, NULL)) AS via, count(*) - count(g.id) AS stays
          FROM \(relation.source.rows) AS s
          LEFT JOIN temp.gone AS g ON g.id = \(relation.source.number("s", numbers))
          WHERE \(relation.isEdge) AND \(relation.source.isNode("s", numbers)) GROUP BY 1
        ) AS l \(relation.destinationRow(of: Reference("l.reference"))) GROUP BY 2 HAVING sum(l.goes) > 0
        \(LossQuery.addUp)
        """, [.integer(level.slice.low)])
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

extension EdgeRelation {
  /// Whether values that are equal for the column always lead to the same node.
  fileprivate var tellsKeysApart: Bool {
    let column = referringColumns.first.flatMap { referringTable?.column($0) }
    let own = column?.collation.uppercased() ?? "BINARY"
    return own == "BINARY" || own == destination.collations?.first?.uppercased()
  }
}
