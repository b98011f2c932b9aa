internal import CascadeModel
internal import CascadeSQLite

/// The order in which unreachable nodes (`Reaching`) are deleted in steps.
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

  /// Puts the nodes that are in no circle, nor behind one, into `temp.leading`. Returns whether
  /// there may be circles.
  func orderUnreached() throws -> Bool {
    try findLeads()
    try db.run(
      """
      INSERT INTO temp.leading(id) SELECT id FROM temp.unreached
      WHERE id NOT IN (SELECT held FROM temp.leads) ORDER BY id
      """)
    var low: Int64 = 0
    while let high = try db.integer("SELECT max(seq) FROM temp.leading"), high > low {
      try addHeld(by: Slice(low: low, high: high))
      low = high
    }
    let remain = try db.integer("SELECT 1 FROM temp.leads LIMIT 1")
    return remain != nil || !rulesInUse.isDisjoint(with: Reaching.backwards)
  }

  /// Skips edges that lead both ways: they do not say which end comes first.
  private func findLeads() throws {
    let numbers = try db.numbers(binding)
    for place in binding.looked where place.leadsOn && !place.leadsBack {
      for form in numbers.forms(of: place.source) {
        try db.stageDestinations(
          of: place, form, rule: 0, in: .allNumbers, numbers, from: .unreached)
      }
    }
    try db.internFound()
    try db.run(
      """
      INSERT INTO temp.leads
      SELECT holder, held FROM (
        SELECT via AS holder, id AS held FROM temp.found
        UNION ALL
        SELECT e.source, e.destination FROM temp.unreached AS u
        CROSS JOIN main.cascade_edge AS e ON e.source = u.id AND NOT e.rules & 20)
      WHERE holder <> held AND held IN (SELECT id FROM temp.unreached)
      """)
    try db.forgetFound()
  }

  /// Appends each node as soon as all nodes that lead to it have a place in the order.
  private func addHeld(by level: Slice) throws {
    try db.run(
      """
      INSERT INTO temp.found(id)
      SELECT DISTINCT l.held FROM temp.leading AS g CROSS JOIN temp.leads AS l ON l.holder = g.id
      WHERE g.seq > ? AND g.seq <= ?
      """, .integer(level.low), .integer(level.high))
    try db.run(
      """
      DELETE FROM temp.leads
      WHERE holder IN (SELECT id FROM temp.leading WHERE seq > ? AND seq <= ?)
      """, .integer(level.low), .integer(level.high))
    try db.run(
      """
      INSERT INTO temp.leading(id) SELECT id FROM temp.found AS f
      WHERE NOT EXISTS (SELECT 1 FROM temp.leads AS l WHERE l.held = f.id) ORDER BY id
      """)
    try db.forgetFound()
  }

  // MARK: - A step

  /// The next part of the plan above `low`, small enough that the nodes that lead to it can go too.
  func slice(behind low: Int64, most: Int64, of plan: SweepPlan) -> Slice {
    let all = Slice(low: low, high: plan.all.high).first(most)
    if !hasHolders(all, plan) { return all }
    return Slice(low: low, high: min(all.high, plan.levels[0].high)).first(current.mostWithHolders)
  }

  private func hasHolders(_ slice: Slice, _ plan: SweepPlan) -> Bool {
    let isOrdered = current.isUndisturbed && !current.hasCircles
    return current.marks && !isOrdered && slice.low < plan.levels.first?.high ?? 0
  }

  /// The part of the slice that can be deleted together with the nodes that lead to it.
  func withHolders(_ slice: Slice, of plan: SweepPlan) throws -> Slice {
    if !hasHolders(slice, plan) { return slice }
    var slice = slice
    while true {
      let areFew = try findHolders(of: slice, in: plan.levels[0])
      current.mostWithHolders = try nextWithHolders(behind: slice, areFew)
      if areFew || slice.count == 1 && current.isUndisturbed {
        let whole = try bringForward(behind: slice)
        current.withHolders = whole
        return whole
      }
      if slice.count == 1 {
        try keep(.all, "SELECT g.id FROM temp.leading AS g WHERE 1")
        return slice
      }
      slice = slice.first(current.mostWithHolders)
    }
  }

  /// How many nodes the next search begins with. A search that met too many nodes was in vain, so
  /// the next one takes fewer.
  private func nextWithHolders(behind slice: Slice, _ areFew: Bool) throws -> Int64 {
    if !areFew { return max(1, slice.count / 2) }
    let all = try db.integer("SELECT max(seq) FROM temp.leading") ?? 0
    return all * 3 < mostHolders(of: slice) ? slice.count * 2 : slice.count
  }

  /// Moves the nodes in `temp.leading` to right behind the slice. The nodes that were there take
  /// their places.
  private func bringForward(behind slice: Slice) throws -> Slice {
    defer { try? db.execute("DELETE FROM temp.late; DELETE FROM temp.early") }
    try db.run(
      """
      INSERT INTO temp.late(seq, id, collection)
      SELECT g.seq, g.id, g.collection
      FROM temp.leading AS l CROSS JOIN temp.gone AS g ON g.id = l.id WHERE g.seq > ? ORDER BY g.seq
      """, .integer(slice.high))
    let early = Slice(low: slice.high, high: slice.high + Int64(db.changes))
    try db.run(
      """
      INSERT INTO temp.early(id, collection) SELECT id, collection FROM temp.gone
      WHERE seq > ? AND seq <= ? AND id NOT IN (SELECT id FROM temp.late)
      """, .integer(early.low), .integer(early.high))
    try db.run(
      """
      INSERT OR REPLACE INTO temp.gone(seq, id, collection)
      SELECT ? + number, id, collection FROM temp.late
      """, .integer(early.low))
    try db.run(
      """
      INSERT INTO temp.gone(seq, id, collection)
      SELECT l.seq, e.id, e.collection FROM (
        SELECT seq, row_number() OVER (ORDER BY seq) AS number FROM temp.late WHERE seq > ?) AS l
      CROSS JOIN temp.early AS e USING (number)
      """, .integer(early.high))
    return Slice(low: slice.low, high: early.high)
  }
}

extension Place.Driver {
  fileprivate static let unreached = Place.Driver(
    rows: "(SELECT id, id AS seq FROM temp.unreached) AS g", id: "g.id")
}
