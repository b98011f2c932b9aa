internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteRules

/// Nodes of a change file that go because an edge that the file itself added leads nowhere.
extension Writer {
  /// Notes whether a node that a change writes may go in this way.
  package func note(_ id: Int64, mayDeleteItself: Bool?) throws {
    guard let allowed = mayDeleteItself else { return }
    if allowed == current.ownDeletions.areAllowed {
      if !current.ownDeletions.haveExceptions { return }
      return try db.run("DELETE FROM temp.own_deletion_exceptions WHERE id = ?", .integer(id))
    }
    try db.run("INSERT OR IGNORE INTO temp.own_deletion_exceptions VALUES(?)", .integer(id))
    current.ownDeletions.haveExceptions = true
  }

  /// Lists those nodes of D. Rejects the transaction if one of them must not go.
  func judgeOwnDeletions() throws {
    if current.sweep.isSweep || !current.ownDeletions.areNewEdges { return }
    let found = try ownDeletions()
    try OwnDeletion.judge(found)
    let room = max(0, Receipt.mostListed - current.counts.deletedOwn.count)
    current.counts.deletedOwn += found.prefix(room).map(\.node)
  }

  private func ownDeletions() throws -> [OwnDeletion] {
    try db.all(
      """
      SELECT m.name, coalesce(sc.name, kc.name), coalesce(s.key, k.key),
        coalesce(dc.name, lc.name), coalesce(d.key, l.key), g.rule, \(bind: Origin.declared.rawValue),
        \(bind: current.ownDeletions.areAllowed ? 1 : 0) <>
          (g.id IN (SELECT id FROM temp.own_deletion_exceptions))
      FROM temp.gone AS g CROSS JOIN main.cascade_name AS m ON m.id = g.name
      LEFT JOIN main.cascade_node AS s ON s.id = g.id
      LEFT JOIN main.cascade_collection AS sc ON sc.id = s.collection
      LEFT JOIN temp.known AS k ON k.id = g.id
      LEFT JOIN main.cascade_collection AS kc ON kc.id = k.collection
      LEFT JOIN main.cascade_node AS d ON d.id = g.via
      LEFT JOIN main.cascade_collection AS dc ON dc.id = d.collection
      LEFT JOIN temp.known AS l ON l.id = g.via
      LEFT JOIN main.cascade_collection AS lc ON lc.id = l.collection
      WHERE g.counts AND g.rule IN (\(Rules.deleteSourceIfDestinationDeleted.rawValue),
        \(Rules.deleteSourceIfAllDestinationsDeleted.rawValue))
      AND (EXISTS (SELECT 1 FROM temp.new_edges AS e
          WHERE e.source = g.id AND e.name = g.name AND e.destination = g.via)
        OR EXISTS (SELECT 1 FROM main.cascade_edge AS e WHERE e.source = g.id AND e.name = g.name
          AND e.destination = g.via AND e.born = \(identities.counters.serial)))
      ORDER BY g.seq
      """
    ) { row in
      let edge = Edge(row: row, model)
      return OwnDeletion(edge.source, by: edge, isAllowed: row.integer(7) == 1)
    }
  }
}
