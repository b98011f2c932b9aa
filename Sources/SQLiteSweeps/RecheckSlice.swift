internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteTables
internal import SQLiteRules

/// Rechecks a slice, under the lock, before it is deleted, if other connections have committed
/// since the plan was made. For each node it asks whether its reason to be deleted still holds
/// (DESIGN 2.5).
///
/// A node whose case is unclear stays. The sweep makes another plan as long as there is such a
/// node.
extension Writer {
  /// Returns what of the slice is still to be deleted.
  func recheckSlice(_ slice: Slice) throws -> NodeCounts {
    try db.run("UPDATE temp.removed_up_to SET seq = ?", .integer(slice.low))
    let ends = try db.nodeCounts(in: slice)
    try excludeLeased(slice)
    if ends.has(rule: 0) { try excludeReturned(slice) }
    try excludeFollowersOfExcluded(slice)
    for relation in binding.examinedRelations { try excludeStillLinked(relation, slice, ends) }
    try excludeNoLongerDangling(slice, ends)
    try excludeChangedRows(slice)
    try excludeDeniedByLater(slice, ends)
    try removeExcludedFromPlan(slice)
    try excludeReachable(slice)
    let denials = try db.denials(
      binding, current.numbers, stored: identities.counters.rulesSeen, in: slice, ends)
    if !denials.isEmpty {
      current.block(denials.map(\.reason))
      try exclude(denials.map(\.denied))
    }
    return current.step.hasSkippedNodes ? try db.nodeCounts(in: slice) : ends
  }

  /// Takes nodes out of the plan. What would follow from them then stays too.
  func exclude(_ nodes: some Sequence<Int64>) throws {
    for node in nodes {
      try db.run("INSERT OR IGNORE INTO temp.staying_nodes VALUES(?)", .integer(node))
    }
    try removeExcludedFromPlan(.all)
  }

  /// Returns whether any node was in the plan.
  @discardableResult
  func removeExcludedFromPlan(_ slice: Slice) throws -> Bool {
    try db.run(
      """
      DELETE FROM temp.gone WHERE seq > ? AND seq <= ? AND id IN (SELECT id FROM temp.staying_nodes)
      """, .integer(slice.low), .integer(slice.high))
    if db.changes == 0 { return false }
    current.step.hasSkippedNodes = true
    return true
  }

  /// Keeps nodes that have been leased since the plan was made.
  private func excludeLeased(_ slice: Slice) throws {
    try db.findLeased(binding, current.numbers, at: clock.now)
    try db.run(
      """
      INSERT OR IGNORE INTO temp.staying_nodes SELECT id FROM temp.gone
      WHERE seq > ? AND seq <= ? AND (rule <> 0 OR counts) AND (id IN (SELECT id FROM temp.leased)
        OR collection IN (SELECT id FROM temp.leased_collection))
      """, .integer(slice.low), .integer(slice.high))
  }

  /// Keeps nodes whose row was gone and exists again.
  private func excludeReturned(_ slice: Slice) throws {
    for table in binding.collections.values {
      try exclude(
        slice,
        """
        SELECT g.id FROM temp.gone AS g
        CROSS JOIN temp.known AS k ON k.id = g.id AND k.collection = \(table.id)
        CROSS JOIN \(table.rows) AS d ON \(table.hasKey("d", "k.key"))
        WHERE g.rule = 0 AND NOT k.present
        """)
    }
  }

  /// Keeps nodes whose cause stays.
  private func excludeFollowersOfExcluded(_ slice: Slice) throws {
    try exclude(
      slice,
      """
      SELECT g.id FROM temp.gone AS g WHERE g.via IN (SELECT id FROM temp.staying_nodes)
      """)
  }

  /// Keeps nodes that still have an edge of the name. The plan expected every such edge to be lost
  /// before its node's turn. But the node at the other end may be in the plan too, and stay when
  /// its turn comes.
  private func excludeStillLinked(_ relation: EdgeRelation, _ slice: Slice, _ ends: NodeCounts)
    throws
  {
    if ends.has(rule: 32) && binding.countsAtDestination(relation) {
      try excludeDestinations(relation, slice, ends, rule: 32)
    }
    // One lost edge is enough to delete the destination. If its source exists again, the next plan
    // can tell what follows.
    if ends.has(rule: 8) && relation.rules.contains(.deleteDestinationIfSourceDeleted) {
      let isBack = "AND \(relation.source.mayBeNode("g.via", "s", current.numbers))"
      try excludeDestinations(relation, slice, ends, rule: 8, where: isBack)
    }
    if !ends.has(rule: 16) || !relation.countsAtSource { return }
    for form in ends.forms(of: relation.source) {
      try exclude(
        slice,
        """
        SELECT g.id \(relation.edgesFromSources(in: .gone, form))
        AND g.rule = 16 AND g.name = \(relation.nameId)
        """)
    }
  }

  private func excludeDestinations(
    _ relation: EdgeRelation, _ slice: Slice, _ ends: NodeCounts, rule: Int,
    where condition: String = ""
  ) throws {
    for form in ends.forms(of: relation.destination) {
      try exclude(
        slice,
        """
        SELECT g.id \(relation.edgesToDestinations(in: current.numbers.existingReferences(relation), form, current.numbers))
        AND g.rule = \(rule) AND g.name = \(relation.nameId) \(condition)
        """)
    }
  }

  /// Keeps nodes that were to be deleted with a node they referred to, and no longer refer to any
  /// such node.
  private func excludeNoLongerDangling(_ slice: Slice, _ ends: NodeCounts) throws {
    if ends.has(rule: 4) {
      let relations = binding.examinedRelations.filter {
        $0.rules.contains(.deleteSourceIfDestinationDeleted)
      }
      try excludeNoLongerDangling(slice, ends, rule: 4, relations)
    }
    if ends.has(rule: 16) {
      try excludeNoLongerDangling(
        slice, ends, rule: 16,
        binding.examinedRelations.filter { $0.countsAtSource && !$0.leadsToFiles })
    }
  }

  private func excludeNoLongerDangling(
    _ slice: Slice, _ ends: NodeCounts, rule: Int, _ relations: [EdgeRelation]
  ) throws {
    for (source, relations) in Dictionary(grouping: relations, by: \.source) {
      for (name, alike) in Dictionary(grouping: relations, by: \.nameId) {
        for form in ends.forms(of: source) {
          let missing = alike.map { "NOT \($0.refersToMissingNode)" }
          try exclude(
            slice,
            """
            SELECT g.id FROM temp.gone AS g CROSS JOIN \(source.row("s", of: "g.id", form))
            WHERE g.rule = \(rule) AND g.name = \(name) AND g.via IN (SELECT id FROM temp.gone)
            AND \(missing.joined(separator: " AND "))
            """)
        }
      }
    }
  }

  /// Another connection deleted rows of the table, so another row may have taken the place of a
  /// planned one. A node that is deleted by rule 4 needs no check of its row: its reference to
  /// nothing proves the reason.
  private func excludeChangedRows(_ slice: Slice) throws {
    for table in binding.collections.values
    where current.step.collectionsChangedByOthers.contains(table.id) && table.table?.rowid != nil {
      try exclude(
        slice,
        """
        SELECT g.id FROM temp.gone AS g
        WHERE g.rule <> 4 AND (g.rule <> 0 OR g.counts) AND \(table.hasRow("g.id"))
        """)
      try exclude(
        slice,
        """
        SELECT g.id FROM temp.gone AS g
        CROSS JOIN temp.known AS k ON k.id = g.id AND k.collection = \(table.id)
        WHERE k.row IS NOT NULL AND (g.rule <> 0 OR g.counts) AND NOT EXISTS (
          SELECT 1 FROM \(table.rows) AS d
          WHERE \(table.row("d")) = k.row AND \(table.hasKey("d", "k.key")))
        """)
    }
  }

  /// Keeps nodes that are denied by a node that is later in the plan. That node may stay when its
  /// turn comes. If it goes, the next plan deletes the denied node.
  private func excludeDeniedByLater(_ slice: Slice, _ ends: NodeCounts) throws {
    if rulesInUse.isDisjoint(with: .denying) { return }
    for relation in binding.examinedRelations { try stageDenying(by: relation, slice, ends) }
    try db.run(
      """
      INSERT INTO temp.staged(id, via)
      SELECT e.source, g.id
      FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
      WHERE g.counts AND g.seq > ?1 AND g.seq <= ?2 AND e.rules & 128
      UNION ALL
      SELECT e.destination, g.id
      FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
      WHERE g.counts AND g.seq > ?1 AND g.seq <= ?2 AND e.rules & 256
      """, .integer(slice.low), .integer(slice.high))
    try db.numberFound()
    try db.run(
      """
      INSERT OR IGNORE INTO temp.staying_nodes
      SELECT f.via FROM temp.staged AS f CROSS JOIN temp.gone AS g ON g.id = f.id
      WHERE g.seq > ?
      """, .integer(slice.high))
    try db.clearFound()
  }

  private func stageDenying(by relation: EdgeRelation, _ slice: Slice, _ ends: NodeCounts) throws {
    for effect in RuleEffect.all(.deny) where relation.rules.contains(effect.rule) {
      try db.stageNodes(
        losing: effect.lostEnd, of: relation, ends.forms(of: relation[effect.lostEnd]),
        rule: effect.bit, in: slice, current.numbers,
        from: current.numbers.existingReferences(relation))
    }
  }

  func exclude(_ slice: Slice, _ nodes: Query) throws {
    try db.run("INSERT OR IGNORE INTO temp.staying_nodes \(nodes) AND \(slice.contains())")
  }
}

extension EdgeRelation {
  /// Whether the row `s` refers to a node that does not exist.
  fileprivate var refersToMissingNode: String {
    let isMissing = """
      \(isEdge) AND NOT EXISTS (SELECT 1 FROM \(destination.rows) AS d
        WHERE \(destination.hasKey("d", reference)))
      """
    if references.isEmpty { return "coalesce(\(isMissing), 0)" }
    return "EXISTS (SELECT 1 FROM (SELECT 1) \(references) WHERE \(isMissing))"
  }
}

extension NodeTable {
  /// Whether the row `alias` is, or may be, the node that had this number when the plan was made. A
  /// row that came since has another key, or the same.
  fileprivate func mayBeNode(_ number: String, _ alias: String, _ numbers: NumberedTables) -> String
  {
    let own = self.number(alias, numbers)
    if kind == .managed { return "\(own) = \(number)" }
    guard numbers.byRowid.contains(id) else {
      return """
        NOT EXISTS (SELECT 1 FROM temp.known AS k
          WHERE k.id = \(number) AND (k.collection <> \(id) OR k.key <> +\(key(alias))))
        """
    }
    return """
      (\(row(alias)) > \(numbers.lastRowids[id] ?? 0) OR \(own) = \(number) OR \(own) IN (
        SELECT id FROM temp.gone WHERE seq <= (SELECT seq FROM temp.removed_up_to)))
      """
  }
}
