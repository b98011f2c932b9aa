internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules

/// Rechecks a slice, under the lock, before it is deleted, if other connections have committed
/// since the plan was made. For each node it asks whether its reason to be deleted still holds.
///
/// A node whose case is unclear stays. The sweep makes another plan as long as there is such a
/// node.
extension Writer {
  /// Returns what of the slice is still to be deleted.
  func recheckSlice(_ slice: Slice) throws -> NodeCounts {
    try db.run("UPDATE temp.removed_up_to SET seq = ?", .integer(slice.low))
    let ends = try db.nodeCounts(in: slice)
    try excludeLeased(slice)
    let isJob = sweepRun.job != nil
    for nodes in ReasonCheck(binding, current.numbers, ends, leavesFirst: isJob).withoutReason {
      try exclude(slice, nodes)
    }
    if isJob { try excludeWithNewSources(slice, ends) }
    try excludeNotMeant(slice)
    try excludeChangedRows(slice)
    try excludeMadeAnew(slice)
    try excludeReferenced(slice)
    try excludeDeniedByLater(slice, ends)
    try removeExcludedFromPlan(slice)
    try excludeReachable(slice)
    let denials = try db.denials(
      binding, current.numbers, stored: identities.counters.rulesSeen, in: slice, ends)
    if !denials.isEmpty {
      current.block(denials.map(\.reason))
      current.blocksMore = true
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

  func removeExcludedFromPlan(_ slice: Slice) throws {
    try db.run(
      """
      DELETE FROM temp.gone WHERE seq > ? AND seq <= ? AND id IN (SELECT id FROM temp.staying_nodes)
      """, .integer(slice.low), .integer(slice.high))
    if db.changes > 0 { current.step.hasSkippedNodes = true }
  }

  /// Keeps nodes that have been leased since the plan was made.
  private func excludeLeased(_ slice: Slice) throws {
    try db.findLeased(binding, current.numbers, at: clock.now)
    try db.run(
      """
      INSERT OR IGNORE INTO temp.staying_nodes SELECT g.id FROM temp.gone AS g
      WHERE \(slice.contains()) AND \(GoneRow.goes("g")) AND (g.id IN (SELECT id FROM temp.leased)
        OR g.collection IN (SELECT id FROM temp.leased_collection))
      """)
  }

  /// The reference to nothing of a node that follows its destination proves the reason.
  private var needsItsRow: String {
    "g.rule <> \(Rules.deleteSourceIfDestinationDeleted.bits) AND \(GoneRow.goes("g"))"
  }

  /// Another connection deleted rows of the table, so another row may have taken the place of a
  /// planned one.
  private func excludeChangedRows(_ slice: Slice) throws {
    for table in binding.collections.values
    where current.step.collectionsChangedByOthers.contains(table.id) && table.table?.rowid != nil {
      try exclude(
        slice,
        """
        SELECT g.id FROM temp.gone AS g
        WHERE \(needsItsRow) AND \(table.hasRow("g.id"))
        """)
      try exclude(
        slice,
        """
        SELECT g.id FROM temp.gone AS g
        CROSS JOIN temp.known AS k ON k.id = g.id AND k.collection = \(table.id)
        WHERE k.row IS NOT NULL AND \(GoneRow.goes("g")) AND NOT EXISTS (
          SELECT 1 FROM \(table.rows) AS d
          WHERE \(table.row("d")) = k.row AND \(table.hasKey("d", "k.key")))
        """)
    }
  }

  /// Keeps nodes that were deleted since the plan was made, and are there again with all that tells a
  /// row: they are other nodes. The plan was about those that the journal says were deleted.
  private func excludeMadeAnew(_ slice: Slice) throws {
    for watch in attachment.watches {
      guard case .rows(let collection) = watch.meaning.watchSubject,
        current.step.collectionsChangedByOthers.contains(collection)
      else { continue }
      try exclude(
        slice,
        """
        SELECT g.id FROM temp.gone AS g
        CROSS JOIN temp.known AS k ON k.id = g.id AND k.collection = \(collection)
        WHERE \(needsItsRow) AND k.key IN (
          SELECT j.key FROM main.cascade_journal AS j
          WHERE j.seq > \(bind: current.step.journalEndOfPlan) AND j.what = \(watch.number)
          AND \(GoneMark.isDeletion("j")))
        """)
    }
  }

  /// In a job, keeps nodes to which others refer since the plan was made, that would follow. The next plan
  /// has these too.
  private func excludeWithNewSources(_ slice: Slice, _ ends: NodeCounts) throws {
    let rule = Rules.deleteSourceIfDestinationDeleted
    for relation in binding.examinedRelations where relation.rules.contains(rule) {
      try db.stageNodes(
        losing: .destination, of: relation, ends.forms(of: relation.destination),
        rule: rule.rawValue, in: slice, current.numbers,
        from: current.numbers.existingReferences(relation))
    }
    try db.numberFound()
    try db.run(
      """
      INSERT OR IGNORE INTO temp.staying_nodes SELECT f.via FROM temp.staged AS f
      WHERE f.id NOT IN (SELECT id FROM temp.gone)
      """)
    try db.clearFound()
  }

  /// Keeps nodes for which the condition of their job does not hold any more: one that was renewed is not
  /// overdue.
  private func excludeNotMeant(_ slice: Slice) throws {
    guard let subject = sweepRun.job?.request.subject,
      let (table, condition) = try db.isMeant(by: subject, binding)
    else { return }
    let key = "(SELECT m.key FROM \(table.nodes) AS m WHERE m.id = g.id)"
    var forms = [("g.id > 0", table.hasKey("d", key))]
    if table.numberBase != nil {
      forms.append((table.hasRow("g.id"), "\(table.row("d")) = \(table.rowid(of: "g.id"))"))
    }
    for (form, isRow) in forms {
      try exclude(
        slice,
        Query(
          """
          SELECT g.id FROM temp.gone AS g
          WHERE \(form) AND g.collection = \(table.id) AND g.id IN (SELECT id FROM temp.unreachable_nodes)
          AND NOT EXISTS (SELECT 1 FROM \(table.rows) AS d WHERE \(isRow) AND \(condition))
          """))
    }
  }

  /// Keeps nodes that are denied by a node that is later in the plan. That node may stay when its
  /// turn comes. If it goes, the next plan deletes the denied node.
  private func excludeDeniedByLater(_ slice: Slice, _ ends: NodeCounts) throws {
    if rulesInUse.isDisjoint(with: .denying) { return }
    for effect in RuleEffect.all(.deny) {
      for relation in binding.examinedRelations where relation.rules.contains(effect.rule) {
        try db.stageNodes(
          losing: effect.lostEnd, of: relation, ends.forms(of: relation[effect.lostEnd]),
          rule: effect.bit, in: slice, current.numbers,
          from: current.numbers.existingReferences(relation))
      }
      try db.run(
        """
        INSERT INTO temp.staged(id, via) SELECT e.\(effect.lostEnd.other.rawValue), g.id
        FROM temp.gone AS g
        CROSS JOIN main.cascade_edge AS e ON e.\(effect.lostEnd.rawValue) = g.id
        WHERE g.counts AND \(slice.contains()) AND e.rules & \(effect.bit)
        """)
    }
    try db.numberFound()
    try db.run(
      """
      INSERT OR IGNORE INTO temp.staying_nodes
      SELECT f.via FROM temp.staged AS f CROSS JOIN temp.gone AS g ON g.id = f.id
      WHERE g.seq > ?
      """, .integer(slice.high))
    try db.clearFound()
  }

  func exclude(_ slice: Slice, _ nodes: Query) throws {
    try db.run("INSERT OR IGNORE INTO temp.staying_nodes \(nodes) AND \(slice.contains())")
  }
}
