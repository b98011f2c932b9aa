internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules

/// Keeps the stored edges that go with a slice, and the identities of their ends where nothing else
/// records them.
extension Writer {
  func trashStoredEdges(_ slice: Slice) throws {
    if current.lostCount > 0 {
      if slice.low == 0 && !current.sweep.isSweep { try trashUnlinkedEdges() }
      try trashIdentitiesOfReasons(slice)
    }
    // Earlier steps may have removed the last edges of the batch.
    let mayHaveEdges = try db.integer(
      """
      SELECT EXISTS (SELECT 1 FROM cascade_edge)
        OR EXISTS (SELECT 1 FROM cascade_trash_edge WHERE batch = ?)
      """, .integer(current.batch))
    if mayHaveEdges == 0 { return }
    if !current.step.isHighFanOut {
      for edges in LosingEdges.all(of: slice) { try trashLosingEdges(edges) }
    }
    try trashIdentities(slice)
  }

  /// Keeps the edges, and the identities of the surviving nodes at their other ends.
  func trashLosingEdges(_ edges: LosingEdges) throws {
    try db.run(
      """
      INSERT OR IGNORE INTO main.cascade_trash_edge
      SELECT \(bind: current.batch), e.source, e.name, e.destination, e.origin, e.rules, e.born
      FROM \(edges.edgesClause)
      WHERE e.born < \(bind: identities.counters.serial) AND \(edges.condition)
      """)
    try countTrashedEntries(TrashLayout(kind: .edges), count: db.changes)
    try db.run(
      """
      INSERT OR IGNORE INTO main.cascade_trash_node
      SELECT \(bind: current.batch), n.id, n.collection, n.key
      FROM \(edges.edgesClause)
      CROSS JOIN main.cascade_node AS n ON n.id = e.\(edges.end.other.rawValue)
      WHERE \(edges.condition) AND n.id NOT IN (SELECT id FROM temp.gone)
      """)
  }

  /// Keeps edges that were unlinked. An edge that is missing from a new value or declared list is
  /// not kept: that was a change, not a deletion, and undo does not revert it.
  private func trashUnlinkedEdges() throws {
    try db.run(
      """
      INSERT OR IGNORE INTO cascade_trash_edge
      SELECT ?1, source, name, destination, origin, rules, born FROM temp.lost_edges
      WHERE origin = ?2 AND EXISTS (SELECT 1 FROM temp.gone)
      AND EXISTS (SELECT 1 FROM cascade_node WHERE id = source)
      AND EXISTS (SELECT 1 FROM cascade_node WHERE id = destination)
      """, .integer(current.batch), .integer(Origin.manual.rawValue))
    try countTrashedEntries(TrashLayout(kind: .edges), count: db.changes)
    try db.run(
      """
      INSERT OR IGNORE INTO cascade_trash_node
      SELECT ?1, id, collection, key FROM cascade_node WHERE id IN (
        SELECT source FROM temp.lost_edges WHERE origin = ?2
        UNION SELECT destination FROM temp.lost_edges WHERE origin = ?2)
      AND id NOT IN (SELECT id FROM temp.gone) AND EXISTS (SELECT 1 FROM temp.gone)
      """, .integer(current.batch), .integer(Origin.manual.rawValue))
  }

  /// Keeps the identities of reasons that do not go with this slice or before it. A changed
  /// reference starts a chain: its source does not go, or goes later, unless it stays after all.
  private func trashIdentitiesOfReasons(_ slice: Slice) throws {
    let reasons = """
      SELECT DISTINCT g.via AS id FROM temp.gone AS g WHERE g.seq > ?1 AND g.seq <= ?2
      AND NOT EXISTS (SELECT 1 FROM temp.gone AS x WHERE x.id = g.via AND x.seq <= ?2)
      """
    try db.storeKeysOfRows(binding, reasons, slice.bound)
    try db.run(
      generated: """
        INSERT OR IGNORE INTO cascade_trash_node
        SELECT ?3, v.id, coalesce(k.collection, n.collection), coalesce(k.key, n.key)
        FROM (\(reasons)) AS v
        LEFT JOIN temp.known AS k ON k.id = v.id LEFT JOIN cascade_node AS n ON n.id = v.id
        WHERE coalesce(k.key, n.key) IS NOT NULL
        """, slice.bound + [.integer(current.batch)])
  }

  /// Keeps the identities of rows and files that go. Objects are kept whole.
  func trashIdentities(_ slice: Slice) throws {
    if binding.collections.isEmpty && model.files.isEmpty { return }
    try db.run(
      """
      INSERT OR IGNORE INTO cascade_trash_node
      SELECT ?1, n.id, n.collection, n.key
      FROM temp.gone AS g CROSS JOIN cascade_node AS n ON n.id = g.id
      WHERE g.seq > ?2 AND g.seq <= ?3 AND (
        n.id IN (SELECT id FROM temp.known)
        OR n.collection IN (SELECT id FROM cascade_collection WHERE name GLOB 'cascade_file/*'))
      """, .integer(current.batch), .integer(slice.low), .integer(slice.high))
  }
}
