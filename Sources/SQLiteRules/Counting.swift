internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteTables

/// Rules 16 and 32: whether any edge of a name remains at a node.
///
/// The edges that nodes lose in a level are collected in `temp.level_losses`. They are subtracted from
/// the nodes that are in `temp.remaining_counts` already. A node that is not there yet is added, and its
/// remaining edges are counted, if an edge that it lost has the counting rule (`asks`). Of several
/// lost edges, one that has the rule is recorded as the reason.
extension Closure {
  private var counts: Bool {
    !countedAtSources.isEmpty || !countedAtDestinations.isEmpty
      || !storedRules.isDisjoint(with: .counting)
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
    for rule in [16, 32] as [Int64] {
      let silent = binding.examinedRelations.filter { $0.rules.rawValue & rule == 0 }
        .map { "\($0.nameId)" }.unique.joined(separator: ", ")
      try db.run(
        generated: """
          INSERT OR IGNORE INTO temp.new_candidates(id, via, name, rule, collection, waits_for)
          SELECT node, via, name, rule, collection, \(WaitsFor.removalByOtherKind.rawValue)
          FROM temp.remaining_counts
          WHERE remaining > 0 AND rule = ?1 AND (name IN (\(silent)) OR EXISTS (
            SELECT 1 FROM main.cascade_edge AS e
            WHERE e.\(rule == 16 ? "source" : "destination") = remaining_counts.node AND e.name = remaining_counts.name
            AND NOT e.rules & ?1))
          """, [.integer(rule)])
    }
  }

  /// Counts what the nodes lose in a level. The removed edges are counted with the first level:
  /// they are in no table any more.
  func count(_ db: borrowing Connection, _ level: Level, withRemoved: Bool) throws {
    if !counts { return }
    if !level.ends.areAllByRow { try collectStored(db, level) }
    for relation in countedAtDestinations { try collectDestinations(db, relation, level) }
    for relation in countedAtSources where !relation.leadsToFiles {
      try collectSources(db, relation, level)
    }
    if !binding.isEmpty { try collectFound(db) }
    if withRemoved { try collectRemoved(db) }
    try tally(db, level)
    for table in binding.collections.values where numbers.tablesInNodes.contains(table.id) {
      try db.addKnownRows(table, .tally, where: "g.level = ?1", [.integer(level.number)])
    }
    for relation in countedAtDestinations { try countSources(db, relation, level) }
    for relation in countedAtSources { try countDestinations(db, relation, level) }
    try db.empty(.levelLosses)
  }

  private func collectStored(_ db: borrowing Connection, _ level: Level) throws {
    try db.run(
      """
      INSERT INTO temp.level_losses
      SELECT 32, e.destination, e.name, count(*),
        coalesce(min(iif(e.rules & ?1 & 32, e.source, NULL)), min(e.source)),
        max(e.rules & ?1 & 32 <> 0),
        (SELECT collection FROM cascade_node AS n WHERE n.id = e.destination), NULL
      FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
      WHERE g.seq > ?2 AND g.seq <= ?3 GROUP BY 2, 3
      """, .integer(followed.rawValue), .integer(level.slice.low), .integer(level.slice.high))
    try db.run(
      """
      INSERT INTO temp.level_losses
      SELECT 16, e.source, e.name, count(*),
        coalesce(min(iif(e.rules & ?1 & 16, e.destination, NULL)), min(e.destination)),
        max(e.rules & ?1 & 16 <> 0),
        (SELECT collection FROM cascade_node AS n WHERE n.id = e.source), NULL
      FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
      WHERE g.seq > ?2 AND g.seq <= ?3 GROUP BY 2, 3
      """, .integer(followed.rawValue), .integer(level.slice.low), .integer(level.slice.high))
  }

  private func collectDestinations(
    _ db: borrowing Connection, _ relation: EdgeRelation, _ level: Level
  ) throws {
    if try canCountAlongIndex(db, of: relation, level) {
      return try collectAlongIndex(db, relation, level)
    }
    for form in level.ends.forms(of: relation.source) {
      if numbers.isEachByRow(in: relation.destination) {
        let edges = relation.edgesFromSources(in: .gone, form, withDestinations: true)
        try collect(db, 32, relation, relation.destination, "d", edges, level)
      } else {
        try db.stageDestinations(of: relation, form, rule: 32, in: level.slice, numbers)
      }
    }
  }

  private func collectSources(
    _ db: borrowing Connection, _ relation: EdgeRelation, _ level: Level
  ) throws {
    let isThere = binding.edgeStillExists(relation, numbers)
    for form in level.ends.forms(of: relation.destination) {
      if numbers.isEachByRow(in: relation.source) {
        let edges = relation.edgesToDestinations(in: .gone, form, numbers) + " AND \(isThere)"
        try collect(db, 16, relation, relation.source, "s", edges, level)
      } else {
        try db.stageSources(
          of: relation, form, rule: 16, in: level.slice, numbers, where: isThere)
      }
    }
  }

  /// For nodes that are all numbered by their rows: no key has to be looked up, so they need not be
  /// staged.
  private func collect(
    _ db: borrowing Connection, _ rule: Int64, _ relation: EdgeRelation, _ losers: NodeTable,
    _ row: String,
    _ edges: String, _ level: Level
  ) throws {
    try db.run(
      generated: """
        INSERT INTO temp.level_losses
        SELECT ?1, \(losers.number(row, numbers)), \(relation.nameId), count(*), min(g.id),
          \(relation.rules.rawValue) & ?1 <> 0, \(losers.id), NULL
        \(edges) AND g.seq > ?2 AND g.seq <= ?3 GROUP BY 2
        \(Closure.addUpLosses)
        """, [.integer(rule)] + level.slice.bound)
  }

  private func collectFound(_ db: borrowing Connection) throws {
    try db.numberFound()
    try db.run(
      generated: """
        INSERT INTO temp.level_losses
        SELECT rule, id, name, count(*), coalesce(min(iif(asks, via, NULL)), min(via)), max(asks),
          collection, NULL FROM temp.staged
        WHERE true GROUP BY 1, 2, 3
        \(Closure.addUpLosses)
        """, [])
    try db.clearFound()
  }

  /// The node may lose edges of this name in another relation too: the losses are added up.
  static let addUpLosses = """
    ON CONFLICT DO UPDATE SET edges = edges + excluded.edges, asks = max(asks, excluded.asks),
      via = iif(asks < excluded.asks, excluded.via, via), stays = coalesce(stays, excluded.stays)
    """

  private func collectRemoved(_ db: borrowing Connection) throws {
    try db.run(
      generated: """
        INSERT INTO temp.level_losses
        SELECT f.*,
          iif(f.node < 0, \(NodeTable.collection(ofRow: "f.node")),
            coalesce(n.collection, k.collection)), NULL
        FROM (
          SELECT 32, destination AS node, name, 0, min(source), 1 FROM temp.lost_edges
          WHERE removal = \(Removal.sourceDeleted.code) AND rules & ?1 & 32 GROUP BY 2, 3
          UNION ALL
          SELECT 16, source, name, 0, min(destination), 1 FROM temp.lost_edges
          WHERE removal = \(Removal.destinationDeleted.code) AND rules & ?1 & 16 GROUP BY 2, 3
        ) AS f
        LEFT JOIN main.cascade_node AS n ON n.id = f.node
        LEFT JOIN temp.known AS k ON k.id = f.node
        WHERE true
        ON CONFLICT DO UPDATE SET asks = 1, via = iif(asks, via, excluded.via)
        """, [.integer(followed.rawValue)])
  }

  private func tally(_ db: borrowing Connection, _ level: Level) throws {
    let number = Value.integer(level.number)
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
      """, number)
    try db.run(
      """
      UPDATE temp.remaining_counts SET remaining = remaining + (
        SELECT count(*) FROM cascade_edge AS r
        WHERE r.destination = remaining_counts.node AND r.name = remaining_counts.name
        AND r.source NOT IN (SELECT id FROM temp.gone))
      WHERE level = ? AND rule = 32 AND EXISTS (SELECT 1 FROM cascade_edge)
      """, number)
    try db.run(
      """
      UPDATE temp.remaining_counts SET remaining = remaining + (
        SELECT count(*) FROM cascade_edge AS r
        WHERE r.source = remaining_counts.node AND r.name = remaining_counts.name
        AND r.destination NOT IN (SELECT id FROM temp.gone))
      WHERE level = ? AND rule = 16 AND EXISTS (SELECT 1 FROM cascade_edge)
      """, number)
  }

  /// Counts the sources that remain at the nodes that this level counts for the first time.
  private func countSources(
    _ db: borrowing Connection, _ relation: EdgeRelation, _ level: Level
  ) throws {
    let stays = " AND \(relation.source.stays("s", numbers))"
    for form in numbers.forms(of: relation.destination) {
      try add(
        db, 32, relation, relation.edgesToDestinations(in: .tally, form, numbers) + stays, level)
    }
  }

  private func countDestinations(
    _ db: borrowing Connection, _ relation: EdgeRelation, _ level: Level
  ) throws {
    let stays = relation.leadsToFiles ? "1" : relation.destination.stays("d", numbers)
    let isThere = binding.edgeStillExists(relation, numbers)
    for form in numbers.forms(of: relation.source) {
      let edges = relation.edgesFromSources(
        in: .tally, form, withDestinations: !relation.leadsToFiles)
      try add(db, 16, relation, "\(edges) AND \(stays) AND \(isThere)", level)
    }
  }

  private func add(
    _ db: borrowing Connection, _ rule: Int64, _ relation: EdgeRelation, _ edges: String,
    _ level: Level
  ) throws {
    try db.run(
      generated: """
        UPDATE temp.remaining_counts SET remaining = remaining + l.edges
        FROM (
          SELECT g.node AS node, count(*) AS edges
          \(edges) AND g.level = ?3 AND g.rule = ?1 AND g.name = ?2
          AND NOT EXISTS (SELECT 1 FROM temp.level_losses AS l
            WHERE l.rule = ?1 AND l.node = g.node AND l.name = ?2 AND l.stays IS NOT NULL)
          GROUP BY 1
        ) AS l
        WHERE remaining_counts.rule = ?1 AND remaining_counts.node = l.node AND remaining_counts.name = ?2
        """, [.integer(rule), .integer(relation.nameId), .integer(level.number)])
  }
}

extension Binding {
  func countedAtSources(stored: Rules, following followed: Rules) -> [EdgeRelation] {
    counted(.deleteSourceIfAllDestinationsDeleted, stored, followed).filter(\.countsAtSource)
  }

  func countedAtDestinations(stored: Rules, following followed: Rules) -> [EdgeRelation] {
    counted(.deleteDestinationIfAllSourcesDeleted, stored, followed)
      .filter(countsAtDestination)
  }

  private func counted(_ rule: Rules, _ stored: Rules, _ followed: Rules) -> [EdgeRelation] {
    if !followed.contains(rule) { return [] }
    if stored.contains(rule) { return examinedRelations }
    let names = Set(edgeRelations.filter { $0.rules.contains(rule) }.map(\.name))
    return examinedRelations.filter { names.contains($0.name) }
  }
}
