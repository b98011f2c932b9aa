internal import Model
internal import SQLite

/// Stored edges that go with what goes, and who their ends are where nothing else tells.
extension Writer {
  func keepEdges(_ slice: Slice) throws {
    if slice.low == 0 && current.lostCount > 0 { try keepRemoved() }
    if try !mayHaveEdges { return }
    if !current.isHub {
      for edges in LosingEdges.all(of: slice) { try keep(edges) }
    }
    try keepOwnIdentities(slice)
  }

  /// Earlier steps may have taken the last ones along.
  private var mayHaveEdges: Bool {
    get throws {
      try db.integer("SELECT 1 FROM cascade_edge LIMIT 1") != nil
        || db.integer(
          "SELECT 1 FROM cascade_trash_edge WHERE batch = ? LIMIT 1", .integer(current.batch))
          != nil
    }
  }

  /// With who survives at their other ends.
  func keep(_ edges: LosingEdges) throws {
    let bound = [.integer(current.batch), .integer(counters.serial)] + edges.bound
    try db.run(
      generated: """
        INSERT OR IGNORE INTO main.cascade_trash_edge
        SELECT ?1, e.source, e.name, e.destination, e.origin, e.rules, e.born
        FROM \(edges.rows) WHERE e.born < ?2 AND \(edges.condition(.inTrash))
        """, bound)
    try noteEdges(db.changes)
    try db.run(
      generated: """
        INSERT OR IGNORE INTO main.cascade_trash_node
        SELECT ?1, n.id, n.collection, n.key
        FROM \(edges.rows) CROSS JOIN main.cascade_node AS n ON n.id = e.\(edges.end.other)
        WHERE \(edges.condition(.inTrash)) AND n.id NOT IN (SELECT id FROM temp.gone)
        """, bound)
  }

  /// What was unlinked. What a value or a declared list does not say any more is not for an undo: that
  /// was a change, and not a deletion. And a reference that was changed begins a chain.
  private func keepRemoved() throws {
    try db.run(
      """
      INSERT OR IGNORE INTO cascade_trash_edge
      SELECT ?1, source, name, destination, origin, rules, born FROM temp.lost
      WHERE origin = 0 AND EXISTS (SELECT 1 FROM temp.gone)
      AND EXISTS (SELECT 1 FROM cascade_node WHERE id = source)
      AND EXISTS (SELECT 1 FROM cascade_node WHERE id = destination)
      """, .integer(current.batch))
    try noteEdges(db.changes)
    try keepNames(
      Writer.lostEnds,
      "l.id NOT IN (SELECT id FROM temp.gone) AND EXISTS (SELECT 1 FROM temp.gone)")
  }

  /// Who stays after all, and let something else go.
  func nameKept() throws {
    try keepNames(
      "SELECT id FROM temp.kept WHERE id IN (\(Writer.lostEnds))",
      "EXISTS (SELECT 1 FROM cascade_trash_layout WHERE batch = ?1)")
  }

  private static let lostEnds = """
    SELECT source AS id FROM temp.lost UNION SELECT destination FROM temp.lost
    """

  /// What nodes are called, as far as the condition holds for the number `l.id`.
  private func keepNames(_ nodes: String, _ condition: String) throws {
    try db.nameRows(binding, nodes)
    try db.run(
      generated: """
        INSERT OR IGNORE INTO cascade_trash_node
        SELECT ?1, l.id, coalesce(k.collection, n.collection), coalesce(k.key, n.key)
        FROM (\(nodes)) AS l
        LEFT JOIN temp.known AS k ON k.id = l.id LEFT JOIN cascade_node AS n ON n.id = l.id
        WHERE coalesce(k.key, n.key) IS NOT NULL AND \(condition)
        """, [.integer(current.batch)])
  }

  /// Of rows and files that go; an object is kept whole.
  func keepOwnIdentities(_ slice: Slice) throws {
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

  private func noteEdges(_ count: Int) throws {
    if count == 0 { return }
    let layout = TrashLayout(kind: .edges)
    try note(layout, layoutNumber(layout), count: count)
  }
}
