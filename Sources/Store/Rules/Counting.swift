internal import Model
internal import SQLite

/// Rules 16 and 32: whether any edge of a name remains at a node. What a node loses in a level is
/// collected in `temp.losing`; who is tallied loses it, and who is not, and should be, is counted.
/// Of several lost edges one that asks is the reason.
extension Closure {
  private var counts: Bool { !countedPlaces.isEmpty || storedRules.isCounting }

  /// Nodes to which no edge of the name remains.
  func addCounted(_ db: borrowing Connection) throws {
    if !counts { return }
    try db.run(
      """
      INSERT OR IGNORE INTO temp.gone(id, via, name, rule, collection)
      SELECT node, via, name, rule, collection FROM temp.tally
      WHERE remaining <= 0 AND node NOT IN (SELECT id FROM temp.blocked)
      ORDER BY node, rule, name
      """)
    try db.run("DELETE FROM temp.tally WHERE remaining <= 0")
  }

  /// With the removed edges in the first level: these are in no table any more.
  func count(_ db: borrowing Connection, _ level: Level, withRemoved: Bool) throws {
    if !counts { return }
    if !level.ends.areAllByRow { try collectStored(db, level) }
    for place in countedPlaces { try collect(db, place, level) }
    if !binding.isEmpty { try collectFound(db) }
    if withRemoved { try collectRemoved(db) }
    try tally(db)
    for table in binding.collections.values where numbers.stored.contains(table.id) {
      _ = try db.know(table, .tally, where: "g.fresh")
    }
    for place in countedPlaces { try countRemaining(db, place) }
    try db.run("UPDATE temp.tally SET fresh = 0 WHERE fresh")
    try db.run("DELETE FROM temp.losing")
  }

  private func collectStored(_ db: borrowing Connection, _ level: Level) throws {
    try db.run(
      """
      INSERT INTO temp.losing
      SELECT 32, e.destination, e.name, count(*),
        coalesce(min(iif(e.rules & ?1 & 32, e.source, NULL)), min(e.source)),
        max(e.rules & ?1 & 32 <> 0),
        (SELECT collection FROM cascade_node AS n WHERE n.id = e.destination)
      FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
      WHERE g.seq > ?2 AND g.seq <= ?3 GROUP BY 2, 3
      """, .integer(followed.rawValue), .integer(level.slice.low), .integer(level.slice.high))
    try db.run(
      """
      INSERT INTO temp.losing
      SELECT 16, e.source, e.name, count(*),
        coalesce(min(iif(e.rules & ?1 & 16, e.destination, NULL)), min(e.destination)),
        max(e.rules & ?1 & 16 <> 0),
        (SELECT collection FROM cascade_node AS n WHERE n.id = e.source)
      FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
      WHERE g.seq > ?2 AND g.seq <= ?3 GROUP BY 2, 3
      """, .integer(followed.rawValue), .integer(level.slice.low), .integer(level.slice.high))
  }

  private func collect(_ db: borrowing Connection, _ place: Place, _ level: Level) throws {
    if followed.contains(.deleteDestinationIfAllSourcesDeleted) && !binding.isOfNodes(place) {
      for form in level.ends.forms(of: place.source) {
        try db.stageDestinations(of: place, form, rule: 32, in: level.slice, numbers)
      }
    }
    if followed.contains(.deleteSourceIfAllDestinationsDeleted) && place.relationship != nil {
      for form in level.ends.forms(of: place.destination) {
        try db.stageSources(of: place, form, rule: 16, in: level.slice, numbers)
      }
    }
  }

  private func collectFound(_ db: borrowing Connection) throws {
    try db.internFound()
    try db.run(
      """
      INSERT INTO temp.losing
      SELECT rule, id, name, count(*), coalesce(min(iif(asks, via, NULL)), min(via)), max(asks),
        collection FROM temp.found
      WHERE true GROUP BY 1, 2, 3
      ON CONFLICT DO UPDATE SET edges = edges + excluded.edges, asks = max(asks, excluded.asks),
        via = iif(asks < excluded.asks, excluded.via, via)
      """)
    try db.forgetFound()
  }

  private func collectRemoved(_ db: borrowing Connection) throws {
    try db.run(
      generated: """
        INSERT INTO temp.losing
        SELECT f.*,
          iif(f.node < 0, \(NodeTable.collection(ofRow: "f.node")),
            coalesce(n.collection, k.collection))
        FROM (
          SELECT 32, destination AS node, name, 0, min(source), 1 FROM temp.lost
          WHERE removal = 0 AND rules & ?1 & 32 GROUP BY 2, 3
          UNION ALL
          SELECT 16, source, name, 0, min(destination), 1 FROM temp.lost
          WHERE removal = 1 AND rules & ?1 & 16 GROUP BY 2, 3
        ) AS f
        LEFT JOIN main.cascade_node AS n ON n.id = f.node
        LEFT JOIN temp.known AS k ON k.id = f.node
        WHERE true
        ON CONFLICT DO UPDATE SET asks = 1, via = iif(asks, via, excluded.via)
        """, [.integer(followed.rawValue)])
  }

  private func tally(_ db: borrowing Connection) throws {
    try db.run(
      """
      UPDATE temp.tally SET remaining = remaining - l.edges FROM temp.losing AS l
      WHERE tally.rule = l.rule AND tally.node = l.node AND tally.name = l.name
      """)
    try db.run(
      """
      INSERT OR IGNORE INTO temp.tally(rule, node, name, remaining, via, fresh, collection)
      SELECT rule, node, name, 0, via, 1, collection FROM temp.losing
      WHERE asks AND node NOT IN (SELECT id FROM temp.gone)
      """)
    try db.run(
      """
      UPDATE temp.tally SET remaining = (
        SELECT count(*) FROM cascade_edge AS r
        WHERE r.destination = tally.node AND r.name = tally.name
        AND r.source NOT IN (SELECT id FROM temp.gone))
      WHERE fresh AND rule = 32
      """)
    try db.run(
      """
      UPDATE temp.tally SET remaining = (
        SELECT count(*) FROM cascade_edge AS r
        WHERE r.source = tally.node AND r.name = tally.name
        AND r.destination NOT IN (SELECT id FROM temp.gone))
      WHERE fresh AND rule = 16
      """)
  }

  /// What remains at the nodes that are counted for the first time.
  private func countRemaining(_ db: borrowing Connection, _ place: Place) throws {
    if followed.contains(.deleteDestinationIfAllSourcesDeleted) && !binding.isOfNodes(place) {
      let stays = " AND \(place.source.stays("s", numbers))"
      for form in numbers.forms(of: place.destination) {
        try add(db, 32, place, place.ofDestinations(in: .tally, form, numbers) + stays)
      }
    }
    if place.destination.kind == .files || place.relationship == nil { return }
    if !followed.contains(.deleteSourceIfAllDestinationsDeleted) { return }
    let stays = " AND \(place.destination.stays("d", numbers))"
    for form in numbers.forms(of: place.source) {
      try add(db, 16, place, place.ofSources(in: .tally, form, withDestinations: true) + stays)
    }
  }

  private func add(
    _ db: borrowing Connection, _ rule: Int64, _ place: Place, _ edges: String
  ) throws {
    try db.run(
      generated: """
        UPDATE temp.tally SET remaining = remaining + l.edges
        FROM (
          SELECT g.node AS node, count(*) AS edges
          \(edges) AND g.fresh AND g.rule = ?1 AND g.name = ?2 GROUP BY 1
        ) AS l
        WHERE tally.rule = ?1 AND tally.node = l.node AND tally.name = ?2
        """, [.integer(rule), .integer(place.nameId)])
  }
}

extension Rules {
  /// Whether some of these ask how many edges remain.
  fileprivate var isCounting: Bool {
    !isDisjoint(with: [
      .deleteSourceIfAllDestinationsDeleted, .deleteDestinationIfAllSourcesDeleted,
    ])
  }
}

extension Binding {
  func places(countedWith storedRules: Rules, following followed: Rules) -> [Place] {
    if storedRules.isCounting { return looked }
    let counting = places.filter { $0.rules.intersection(followed).isCounting }
    let names = Set(counting.map(\.name))
    return looked.filter { names.contains($0.name) }
  }
}
