internal import CascadeModel
internal import CascadeSQLite

/// Rechecks a slice, under the lock, before it is deleted, if other connections have committed
/// since the plan was made. For each node it asks whether its reason to be deleted still holds
/// (DESIGN 2.5).
///
/// A node whose case is unclear stays. The sweep makes another plan as long as there is such a
/// node.
extension Writer {
  /// Returns what of the slice is still to be deleted.
  func lookAgain(_ slice: Slice) throws -> Ends {
    try db.run("UPDATE temp.done SET seq = ?", .integer(slice.low))
    let ends = try db.ends(in: slice)
    try keepLeased(slice)
    if ends.has(rule: 0) { try keepReturned(slice) }
    try keepFollowers(slice)
    for place in binding.looked { try keepHeld(place, slice, ends) }
    try keepReferring(slice, ends)
    try keepDisturbed(slice)
    try keepDenied(slice, ends)
    try forgetKept(slice)
    try keepReached(slice)
    let denials = try db.denials(
      binding, current.numbers, stored: counters.rulesSeen, in: slice, ends)
    if !denials.isEmpty {
      current.block(denials.map(\.reason))
      try keep(denials.map(\.denied))
    }
    return current.hasKept ? try db.ends(in: slice) : ends
  }

  /// Takes nodes out of the plan. What would follow from them then stays too.
  func keep(_ nodes: some Sequence<Int64>) throws {
    for node in nodes { try db.run("INSERT OR IGNORE INTO temp.kept VALUES(?)", .integer(node)) }
    try forgetKept(.all)
  }

  /// Returns whether any node was in the plan.
  @discardableResult
  func forgetKept(_ slice: Slice) throws -> Bool {
    try db.run(
      """
      DELETE FROM temp.gone WHERE seq > ? AND seq <= ? AND id IN (SELECT id FROM temp.kept)
      """, .integer(slice.low), .integer(slice.high))
    if db.changes == 0 { return false }
    current.hasKept = true
    return true
  }

  /// Keeps nodes that have been leased since the plan was made.
  private func keepLeased(_ slice: Slice) throws {
    try db.findLeased(binding, current.numbers, at: now)
    try db.run(
      """
      INSERT OR IGNORE INTO temp.kept SELECT id FROM temp.gone
      WHERE seq > ? AND seq <= ? AND (rule <> 0 OR counts) AND (id IN (SELECT id FROM temp.leased)
        OR collection IN (SELECT id FROM temp.leased_collection))
      """, .integer(slice.low), .integer(slice.high))
  }

  /// Keeps nodes whose row was gone and exists again.
  private func keepReturned(_ slice: Slice) throws {
    for table in binding.collections.values {
      try keep(
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
  private func keepFollowers(_ slice: Slice) throws {
    try keep(
      slice,
      """
      SELECT g.id FROM temp.gone AS g WHERE g.via IN (SELECT id FROM temp.kept)
      """)
  }

  /// Keeps nodes that still have an edge of the name. The plan expected every such edge to be lost
  /// before its node's turn. But the node at the other end may be in the plan too, and stay when
  /// its turn comes.
  private func keepHeld(_ place: Place, _ slice: Slice, _ ends: Ends) throws {
    if ends.has(rule: 32) && binding.countsAtDestination(place) {
      try keepDestinations(place, slice, ends, rule: 32)
    }
    // One lost edge is enough to delete the destination. If its source exists again, the next plan
    // can tell what follows.
    if ends.has(rule: 8) && place.rules.contains(.deleteDestinationIfSourceDeleted) {
      let isBack = "AND \(place.source.mayBe("g.via", "s", current.numbers))"
      try keepDestinations(place, slice, ends, rule: 8, where: isBack)
    }
    if !ends.has(rule: 16) || !place.countsAtSource { return }
    for form in ends.forms(of: place.source) {
      try keep(
        slice,
        """
        SELECT g.id \(place.ofSources(in: .gone, form, withDestinations: !place.leadsToFiles))
        AND g.rule = 16 AND g.name = \(place.nameId)
        """)
    }
  }

  private func keepDestinations(
    _ place: Place, _ slice: Slice, _ ends: Ends, rule: Int, where condition: String = ""
  ) throws {
    for form in ends.forms(of: place.destination) {
      try keep(
        slice,
        """
        SELECT g.id \(place.ofDestinations(in: current.numbers.now(place), form, current.numbers))
        AND g.rule = \(rule) AND g.name = \(place.nameId) \(condition)
        """)
    }
  }

  /// Keeps nodes that were to be deleted with a node they referred to, and no longer refer to any
  /// such node.
  private func keepReferring(_ slice: Slice, _ ends: Ends) throws {
    if ends.has(rule: 4) {
      let places = binding.looked.filter { $0.rules.contains(.deleteSourceIfDestinationDeleted) }
      try keepReferring(slice, ends, rule: 4, places)
    }
    if ends.has(rule: 16) {
      try keepReferring(
        slice, ends, rule: 16, binding.looked.filter { $0.countsAtSource && !$0.leadsToFiles })
    }
  }

  private func keepReferring(
    _ slice: Slice, _ ends: Ends, rule: Int, _ places: [Place]
  ) throws {
    for (source, places) in Dictionary(grouping: places, by: \.source) {
      for (name, alike) in Dictionary(grouping: places, by: \.nameId) {
        for form in ends.forms(of: source) {
          let missing = alike.map { "NOT \($0.refersToMissing)" }
          try keep(
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
  private func keepDisturbed(_ slice: Slice) throws {
    for table in binding.collections.values
    where current.disturbed.contains(table.id) && table.table?.rowid != nil {
      try keep(
        slice,
        """
        SELECT g.id FROM temp.gone AS g
        WHERE g.rule <> 4 AND (g.rule <> 0 OR g.counts) AND \(table.hasRow("g.id"))
        """)
      try keep(
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
  private func keepDenied(_ slice: Slice, _ ends: Ends) throws {
    if rulesInUse.isDisjoint(with: .denying) { return }
    for place in binding.looked { try stageDenying(by: place, slice, ends) }
    try db.run(
      """
      INSERT INTO temp.found(id, via)
      SELECT e.source, g.id
      FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
      WHERE g.counts AND g.seq > ?1 AND g.seq <= ?2 AND e.rules & 128
      UNION ALL
      SELECT e.destination, g.id
      FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
      WHERE g.counts AND g.seq > ?1 AND g.seq <= ?2 AND e.rules & 256
      """, .integer(slice.low), .integer(slice.high))
    try db.internFound()
    try db.run(
      """
      INSERT OR IGNORE INTO temp.kept
      SELECT f.via FROM temp.found AS f CROSS JOIN temp.gone AS g ON g.id = f.id
      WHERE g.seq > ?
      """, .integer(slice.high))
    try db.forgetFound()
  }

  private func stageDenying(by place: Place, _ slice: Slice, _ ends: Ends) throws {
    if place.rules.contains(.denyDestinationDeletion) {
      for form in ends.forms(of: place.destination) {
        try db.stageSources(
          of: place, form, rule: 128, in: slice, current.numbers, from: current.numbers.now(place))
      }
    }
    if place.rules.contains(.denySourceDeletion) {
      for form in ends.forms(of: place.source) {
        try db.stageDestinations(of: place, form, rule: 256, in: slice, current.numbers)
      }
    }
  }

  func keep(_ slice: Slice, _ nodes: String) throws {
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.kept
        \(nodes) AND g.seq > ?1 AND g.seq <= ?2
        """, slice.bound)
  }
}

extension Place {
  /// Whether the row `s` refers to a node that does not exist.
  fileprivate var refersToMissing: String {
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
  fileprivate func mayBe(_ number: String, _ alias: String, _ numbers: Numbers) -> String {
    let own = self.number(alias, numbers)
    if kind == .managed { return "\(own) = \(number)" }
    guard numbers.byRow.contains(id) else {
      return """
        NOT EXISTS (SELECT 1 FROM temp.known AS k
          WHERE k.id = \(number) AND (k.collection <> \(id) OR k.key <> +\(key(alias))))
        """
    }
    return """
      (\(row(alias)) > \(numbers.last[id] ?? 0) OR \(own) = \(number) OR \(own) IN (
        SELECT id FROM temp.gone WHERE seq <= (SELECT seq FROM temp.done)))
      """
  }
}
