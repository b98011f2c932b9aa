internal import CascadeModel
internal import CascadeSQLite
internal import CascadePlanning
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules

/// Keeps nodes that were unreachable when the plan was made and are reachable now (`Reachability`),
/// because a node that stays leads to them.
///
/// A node that leads to another may be in the plan too, and may have become reachable since. So
/// before some nodes are deleted, all nodes that lead to them are found, as far back as those are
/// in the plan. If one of them stays, everything that it leads to stays too.
extension Writer {
  func excludeReachable(_ slice: Slice) throws {
    if !current.reachability.deletesUnreachable { return }
    if try current.reachability.sliceWithHolders == slice || findHolders(of: slice, in: .all) {
      return try excludeLedNodes()
    }
    try exclude(slice, "SELECT g.id FROM temp.gone AS g WHERE g.rule = 0 AND g.counts")
    try removeExcludedFromPlan(slice)
  }

  // MARK: - The nodes that lead to them

  /// Puts the nodes of the slice, and the planned nodes in `part` that lead to them, into
  /// `temp.holder_order`. Returns whether it found all of them. It stops early if the search takes
  /// so long that others wait.
  func findHolders(of slice: Slice, in part: Slice) throws -> Bool {
    try db.empty(.ownedBy(.unreachableOrder))
    current.reachability.sliceWithHolders = nil
    try db.run(
      """
      INSERT INTO temp.holder_order(id) SELECT id FROM temp.gone
      WHERE seq > ? AND seq <= ? AND rule = 0 AND counts
      """, .integer(slice.low), .integer(slice.high))
    let most = holderLimit(of: slice)
    let end = ContinuousClock.now + lock.pace.budget / 2
    let questions = current.reachability.holderQueries ?? holderQueries
    current.reachability.holderQueries = questions
    var low: Int64 = 0
    while let high = try db.integer("SELECT max(seq) FROM temp.holder_order"), high > low {
      if high > most || (lock.pace.rowsToAStep == nil && .now > end) { return false }
      let level = [.integer(0)] + Slice(low: low, high: high).bound + [.integer(most + 1)]
      let found = try questions.reduce(0) { count, question in
        try db.run(generated: question, level)
        return count + db.changes
      }
      try appendHolders(in: Slice(low: slice.low, high: part.high))
      if found > most { return false }
      low = high
    }
    return true
  }

  /// A circle cannot be cut to measure, so it may take longer.
  func holderLimit(of slice: Slice) -> Int64 {
    if current.step.isUndisturbed { return max(1_000, lock.pace.rows) }
    return slice.count > 1 || lock.pace.isAlone ? lock.pace.rows : lock.pace.rows * 4
  }

  /// A chain has as many levels as nodes, so the queries for a level are built once.
  private var holderQueries: [String] {
    let tablesOutside = tablesOutsideReachability
    let ofPlaces = binding.examinedRelations.flatMap { holderQueries(by: $0, tablesOutside) }
    return ([holderQueries(tablesOutside)] + ofPlaces).map { "\($0) LIMIT ?4" }
  }

  /// Tables whose rows lead to nothing.
  private var tablesOutsideReachability: Set<Int64> {
    let tables = binding.collections.values.filter {
      !model.isReachableByModel($0.collection) && !model.roots.contains($0.collection)
    }
    return Set(tables.map(\.id))
  }

  private func holderQueries(_ tablesOutside: Set<Int64>) -> String {
    let isMeant = "n.collection NOT IN (\(tablesOutside.map(String.init).joined(separator: ", ")))"
    return """
      INSERT INTO temp.staged(id, via, rule)
      SELECT n.id, g.id, ?1 FROM temp.holder_order AS g
      CROSS JOIN main.cascade_edge AS e ON e.destination = g.id
      CROSS JOIN main.cascade_node AS n ON n.id = e.source AND \(isMeant)
      WHERE g.seq > ?2 AND g.seq <= ?3
      UNION ALL
      SELECT n.id, g.id, ?1 FROM temp.holder_order AS g
      CROSS JOIN main.cascade_edge AS e ON e.source = g.id AND e.rules & \(Rules.ofLostDestination.rawValue)
      CROSS JOIN main.cascade_node AS n ON n.id = e.destination AND \(isMeant)
      WHERE g.seq > ?2 AND g.seq <= ?3
      """
  }

  private func holderQueries(by relation: EdgeRelation, _ tablesOutside: Set<Int64>) -> [String] {
    let numbers = current.numbers
    let level = " AND g.seq > ?2 AND g.seq <= ?3"
    var questions: [String] = []
    if relation.leadsToDestination && !tablesOutside.contains(relation.source.id) {
      let driver = numbers.existingReferences(relation, .leading)
      questions += numbers.forms(of: relation.destination).map {
        relation.staging(losing: .destination, $0, rule: 0, numbers, from: driver).text + level
      }
    }
    if relation.leadsToSource && !tablesOutside.contains(relation.destination.id) {
      questions += numbers.forms(of: relation.source).map {
        relation.staging(losing: .source, $0, rule: 0, numbers, from: .leading).text + level
      }
    }
    return questions
  }

  private func appendHolders(in rest: Slice) throws {
    try db.numberFound()
    if !current.step.isUndisturbed {
      try db.run("INSERT INTO temp.holder_paths SELECT id, via FROM temp.staged")
    }
    try db.run(
      """
      INSERT OR IGNORE INTO temp.holder_order(id)
      SELECT f.id FROM temp.staged AS f CROSS JOIN temp.gone AS g ON g.id = f.id
      WHERE g.seq > ? AND g.seq <= ? AND g.rule = 0 AND g.counts
      """, .integer(rest.low), .integer(rest.high))
    try db.clearFound()
  }

  // MARK: - The nodes that stay

  private func excludeLedNodes() throws {
    try db.run(
      """
      INSERT OR IGNORE INTO temp.staying_nodes
      WITH RECURSIVE stays(id) AS (
        SELECT held FROM temp.holder_paths AS l
        WHERE NOT EXISTS (
          SELECT 1 FROM temp.holder_order AS h CROSS JOIN temp.gone AS g ON g.id = h.id
          WHERE h.id = l.holder)
        UNION
        SELECT g.id FROM temp.holder_order AS l CROSS JOIN temp.gone AS g ON g.id = l.id
        WHERE g.id IN (SELECT id FROM temp.leased)
        OR g.collection IN (SELECT id FROM temp.leased_collection)
        UNION
        SELECT l.held FROM stays AS s CROSS JOIN temp.holder_paths AS l ON l.holder = s.id
      )
      SELECT id FROM stays
      """)
    if db.changes > 0 { try removeExcludedFromPlan(.all) }
  }
}
