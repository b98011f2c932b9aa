internal import CascadeModel
internal import CascadeSQLite

/// Notices: messages for surviving nodes that one of their edges lost its other end (DESIGN 2.3).
extension Writer {
  func writeNotices(_ slice: Slice) throws {
    if rulesInUse.isDisjoint(with: .notifying) { return }
    if !current.isHub { try LosingEdges.all(of: slice).forEach(findEnds) }
    for place in binding.places where !current.waits(place, binding) {
      try findOthers(of: place, losing: .source) {
        try db.stageDestinations(of: place, rule: 1, in: slice, current.numbers)
      }
      try findOthers(of: place, losing: .destination) {
        let numbers = current.numbers
        for form in numbers.forms(of: place.destination) {
          try db.stageSources(
            of: place, form, rule: 2, in: slice, numbers, from: numbers.gone,
            where: binding.isNotRemoved(place, numbers))
        }
      }
    }
    try tell()
    try markReceivers(slice)
  }

  /// Marks earlier notices whose receivers go now, including notices of an earlier flush of this
  /// transaction.
  private func markReceivers(_ slice: Slice) throws {
    if try db.integer("SELECT 1 FROM cascade_notice LIMIT 1") == nil { return }
    try db.nameRows(
      binding, "SELECT id FROM temp.gone WHERE id < 0 AND seq > ?1 AND seq <= ?2", slice.bound)
    try db.run(
      """
      UPDATE cascade_notice SET receiver_deleted = 1
      WHERE (receiver_collection, receiver_key) IN (
        SELECT coalesce(n.collection, k.collection), coalesce(n.key, k.key)
        FROM temp.gone AS g LEFT JOIN cascade_node AS n ON n.id = g.id
        LEFT JOIN temp.known AS k ON k.id = g.id
        WHERE g.seq > ? AND g.seq <= ?)
      """, slice.bound[0], slice.bound[1])
  }

  func findEnds(_ edges: LosingEdges) throws {
    let end = edges.end
    try db.run(
      generated: """
        INSERT INTO temp.told
        SELECT '\(end)Deleted', \(end == .source ? 1 : 0), e.source, e.name, e.destination,
          e.rules, e.origin
        FROM \(edges.rows) WHERE \(edges.condition(.first)) AND e.rules & \(end.notifying)
        AND e.\(end.other) NOT IN (SELECT id FROM temp.gone)
        """, edges.bound)
  }

  /// Collects the notices for edges of a place. The receivers get numbers first, since they may be
  /// rows of the application.
  func findOthers(
    of place: Place, losing end: LosingEdges.End, staged stage: () throws -> Void
  ) throws {
    if place.rules.rawValue & end.notifying == 0 { return }
    try stage()
    try db.internFound()
    let isTold = end == .destination && place.leavesReferences ? "1" : "NOT leaves"
    let (toDestination, ends) = end == .source ? (1, ("f.via", "f.id")) : (0, ("f.id", "f.via"))
    try db.run(
      generated: """
        INSERT INTO temp.told
        SELECT DISTINCT '\(end)Deleted', \(toDestination), \(ends.0), f.name, \(ends.1), ?, 1
        FROM temp.found AS f
        WHERE NOT EXISTS (SELECT 1 FROM temp.going AS g WHERE g.id = f.id)
        AND f.via NOT IN (SELECT id FROM temp.mourned WHERE \(isTold))
        """, [.integer(place.rules.rawValue)])
    try db.forgetFound()
  }

  /// Collects the notices for the removed edges in `temp.lost`. A sweep in steps does this while it
  /// plans, so no other writer waits for it, however many edges there are.
  func findRemovedEdges() throws {
    if !current.tellsOfCauses || rulesInUse.isDisjoint(with: .notifying) { return }
    try db.run(
      """
      INSERT INTO temp.told
      SELECT iif(l.removal = 0, 'sourceDeleted', 'destinationDeleted'), l.removal = 0,
        l.source, l.name, l.destination, l.rules, l.origin
      FROM temp.lost AS l
      WHERE (l.removal = 0 AND l.rules & 1
        AND (l.source NOT IN (SELECT id FROM temp.mourned WHERE NOT leaves)
          OR (l.source, l.name, l.destination) IN temp.untold)
        AND l.destination NOT IN (SELECT id FROM temp.gone))
      OR (l.removal = 1 AND l.rules & 2
        AND l.destination NOT IN (SELECT id FROM temp.mourned WHERE NOT leaves)
        AND l.source NOT IN (SELECT id FROM temp.gone))
      """)
  }

  func tell(_ few: Slice = .all) throws {
    try nameTold(few)
    if current.isResumed || current.isSweep && model.hasNamesakes {
      try forgetTold(few, since: current.batch)
    }
    try forgetMourned(few)
    try writeTold(few)
  }

  private func nameTold(_ few: Slice) throws {
    let ends = ["source", "destination"].map {
      "SELECT \($0) AS id FROM temp.told WHERE rowid > ?1 AND rowid <= ?2"
    }
    try db.nameRows(binding, ends.joined(separator: " UNION "), few.bound)
  }

  /// Drops notices that were written already. After a crash, and where others write, a further plan
  /// finds what an earlier one has notified. For a hub, the places are notified one after the
  /// other.
  private func forgetTold(
    _ few: Slice, since batch: Int64, where condition: StaticString = "true"
  ) throws {
    try db.run(
      generated: """
        \(Writer.toldByName)
        DELETE FROM temp.told WHERE rowid IN (
          SELECT number FROM named
          WHERE \(condition) AND (reason, name, sc, s, dc, d, origin > 0) IN (
            SELECT n.reason, n.name, n.source_collection, n.source_key, n.destination_collection,
              n.destination_key, n.origin > 0
            FROM (
              SELECT DISTINCT iif(to_destination, dc, sc) AS c, iif(to_destination, d, s) AS k
              FROM named
            ) AS r
            CROSS JOIN cascade_notice AS n ON n.receiver_collection = r.c AND n.receiver_key = r.k
            WHERE n.batch >= ?3))
        """, few.bound + [.integer(batch)])
  }

  /// Drops notices for edges that were removed, and that were there again when a sweep of one kind
  /// deleted their source: that sweep wrote the notice.
  private func forgetMourned(_ few: Slice) throws {
    if try db.integer("SELECT 1 FROM temp.untold LIMIT 1") == nil { return }
    try forgetTold(
      few, since: db.meta("told since") ?? 0,
      where: """
        (source, name, destination) IN temp.untold
        AND source IN (SELECT id FROM temp.mourned WHERE NOT leaves)
        """)
  }

  /// Writes the notices. Their numbers continue behind the last notice that ever existed. An edge
  /// that is stored in two places gets one notice.
  private func writeTold(_ few: Slice) throws {
    try db.run(
      generated: """
        INSERT INTO cascade_notice(id, reason, receiver_collection, receiver_key, name,
          source_collection, source_key, destination_collection, destination_key,
          rules, origin, batch)
        \(Writer.toldByName)
        SELECT max((SELECT coalesce(max(id), 0) FROM cascade_notice),
            (SELECT coalesce(max(value), 0) FROM cascade_meta WHERE name = 'notice'))
            + row_number() OVER (ORDER BY source, name, destination, origin, reason),
          reason, iif(to_destination, dc, sc), iif(to_destination, d, s), name, sc, s, dc, d,
          rules, origin, ?3
        FROM named GROUP BY reason, sc, s, name, dc, d, origin > 0, to_destination
        """, few.bound + [.integer(current.batch)])
    current.notices += db.changes
    try db.run(
      "DELETE FROM temp.told WHERE rowid > ? AND rowid <= ?", few.bound[0], few.bound[1])
  }

  /// The notices to be written, with the collections and keys of both ends.
  private static let toldByName = """
    WITH named AS (
      SELECT t.rowid AS number, t.*, coalesce(s.collection, sk.collection) AS sc,
        coalesce(s.key, sk.key) AS s, coalesce(d.collection, dk.collection) AS dc,
        coalesce(d.key, dk.key) AS d
      FROM temp.told AS t
      LEFT JOIN cascade_node AS s ON s.id = t.source
      LEFT JOIN temp.known AS sk ON sk.id = t.source
      LEFT JOIN cascade_node AS d ON d.id = t.destination
      LEFT JOIN temp.known AS dk ON dk.id = t.destination
      WHERE t.rowid > ?1 AND t.rowid <= ?2)
    """
}

extension Place {
  /// Whether a source that stays keeps its reference to a deleted destination.
  fileprivate var leavesReferences: Bool {
    !isInJoinTable && !rules.contains(.nullifySourceIfDestinationDeleted)
  }
}

extension Rules {
  static let notifying: Rules = [.notifyIfSourceDeleted, .notifyIfDestinationDeleted]
}
