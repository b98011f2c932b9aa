internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules
internal import SQLiteEdges

/// Stored edges come back if both of their ends exist. An edge that repeats a reference in a value
/// comes back only if the value still has that reference.
extension Undo {
  mutating func restoreEdges() throws {
    if try writer.db.integer(
      "SELECT 1 FROM cascade_trash_edge WHERE batch = ? LIMIT 1", .integer(batch)) == nil
    {
      return
    }
    try restoreIdentities()
    try forEachEdgePortion { undo, edges in
      try undo.insertEdges(edges)
      try undo.deleteRestoredEdges(edges)
    }
    try forEachPortion(
      """
      SELECT DISTINCT source AS id FROM main.cascade_trash_edge
      WHERE batch = \(bind: batch) AND origin >= \(Origin.firstOfValues.rawValue)
      """
    ) { undo, slice, _ in try undo.restoreEdgesOfSurvivors(slice) }
    try listLeftEdges()
  }

  private mutating func restoreIdentities() throws {
    try writer.db.run(
      """
      INSERT INTO temp.nodes_of_batch_edges SELECT source FROM cascade_trash_edge WHERE batch = ?1
      UNION SELECT destination FROM cascade_trash_edge WHERE batch = ?1
      """, .integer(batch))
    let ids: Query = "SELECT id FROM main.cascade_trash_node WHERE batch = \(bind: batch)"
    try forEachPortion(ids) { undo, slice, _ in try undo.restoreIdentities(slice) }
  }

  private func restoreIdentities(_ slice: Slice) throws {
    let exists = writer.binding.nodeExists(
      "x", object: "x.collection IN (\(Writer.fileCollections))")
    try writer.db.run(
      """
      INSERT OR IGNORE INTO main.cascade_node(id, collection, key)
      SELECT x.id, x.collection, x.key FROM main.cascade_trash_node AS x
      WHERE x.batch = \(bind: batch) AND \(slice.contains("x.id"))
      AND x.id NOT IN (SELECT id FROM temp.left_alone)
      AND x.id IN (SELECT id FROM temp.nodes_of_batch_edges) AND \(exists)
      """)
    try writer.db.run(
      """
      INSERT OR IGNORE INTO temp.renumbered
      SELECT x.id, n.id FROM cascade_trash_node AS x
      CROSS JOIN cascade_node AS n ON n.collection = x.collection AND n.key = x.key
      WHERE x.batch = ? AND x.id > ? AND x.id <= ? AND n.id <> x.id
      AND x.id NOT IN (SELECT id FROM temp.left_alone)
      """, .integer(batch), .integer(slice.low), .integer(slice.high))
  }

  // MARK: - Edges in portions

  /// One source may have very many edges, so portions are bounded by edge and not by source. They
  /// have the edges `e` whose ends were not left alone.
  private mutating func forEachEdgePortion(
    _ body: (inout Undo, _ edges: Query) throws -> Void
  ) throws {
    writer.lock.pace.lowerRate()
    let (edge, isOfBatch) = (LosingEdges.identity, "e.batch = \(bind: batch)" as Query)
    var isBehind: Query = "true"
    while true {
      let few = try writer.db.all(
        """
        SELECT source, name, destination, origin, row_number() OVER () AS count
        FROM (SELECT * FROM main.cascade_trash_edge AS e
          WHERE \(isOfBatch) AND \(isBehind) ORDER BY \(edge) LIMIT \(bind: mostAtOnce))
        ORDER BY count DESC LIMIT 1
        """
      ) { row in
        let last = (Int32(0)..<4).map { "\(bind: row.value($0))" as Query }
        return (last: last.joined(separator: ", "), count: Int(row.integer(4)))
      }.first
      guard let few else { return }
      let edges: Query = """
        \(isOfBatch) AND \(isBehind) AND (\(edge)) <= (\(few.last)) AND \(Undo.hasNoLeftEnd)
        """
      try step(of: few.count) { try body(&$0, edges) }
      isBehind = "(\(edge)) > (\(few.last))"
    }
  }

  private static let hasNoLeftEnd = """
    e.source NOT IN (SELECT id FROM temp.left_alone)
    AND e.destination NOT IN (SELECT id FROM temp.left_alone)
    """

  /// The number that an end of the trashed edge has now.
  private static func now(_ end: EdgeEnd) -> String {
    "coalesce((SELECT now FROM temp.renumbered WHERE id = e.\(end)), e.\(end))"
  }

  private mutating func insertEdges(_ edges: Query) throws {
    try writer.db.run(
      """
      INSERT OR IGNORE INTO main.cascade_edge
      SELECT coalesce(s.now, e.source), e.name, coalesce(d.now, e.destination), e.origin, e.rules,
        e.born
      FROM main.cascade_trash_edge AS e LEFT JOIN temp.renumbered AS s ON s.id = e.source
      LEFT JOIN temp.renumbered AS d ON d.id = e.destination
      WHERE \(edges)
      AND EXISTS (SELECT 1 FROM cascade_node WHERE id = coalesce(s.now, e.source))
      AND EXISTS (SELECT 1 FROM cascade_node WHERE id = coalesce(d.now, e.destination))
      AND (e.origin < \(Origin.firstOfValues.rawValue)
        OR e.source IN (SELECT id FROM temp.restored))
      AND (e.origin <> \(Origin.declared.rawValue) OR s.now IS NULL OR \(isRow))
      """)
    result.edges += writer.db.changes
  }

  /// A condition: the source is a row. An object that has another number was put again, and
  /// declares its edges anew.
  private var isRow: String {
    "(SELECT collection FROM cascade_node WHERE id = s.now) IN (\(writer.binding.tableNumbers))"
  }

  private func deleteRestoredEdges(_ edges: Query) throws {
    try writer.db.run(
      """
      DELETE FROM main.cascade_trash_edge AS e WHERE \(edges)
      AND EXISTS (
        SELECT 1 FROM cascade_edge AS c
        WHERE c.source = \(Undo.now(.source)) AND c.name = e.name AND c.origin = e.origin
        AND c.destination = \(Undo.now(.destination)))
      """)
  }

  // MARK: - Edges of values that were not deleted

  /// Restores edges that the value still has. An edge that it no longer has is not missing, and is
  /// dropped from the trash.
  private mutating func restoreEdgesOfSurvivors(_ slice: Slice) throws {
    let edges: Query = """
      e.batch = \(bind: batch) AND \(slice.contains("e.source"))
      AND e.origin >= \(Origin.firstOfValues.rawValue) AND \(Undo.hasNoLeftEnd)
      """
    let found: Query = """
      SELECT s.id, e.name, d.id, e.origin, e.rules, e.born FROM main.cascade_trash_edge AS e
      CROSS JOIN cascade_node AS s ON s.id = \(Undo.now(.source))
      CROSS JOIN cascade_node AS d ON d.id = \(Undo.now(.destination))
      WHERE \(edges) ORDER BY e.source
      """
    var survivor: (id: Int64, said: Set<EdgeKey>)?
    try writer.db.each(generated: found.text, found.values) { row in
      let edge = EdgeKey(row)
      if survivor?.id != edge.source {
        survivor = (edge.source, try writer.edgesOfValue(of: edge.source))
      }
      if survivor?.said.contains(edge) != true { return }
      try writer.db.run(
        "INSERT OR IGNORE INTO cascade_edge VALUES(?, ?, ?, ?, ?, ?)",
        row: (
          edge.source, edge.name, edge.destination, edge.origin.rawValue, row.integer(4),
          row.integer(5)
        ))
      result.edges += writer.db.changes
    }
    try writer.db.run(
      """
      DELETE FROM main.cascade_trash_edge AS e WHERE \(edges)
      AND EXISTS (SELECT 1 FROM cascade_node WHERE id = \(Undo.now(.source)))
      AND EXISTS (SELECT 1 FROM cascade_node WHERE id = \(Undo.now(.destination)))
      """)
  }

  // MARK: - Other references in values

  /// Rebuilds the references of objects that came back: what they name may exist for another
  /// reason, or come later.
  mutating func rebuildRestoredReferences() throws {
    if writer.facts.references.collections.isEmpty { return }
    for layout in layouts where writer.facts.references.hasReferences(layout.collection) {
      let back: Query = "SELECT id FROM temp.restored WHERE layout = \(layout.number)"
      try rebuildRestoredReferences(of: isResumed ? layout.objectsOfCollection : back)
    }
    try rebuildRestoredReferences(of: "SELECT id FROM temp.rewritten")
    try step(of: 1) { undo in
      try undo.writer.resolveReferences(toObjects: true)
      try undo.writer.db.empty(.touched)
      undo.writer.identities.counters.serial += 1
    }
  }

  private mutating func rebuildRestoredReferences(of objects: Query) throws {
    try forEachPortion(objects) { undo, slice, _ in
      let ids = try undo.writer.db.all(
        "SELECT id FROM (\(objects)) WHERE \(slice.contains("id"))"
      ) { $0.integer(0) }
      for id in ids { try undo.writer.rebuildReferences(of: id) }
    }
  }

  // MARK: - Edges that are left

  private mutating func listLeftEdges() throws {
    let count = try writer.db.integer(
      "SELECT count(*) FROM cascade_trash_edge WHERE batch = ?", .integer(batch))
    let room = max(0, UndoResult.mostListed - result.left.count)
    let edges = try writer.db.all(
      generated: """
        SELECT m.name, \(end("source")), \(end("destination")),
          e.source IN (SELECT id FROM temp.left_alone)
            OR e.destination IN (SELECT id FROM temp.left_alone)
        FROM main.cascade_trash_edge AS e JOIN main.cascade_name AS m ON m.id = e.name
        WHERE e.batch = ?1 LIMIT ?2
        """, [.integer(batch), .integer(Int64(room))]
    ) { row in
      let ends = [row.optionalText(1), row.optionalText(2)].map { $0 ?? "?" }
      return (what: "the edge \(ends[0]) -\(row.text(0))-> \(ends[1])", waits: row.integer(3) != 0)
    }
    for edge in edges {
      let reason =
        edge.waits ? "one of its ends was not restored" : "one of its ends does not exist"
      result.leave(nil, edge.what, because: reason)
    }
    result.leftCount += Int(count ?? 0) - edges.count
  }

  /// An expression: the collection and key of an end, from what exists or from the trash.
  private func end(_ column: String) -> String {
    """
    coalesce(
      (SELECT c.name || '/' || n.key FROM main.cascade_node AS n
        JOIN main.cascade_collection AS c ON c.id = n.collection WHERE n.id = e.\(column)),
      (SELECT c.name || '/' || x.key FROM main.cascade_trash_node AS x
        JOIN main.cascade_collection AS c ON c.id = x.collection
        WHERE x.batch = e.batch AND x.id = e.\(column)),
      (SELECT c.name || '/' || t.c0 FROM main.cascade_trash AS t
        JOIN main.cascade_trash_layout AS l ON l.batch = t.batch AND l.layout = t.layout
        JOIN main.cascade_collection AS c ON c.id = l.collection
        WHERE t.batch = e.batch AND t.id = e.\(column) AND t.part = 0))
    """
  }
}
