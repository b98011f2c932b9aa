internal import Model
internal import SQLite

/// What was not reached when the plan was made, and is now (`Reaching`): what stays leads to it.
///
/// Who leads to a node may be on the list himself, and have been reached since. So before some go,
/// all who lead to them are asked, as far back as they are on the list.
extension Writer {
  func keepReached(_ slice: Slice) throws {
    try db.run(
      """
      INSERT INTO temp.leading(id) SELECT id FROM temp.gone
      WHERE seq > ? AND seq <= ? AND rule = 0 AND counts
      """, .integer(slice.low), .integer(slice.high))
    if db.changes == 0 { return }
    defer { try? db.run("DELETE FROM temp.leading") }
    if try !findLeading(above: slice.low) { return try keepUnclear(slice) }
    try keepLeasedLeading()
    repeat {
      try keepReachedByStored()
      for place in binding.looked { try keepReached(place) }
    } while try forgetKeptLeading()
  }

  // MARK: - Who leads to them

  /// Says whether that could be found out without keeping everybody waiting.
  private func findLeading(above done: Int64) throws -> Bool {
    let most = max(1_000, pace.rows * 4)
    var low: Int64 = 0
    while let high = try db.integer("SELECT max(seq) FROM temp.leading"), high > low {
      if high > most { return false }
      try addLeading(to: Slice(low: low, high: high), above: done)
      low = high
    }
    return true
  }

  private func addLeading(to level: Slice, above done: Int64) throws {
    try db.run(
      """
      INSERT INTO temp.found(id)
      SELECT e.source FROM temp.leading AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
      WHERE g.seq > ?1 AND g.seq <= ?2
      UNION ALL
      SELECT e.destination FROM temp.leading AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
      WHERE g.seq > ?1 AND g.seq <= ?2 AND e.rules & 20
      """, .integer(level.low), .integer(level.high))
    for place in binding.looked { try stageLeading(by: place, to: level) }
    try db.internFound()
    try db.run(
      """
      INSERT OR IGNORE INTO temp.leading(id)
      SELECT f.id FROM temp.found AS f CROSS JOIN temp.gone AS g ON g.id = f.id
      WHERE g.seq > ? AND g.rule = 0 AND g.counts
      """, .integer(done))
    try db.forgetFound()
  }

  private func stageLeading(by place: Place, to level: Slice) throws {
    let numbers = current.numbers
    if place.leadsOn {
      for form in numbers.forms(of: place.destination) {
        try db.stageSources(of: place, form, rule: 0, in: level, numbers, from: .leading)
      }
    }
    if place.rules.isDisjoint(with: Reaching.backwards) { return }
    for form in numbers.forms(of: place.source) {
      try db.stageDestinations(of: place, form, rule: 0, in: level, numbers, from: .leading)
    }
  }

  // MARK: - What stays

  private func keepUnclear(_ slice: Slice) throws {
    try keep(slice, "SELECT g.id FROM temp.gone AS g WHERE g.rule = 0 AND g.counts")
    try forgetKept(slice)
  }

  private func keepLeasedLeading() throws {
    try db.run(
      """
      INSERT OR IGNORE INTO temp.kept
      SELECT g.id FROM temp.leading AS l CROSS JOIN temp.gone AS g ON g.id = l.id
      WHERE g.id IN (SELECT id FROM temp.leased)
      OR g.collection IN (SELECT id FROM temp.leased_collection)
      """)
    try forgetKeptLeading()
  }

  private func keepReachedByStored() throws {
    let others = "NOT IN (SELECT id FROM temp.leading)"
    let unmeant = unmeant.map { "\($0.id)" }.joined(separator: ", ")
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.kept
        SELECT f.held FROM (
          SELECT g.id AS held, e.source AS holder FROM temp.leading AS g
          CROSS JOIN main.cascade_edge AS e ON e.destination = g.id AND e.source \(others)
          UNION ALL
          SELECT g.id, e.destination FROM temp.leading AS g
          CROSS JOIN main.cascade_edge AS e ON e.source = g.id AND e.destination \(others)
          WHERE e.rules & 20
        ) AS f CROSS JOIN main.cascade_node AS n ON n.id = f.holder
        WHERE n.collection NOT IN (\(unmeant))
        """, [])
  }

  private func keepReached(_ place: Place) throws {
    let (source, destination, numbers) = (place.source, place.destination, current.numbers)
    if place.leadsOn && !unmeant.contains(source) {
      for form in numbers.forms(of: destination) {
        try keep(
          .all,
          """
          SELECT g.id \(place.ofDestinations(in: .leading, form, numbers))
          AND \(source.isOutside("temp.leading", "s", numbers))
          """)
      }
    }
    if place.rules.isDisjoint(with: Reaching.backwards) || unmeant.contains(destination) { return }
    for form in numbers.forms(of: source) {
      try keep(
        .all,
        """
        SELECT g.id \(place.ofSources(in: .leading, form, withDestinations: true))
        AND \(destination.isOutside("temp.leading", "d", numbers))
        """)
    }
  }

  /// Their rows are no way to anything.
  private var unmeant: Set<NodeTable> {
    Set(
      binding.collections.values.filter {
        !model.canReach($0.collection) && !model.roots.contains($0.collection)
      })
  }

  /// Says whether there was any.
  @discardableResult
  private func forgetKeptLeading() throws -> Bool {
    try db.run(
      """
      DELETE FROM temp.gone WHERE id IN (
        SELECT l.id FROM temp.leading AS l CROSS JOIN temp.kept AS k ON k.id = l.id)
      """)
    if db.changes == 0 { return false }
    try db.run("DELETE FROM temp.leading WHERE id IN (SELECT id FROM temp.kept)")
    current.hasKept = true
    return true
  }
}
