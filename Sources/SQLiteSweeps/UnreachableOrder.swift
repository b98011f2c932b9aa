internal import CascadeModel
internal import CascadeSQLite
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables

/// The order in which unreachable nodes (`Reachability`) are deleted in steps.
///
/// Between two steps, another process may see such a node and let a root lead to it. Then
/// everything that the node leads to must still exist. So a node is deleted after the nodes that
/// lead to it, and nodes that lead to each other in a circle are deleted in one step.
///
/// 1. The plan begins with the nodes to which none of the others leads. Nodes to which only those
///    lead come next, and so on. Nodes in a circle, or behind one, come last.
/// 2. Before some nodes are deleted, all nodes that still lead to them are brought forward. There
///    are none if there is no circle and no other connection has written since the plan was made.
/// 3. A circle that takes longer than the lock may be held is deleted in several steps while no
///    other connection writes. While one writes, the circle waits.
extension Writer {
  // MARK: - The plan

  /// Puts the nodes that are in no circle, nor behind one, into `temp.holder_order`. Returns
  /// whether there may be circles.
  func orderUnreachable() throws -> Bool {
    try findPathsAmongUnreachable()
    try db.run(
      """
      INSERT INTO temp.holder_order(id) SELECT id FROM temp.unreachable_nodes
      WHERE id NOT IN (SELECT held FROM temp.holder_paths) ORDER BY id
      """)
    var low: Int64 = 0
    while let high = try db.integer("SELECT max(seq) FROM temp.holder_order"), high > low {
      try appendHeldNodes(by: Slice(low: low, high: high))
      low = high
    }
    let remain = try db.integer("SELECT 1 FROM temp.holder_paths LIMIT 1")
    return remain != nil || !rulesInUse.isDisjoint(with: .ofLostDestination)
  }

  /// Skips edges that lead both ways: they do not say which end comes first.
  private func findPathsAmongUnreachable() throws {
    let numbers = try db.numbers(binding)
    for relation in binding.examinedRelations
    where relation.leadsToDestination && !relation.leadsToSource {
      try db.stageNodes(
        losing: .source, of: relation, rule: 0, in: .allNumbers, numbers, from: .unreached)
    }
    try db.numberFound()
    try db.run(
      """
      INSERT INTO temp.holder_paths
      SELECT holder, held FROM (
        SELECT via AS holder, id AS held FROM temp.staged
        UNION ALL
        SELECT e.source, e.destination FROM temp.unreachable_nodes AS u
        CROSS JOIN main.cascade_edge AS e ON e.source = u.id AND NOT e.rules & \(Rules.ofLostDestination.rawValue))
      WHERE holder <> held AND held IN (SELECT id FROM temp.unreachable_nodes)
      """)
    try db.clearFound()
  }

  /// Appends each node as soon as all nodes that lead to it have a place in the order.
  private func appendHeldNodes(by level: Slice) throws {
    try db.run(
      """
      INSERT INTO temp.staged(id)
      SELECT DISTINCT l.held FROM temp.holder_order AS g CROSS JOIN temp.holder_paths AS l ON l.holder = g.id
      WHERE g.seq > ? AND g.seq <= ?
      """, .integer(level.low), .integer(level.high))
    try db.run(
      """
      DELETE FROM temp.holder_paths
      WHERE holder IN (SELECT id FROM temp.holder_order WHERE seq > ? AND seq <= ?)
      """, .integer(level.low), .integer(level.high))
    try db.run(
      """
      INSERT INTO temp.holder_order(id) SELECT id FROM temp.staged AS f
      WHERE NOT EXISTS (SELECT 1 FROM temp.holder_paths AS l WHERE l.held = f.id) ORDER BY id
      """)
    try db.clearFound()
  }

  // MARK: - A step

  /// The next part of the plan above `low`, small enough that the nodes that lead to it can go too.
  func slice(behind low: Int64, most: Int64, of plan: SweepPlan) -> Slice {
    let all = Slice(low: low, high: plan.all.high).first(most)
    if !hasHolders(all, plan) { return all }
    return Slice(low: low, high: min(all.high, plan.levels[0].high)).first(
      current.reachability.cycleStepLimit)
  }

  private func hasHolders(_ slice: Slice, _ plan: SweepPlan) -> Bool {
    let isOrdered = current.step.isUndisturbed && !current.reachability.mayHaveCycles
    return current.reachability.deletesUnreachable && !isOrdered
      && slice.low < plan.levels.first?.high ?? 0
  }

  /// The part of the slice that can be deleted together with the nodes that lead to it.
  func extendedByHolders(_ slice: Slice, of plan: SweepPlan) throws -> Slice {
    if !hasHolders(slice, plan) { return slice }
    var slice = slice
    while true {
      let areFew = try findHolders(of: slice, in: plan.levels[0])
      current.reachability.cycleStepLimit = try nextHolderLimit(behind: slice, areFew)
      if areFew || slice.count == 1 && current.step.isUndisturbed {
        let whole = try moveHoldersForward(behind: slice)
        current.reachability.sliceWithHolders = whole
        return whole
      }
      if slice.count == 1 {
        try exclude(.all, "SELECT g.id FROM temp.holder_order AS g WHERE 1")
        return slice
      }
      slice = slice.first(current.reachability.cycleStepLimit)
    }
  }

  /// How many nodes the next search begins with. A search that met too many nodes was in vain, so
  /// the next one takes fewer.
  private func nextHolderLimit(behind slice: Slice, _ areFew: Bool) throws -> Int64 {
    if !areFew { return max(1, slice.count / 2) }
    let all = try db.integer("SELECT max(seq) FROM temp.holder_order") ?? 0
    return all * 3 < holderLimit(of: slice) ? slice.count * 2 : slice.count
  }

  /// Moves the nodes in `temp.holder_order` to right behind the slice. The nodes that were there
  /// take their places.
  private func moveHoldersForward(behind slice: Slice) throws -> Slice {
    defer { try? db.empty(.ownedBy(.reorder)) }
    try db.run(
      """
      INSERT INTO temp.moved_forward(seq, id, collection)
      SELECT g.seq, g.id, g.collection
      FROM temp.holder_order AS l CROSS JOIN temp.gone AS g ON g.id = l.id WHERE g.seq > ? ORDER BY g.seq
      """, .integer(slice.high))
    let early = Slice(low: slice.high, high: slice.high + Int64(db.changes))
    try db.run(
      """
      INSERT INTO temp.moved_back(id, collection) SELECT id, collection FROM temp.gone
      WHERE seq > ? AND seq <= ? AND id NOT IN (SELECT id FROM temp.moved_forward)
      """, .integer(early.low), .integer(early.high))
    try db.run(
      """
      INSERT OR REPLACE INTO temp.gone(seq, id, collection)
      SELECT ? + number, id, collection FROM temp.moved_forward
      """, .integer(early.low))
    try db.run(
      """
      INSERT INTO temp.gone(seq, id, collection)
      SELECT l.seq, e.id, e.collection FROM (
        SELECT seq, row_number() OVER (ORDER BY seq) AS number FROM temp.moved_forward WHERE seq > ?) AS l
      CROSS JOIN temp.moved_back AS e USING (number)
      """, .integer(early.high))
    return Slice(low: slice.low, high: early.high)
  }
}

extension EdgeRelation.StartingNodes {
  fileprivate static let unreached = EdgeRelation.StartingNodes(
    rows: "(SELECT id, id AS seq FROM temp.unreachable_nodes) AS g", id: "g.id")
}

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
    try exclude(slice, "SELECT g.id FROM temp.gone AS g WHERE \(GoneRow.isFirst("g"))")
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
      INSERT INTO temp.holder_order(id) SELECT g.id FROM temp.gone AS g
      WHERE \(slice.contains()) AND \(GoneRow.isFirst("g"))
      """)
    let most = holderLimit(of: slice)
    let end = ContinuousClock.now + lock.pace.budget / 2
    let queries = current.reachability.holderQueries ?? holderQueries
    current.reachability.holderQueries = queries
    var low: Int64 = 0
    while let high = try db.integer("SELECT max(seq) FROM temp.holder_order"), high > low {
      if high > most || (lock.pace.rowsToAStep == nil && .now > end) { return false }
      let level = Slice(low: low, high: high).bound + [.integer(most + 1)]
      let found = try queries.reduce(0) { count, query in
        try db.run(generated: query, level)
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

  /// A chain has as many levels as nodes, so the queries for a level are built once. The rows of
  /// some tables lead to nothing.
  private var holderQueries: [String] {
    let outside = binding.collections.values.filter {
      !model.isReachableByModel($0.collection) && !model.roots.contains($0.collection)
    }.map(\.id)
    let level = "g.seq > ?1 AND g.seq <= ?2"
    let stored = EdgeEnd.allCases.map { end in
      """
      SELECT n.id, g.id, 0 FROM temp.holder_order AS g
      CROSS JOIN main.cascade_edge AS e ON e.\(end) = g.id
        \(end == .source ? "AND e.rules & \(Rules.ofLostDestination.rawValue)" : "")
      CROSS JOIN main.cascade_node AS n ON n.id = e.\(end.other)
        AND n.collection NOT IN (\(outside.map(String.init).joined(separator: ", ")))
      WHERE \(level)
      """
    }
    var queries = [
      "INSERT INTO temp.staged(id, via, rule) \(stored.joined(separator: " UNION ALL "))"
    ]
    let numbers = current.numbers
    for relation in binding.examinedRelations {
      let driver = numbers.existingReferences(relation, .leading)
      for end in EdgeEnd.allCases where !outside.contains(relation[end.other].id) {
        if !(end == .source ? relation.leadsToSource : relation.leadsToDestination) { continue }
        queries += numbers.forms(of: relation[end]).map { form in
          relation.staging(losing: end, form, rule: 0, numbers, from: driver).text
            + " AND \(level)"
        }
      }
    }
    return queries.map { "\($0) LIMIT ?3" }
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
      WHERE \(rest.contains()) AND \(GoneRow.isFirst("g"))
      """)
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
