internal import Model
internal import SQLite

/// Messages for survivors: an edge of yours lost its other end (DESIGN 2.3).
extension Writer {
  private static let notifying: Rules = [.notifyIfSourceDeleted, .notifyIfDestinationDeleted]

  func writeNotices() throws {
    if counters.rulesSeen.isDisjoint(with: Writer.notifying) { return }
    try noticeDeletedEnds()
    try noticeRemovedEdges()
    // Receivers of earlier notices may go now, those of a flush of this transaction too.
    try db.run(
      """
      UPDATE cascade_notice SET receiver_deleted = 1
      WHERE receiver IN (SELECT id FROM temp.gone)
      """)
  }

  private func noticeDeletedEnds() throws {
    try db.run(
      """
      INSERT INTO cascade_notice(
        receiver, reason, name, source, source_collection, source_key,
        destination, destination_collection, destination_key, rules, origin, batch)
      WITH told(receiver, reason, name, source, destination, rules, origin) AS (
        SELECT e.destination, 'sourceDeleted', e.name, e.source, e.destination, e.rules, e.origin
        FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
        WHERE e.rules & 1 AND e.destination NOT IN (SELECT id FROM temp.gone)
        UNION ALL
        SELECT e.source, 'destinationDeleted', e.name, e.source, e.destination, e.rules, e.origin
        FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
        WHERE e.rules & 2 AND e.source NOT IN (SELECT id FROM temp.gone)
      )
      SELECT t.receiver, t.reason, t.name, t.source, s.collection, s.key,
        t.destination, d.collection, d.key, t.rules, t.origin, ?
      FROM told AS t
      JOIN cascade_node AS s ON s.id = t.source
      JOIN cascade_node AS d ON d.id = t.destination
      ORDER BY t.source, t.name, t.destination, t.origin
      """, .integer(current.batch))
    current.notices += db.changes
  }

  private func noticeRemovedEdges() throws {
    try db.run(
      """
      INSERT INTO cascade_notice(
        receiver, reason, name, source, source_collection, source_key,
        destination, destination_collection, destination_key, rules, origin, batch)
      SELECT iif(l.removal = 0, l.destination, l.source),
        iif(l.removal = 0, 'sourceDeleted', 'destinationDeleted'),
        l.name, l.source, s.collection, s.key, l.destination, d.collection, d.key,
        l.rules, l.origin, ?
      FROM temp.lost AS l
      JOIN cascade_node AS s ON s.id = l.source
      JOIN cascade_node AS d ON d.id = l.destination
      WHERE (l.removal = 0 AND l.rules & 1
        AND l.destination NOT IN (SELECT id FROM temp.gone))
      OR (l.removal = 1 AND l.rules & 2 AND l.source NOT IN (SELECT id FROM temp.gone))
      ORDER BY l.source, l.name, l.destination, l.origin
      """, .integer(current.batch))
    current.notices += db.changes
  }
}
