internal import Model
internal import SQLite

/// The set D of DESIGN 2.3: what must go because of what is gone.
///
/// D lives in `temp.gone` in the order it grew. A level is the nodes that the level before brought
/// in; each rule looks at a whole level with one statement, so a cascade costs a handful of
/// statements a level, however many nodes it has. Edges are read in the order of their B-tree.
///
/// 1. While a level is counted, D is the levels up to it, whole: the counts of rules 16 and 32 are
///    exact, because each edge loses its source (or destination) in exactly one level.
/// 2. D only grows, so whatever a level finds stays true.
struct Closure {
  /// The rules that some edge of the store ever had: the others are not asked for.
  let rulesSeen: Rules

  /// Completes D from the nodes in `temp.dead` and the edges in `temp.lost`.
  func complete(_ db: borrowing Connection) throws {
    try db.run("INSERT INTO temp.gone(id) SELECT id FROM temp.dead ORDER BY id")
    var low: Int64 = 0
    var high = try lastMember(db)
    try countLost(db, low: low, high: high)
    while true {
      try addLevel(db, low: low, high: high)
      if low == 0 { try addOfRemovedEdges(db) }
      low = high
      high = try lastMember(db)
      if low == high { return }
      try count(db, low: low, high: high)
    }
  }

  /// The same without what is denied, and what would follow from that alone (DESIGN 2.5): returns
  /// the denials. What stays may deny in its turn, so it is done again until nothing is denied.
  func completeUndenied(_ db: borrowing Connection) throws -> [Reason] {
    var reasons: [Reason] = []
    while true {
      try complete(db)
      let denials = try db.denials(firstNewId: .max)
      if denials.isEmpty { return reasons }
      reasons += denials.map(\.reason)
      for denial in denials {
        try db.run("INSERT OR IGNORE INTO temp.blocked VALUES(?)", .integer(denial.denied))
      }
      try db.run("DELETE FROM temp.gone")
      try db.run("DELETE FROM temp.tally")
    }
  }

  private func lastMember(_ db: borrowing Connection) throws -> Int64 {
    try db.integer("SELECT max(seq) FROM temp.gone") ?? 0
  }

  private func addLevel(_ db: borrowing Connection, low: Int64, high: Int64) throws {
    try addCounted(db)
    if rulesSeen.contains(.deleteDestinationIfSourceDeleted) {
      try db.run(
        """
        INSERT OR IGNORE INTO temp.gone(id, via, name, rule)
        SELECT e.destination, e.source, e.name, 8
        FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
        WHERE g.seq > ? AND g.seq <= ? AND e.rules & 8
        AND e.destination NOT IN (SELECT id FROM temp.blocked)
        ORDER BY 1, 2, 3
        """, .integer(low), .integer(high))
    }
    if rulesSeen.contains(.deleteSourceIfDestinationDeleted) {
      try db.run(
        """
        INSERT OR IGNORE INTO temp.gone(id, via, name, rule)
        SELECT e.source, e.destination, e.name, 4
        FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
        WHERE g.seq > ? AND g.seq <= ? AND e.rules & 4
        AND e.source NOT IN (SELECT id FROM temp.blocked)
        ORDER BY 1, 2, 3
        """, .integer(low), .integer(high))
    }
  }

  /// A removed edge lost the end that its removal counts as, and only that one.
  private func addOfRemovedEdges(_ db: borrowing Connection) throws {
    try db.run(
      """
      INSERT OR IGNORE INTO temp.gone(id, via, name, rule)
      SELECT destination, source, name, 8 FROM temp.lost WHERE removal = 0 AND rules & 8
      UNION ALL
      SELECT source, destination, name, 4 FROM temp.lost WHERE removal = 1 AND rules & 4
      """)
  }
}

// MARK: - Rules that count

extension Closure {
  private static let counting: Rules = [
    .deleteSourceIfAllDestinationsDeleted, .deleteDestinationIfAllSourcesDeleted,
  ]

  /// Nodes to which no edge of the name remains.
  private func addCounted(_ db: borrowing Connection) throws {
    if rulesSeen.isDisjoint(with: Closure.counting) { return }
    try db.run(
      """
      INSERT OR IGNORE INTO temp.gone(id, via, name, rule)
      SELECT node, via, name, rule FROM temp.tally
      WHERE remaining <= 0 AND node NOT IN (SELECT id FROM temp.blocked)
      ORDER BY node, rule, name
      """)
    try db.run("DELETE FROM temp.tally WHERE remaining <= 0")
  }

  private func count(_ db: borrowing Connection, low: Int64, high: Int64) throws {
    if rulesSeen.contains(.deleteDestinationIfAllSourcesDeleted) {
      try countSources(db, low: low, high: high)
    }
    if rulesSeen.contains(.deleteSourceIfAllDestinationsDeleted) {
      try countDestinations(db, low: low, high: high)
    }
  }

  /// Rule 32: what is tallied loses this level's edges; what is not, and should be, is counted.
  private func countSources(_ db: borrowing Connection, low: Int64, high: Int64) throws {
    try db.run(
      """
      UPDATE temp.tally SET remaining = remaining - l.edges
      FROM (
        SELECT e.destination AS node, e.name AS name, count(*) AS edges
        FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
        WHERE g.seq > ? AND g.seq <= ?
        GROUP BY 1, 2
      ) AS l
      WHERE tally.rule = 32 AND tally.node = l.node AND tally.name = l.name
      """, .integer(low), .integer(high))
    try db.run(
      """
      INSERT OR IGNORE INTO temp.tally(rule, node, name, remaining, via)
      SELECT 32, l.node, l.name, (
        SELECT count(*) FROM cascade_edge AS r
        WHERE r.destination = l.node AND r.name = l.name
        AND r.source NOT IN (SELECT id FROM temp.gone)), l.via
      FROM (
        SELECT e.destination AS node, e.name AS name, min(e.source) AS via
        FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
        WHERE g.seq > ? AND g.seq <= ? AND e.rules & 32
        GROUP BY 1, 2
      ) AS l
      WHERE l.node NOT IN (SELECT id FROM temp.gone)
      """, .integer(low), .integer(high))
  }

  /// Rule 16: the mirror.
  private func countDestinations(_ db: borrowing Connection, low: Int64, high: Int64) throws {
    try db.run(
      """
      UPDATE temp.tally SET remaining = remaining - l.edges
      FROM (
        SELECT e.source AS node, e.name AS name, count(*) AS edges
        FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
        WHERE g.seq > ? AND g.seq <= ?
        GROUP BY 1, 2
      ) AS l
      WHERE tally.rule = 16 AND tally.node = l.node AND tally.name = l.name
      """, .integer(low), .integer(high))
    try db.run(
      """
      INSERT OR IGNORE INTO temp.tally(rule, node, name, remaining, via)
      SELECT 16, l.node, l.name, (
        SELECT count(*) FROM cascade_edge AS r
        WHERE r.source = l.node AND r.name = l.name
        AND r.destination NOT IN (SELECT id FROM temp.gone)), l.via
      FROM (
        SELECT e.source AS node, e.name AS name, min(e.destination) AS via
        FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
        WHERE g.seq > ? AND g.seq <= ? AND e.rules & 16
        GROUP BY 1, 2
      ) AS l
      WHERE l.node NOT IN (SELECT id FROM temp.gone)
      """, .integer(low), .integer(high))
  }

  /// The first level, with the removed edges beside it: these are in no table any more.
  private func countLost(_ db: borrowing Connection, low: Int64, high: Int64) throws {
    try count(db, low: low, high: high)
    if rulesSeen.isDisjoint(with: Closure.counting) { return }
    try db.run(
      """
      INSERT OR IGNORE INTO temp.tally(rule, node, name, remaining, via)
      SELECT 32, l.destination, l.name, (
        SELECT count(*) FROM cascade_edge AS r
        WHERE r.destination = l.destination AND r.name = l.name
        AND r.source NOT IN (SELECT id FROM temp.gone)), l.source
      FROM temp.lost AS l
      WHERE l.removal = 0 AND l.rules & 32 AND l.destination NOT IN (SELECT id FROM temp.gone)
      UNION ALL
      SELECT 16, l.source, l.name, (
        SELECT count(*) FROM cascade_edge AS r
        WHERE r.source = l.source AND r.name = l.name
        AND r.destination NOT IN (SELECT id FROM temp.gone)), l.destination
      FROM temp.lost AS l
      WHERE l.removal = 1 AND l.rules & 16 AND l.source NOT IN (SELECT id FROM temp.gone)
      """)
  }
}
