internal import Model
internal import SQLite

/// What was not reached when the plan was made, and is now (`Reaching`): what stays leads to it.
///
/// Who leads to a node may be on the list himself, and have been reached since. So before some go,
/// all who lead to them are found, as far back as they are on the list; where one of those stays,
/// so does all that he leads to.
extension Writer {
  func keepReached(_ slice: Slice) throws {
    try db.run(
      """
      INSERT INTO temp.leading(id) SELECT id FROM temp.gone
      WHERE seq > ? AND seq <= ? AND rule = 0 AND counts
      """, .integer(slice.low), .integer(slice.high))
    if db.changes == 0 { return }
    defer { try? db.execute("DELETE FROM temp.leading; DELETE FROM temp.leads") }
    if try findLeading(above: slice.low) { return try keepLed() }
    try keep(slice, "SELECT g.id FROM temp.gone AS g WHERE g.rule = 0 AND g.counts")
    try forgetKept(slice)
  }

  // MARK: - Who leads to them

  /// Says whether that could be found out without keeping everybody waiting.
  private func findLeading(above done: Int64) throws -> Bool {
    let most = max(1_000, pace.rows * 4)
    let unmeant = unmeant
    var low: Int64 = 0
    while let high = try db.integer("SELECT max(seq) FROM temp.leading"), high > low {
      if high > most { return false }
      let level = Slice(low: low, high: high)
      try stageStored(to: level, unmeant)
      for place in binding.looked { try stage(place, to: level, unmeant) }
      try addLeading(above: done)
      low = high
    }
    return true
  }

  /// Tables whose rows are no way to anything.
  private var unmeant: Set<Int64> {
    let tables = binding.collections.values.filter {
      !model.canReach($0.collection) && !model.roots.contains($0.collection)
    }
    return Set(tables.map(\.id))
  }

  private func stageStored(to level: Slice, _ unmeant: Set<Int64>) throws {
    let isMeant = "n.collection NOT IN (\(unmeant.map(String.init).joined(separator: ", ")))"
    try db.run(
      generated: """
        INSERT INTO temp.found(id, via)
        SELECT n.id, g.id FROM temp.leading AS g
        CROSS JOIN main.cascade_edge AS e ON e.destination = g.id
        CROSS JOIN main.cascade_node AS n ON n.id = e.source AND \(isMeant)
        WHERE g.seq > ?1 AND g.seq <= ?2
        UNION ALL
        SELECT n.id, g.id FROM temp.leading AS g
        CROSS JOIN main.cascade_edge AS e ON e.source = g.id AND e.rules & 20
        CROSS JOIN main.cascade_node AS n ON n.id = e.destination AND \(isMeant)
        WHERE g.seq > ?1 AND g.seq <= ?2
        """, level.bound)
  }

  private func stage(_ place: Place, to level: Slice, _ unmeant: Set<Int64>) throws {
    let numbers = current.numbers
    if place.leadsOn && !unmeant.contains(place.source.id) {
      for form in numbers.forms(of: place.destination) {
        let driver = numbers.now(place, .leading)
        try db.stageSources(of: place, form, rule: 0, in: level, numbers, from: driver)
      }
    }
    let leadsBack = !place.rules.isDisjoint(with: Reaching.backwards)
    if leadsBack && !unmeant.contains(place.destination.id) {
      for form in numbers.forms(of: place.source) {
        try db.stageDestinations(of: place, form, rule: 0, in: level, numbers, from: .leading)
      }
    }
  }

  private func addLeading(above done: Int64) throws {
    try db.internFound()
    try db.run("INSERT INTO temp.leads SELECT id, via FROM temp.found")
    try db.run(
      """
      INSERT OR IGNORE INTO temp.leading(id)
      SELECT f.id FROM temp.found AS f CROSS JOIN temp.gone AS g ON g.id = f.id
      WHERE g.seq > ? AND g.rule = 0 AND g.counts
      """, .integer(done))
    try db.forgetFound()
  }

  // MARK: - What stays

  private func keepLed() throws {
    try db.run(
      """
      INSERT OR IGNORE INTO temp.kept
      WITH RECURSIVE stays(id) AS (
        SELECT held FROM temp.leads AS l
        WHERE NOT EXISTS (SELECT 1 FROM temp.leading AS g WHERE g.id = l.holder)
        UNION
        SELECT g.id FROM temp.leading AS l CROSS JOIN temp.gone AS g ON g.id = l.id
        WHERE g.id IN (SELECT id FROM temp.leased)
        OR g.collection IN (SELECT id FROM temp.leased_collection)
        UNION
        SELECT l.held FROM stays AS s CROSS JOIN temp.leads AS l ON l.holder = s.id
      )
      SELECT id FROM stays
      """)
    if db.changes > 0 { try forgetKept(.all) }
  }
}
