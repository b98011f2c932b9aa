internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteEdges
internal import SQLiteTables

/// Moves what is chosen of a batch into one of its own, so that it can be undone alone. What one of these
/// entries lost together with one that stays, an edge or a join row between the two, stays.
extension Writer {
  /// Returns the new batch; the same one if all of it is chosen.
  func separate(_ batch: Int64) throws -> Int64 {
    try refuseIfOpen(batch)
    let kept = try db.integer(
      """
      SELECT sum(remaining) FROM cascade_trash_layout
      WHERE batch = ? AND (kind IN ('row', 'object') OR remaining < 0)
      """, .integer(batch))
    let chosen = try db.integer(
      generated: """
        SELECT count(*) FROM temp.chosen
        WHERE batch = ? AND what = \(ChosenEntry.whole.rawValue)
        """, [.integer(batch)])
    guard let kept, kept > 0, let chosen else { throw UndoUnavailable.notInTrash }
    if chosen == kept { return batch }
    let new = identities.counters.serial
    identities.counters.serial += 1
    try enter(new, outOf: batch, chosen)
    let separation = Separation(writer: self, batch: batch, new: new)
    try separation.moveEntries()
    try separation.moveEdges()
    return new
  }

  private func enter(_ new: Int64, outOf batch: Int64, _ count: Int64) throws {
    try db.run(
      generated: """
        INSERT INTO cascade_ledger(seq, id, part, fingerprint, author, at, outcome, line, deleted, origin)
        SELECT ?1, id || '/' || ?1, part, fingerprint, author, at + \(MetaKey.clockJumps(after: "seq")),
          'applied', line, ?3, coalesce(origin, seq) FROM cascade_ledger WHERE seq = ?2
        """, [.integer(new), .integer(batch), .integer(count)])
  }
}

private struct Separation {
  let writer: Writer
  let batch: Int64
  let new: Int64

  private var db: Connection { _read { yield writer.db } }
  private var bound: [Value] { [.integer(batch), .integer(new)] }

  // MARK: - Rows, objects, and what refers to them

  func moveEntries() throws {
    try db.run("DELETE FROM temp.moving")
    try db.run(
      generated: """
        INSERT INTO temp.moving SELECT id FROM temp.chosen
        WHERE batch = ?1 AND what <> \(ChosenEntry.otherNumber.rawValue)
        """, [.integer(batch)])
    for kept in try layouts { try choose(kept) }
    try db.run(
      generated: """
        UPDATE main.cascade_trash SET batch = ?2
        WHERE batch = ?1 AND id IN (SELECT id FROM temp.moving)
        """, bound)
    try moveCounts()
  }

  private var layouts: [(number: Int64, layout: TrashLayout)] {
    get throws {
      try db.all(
        """
        SELECT l.kind, l.collection, l.subject, l.columns, l.keys, l.types, l.layout
        FROM cascade_trash_layout AS l WHERE l.batch = ? AND l.remaining > 0
        """, .integer(batch)
      ) { row in TrashLayout(row: row).map { (row.integer(6), $0) } }.compactMap(\.self)
    }
  }

  /// Of the entries that are no nodes.
  private func choose(_ kept: (number: Int64, layout: TrashLayout)) throws {
    let ways = EntryWays(layout: kept.layout, writer: writer)
    let conditions =
      switch kept.layout.kind {
      case .side: try ways.ofSideRow
      case .change: try ways.ofChange
      case .value: [isValueOfChosen]
      case .row, .object, .name, .edges: [String]()
      }
    if conditions.isEmpty { return }
    try db.run(
      generated: """
        INSERT INTO temp.moving SELECT t.id \(kept.layout.fromEntries)
        WHERE \(TrashLayout.isOfLayout) AND (\(conditions.joined(separator: " OR ")))
        """, [.integer(batch), .integer(kept.number)])
    for list in ways.ofList { try copy(list, kept.number) }
  }

  /// The object lost references to chosen ones, and to no others.
  private var isValueOfChosen: String {
    let lost = """
      SELECT e.destination FROM main.cascade_trash_edge AS e WHERE e.batch = ?1 AND e.source = t.c0
      AND e.origin >= \(Origin.firstOfValues.rawValue)
      """
    let chosen = "SELECT id FROM temp.chosen WHERE batch = ?1"
    return """
      (EXISTS (\(lost) AND e.destination IN (\(chosen)))
        AND NOT EXISTS (\(lost) AND e.destination NOT IN (\(chosen))))
      """
  }

  /// A list that lost chosen ones and others: its entry stays for the others, and a copy that lacks these
  /// goes.
  private func copy(_ list: EntryWays.List, _ number: Int64) throws {
    let columns = (0..<TrashLayout.columnsPerPart).map {
      $0 == list.place ? list.old : "t.c\($0)"
    }
    try db.run(
      generated: """
        INSERT INTO main.cascade_trash
        SELECT \(new), t.id, t.part, t.layout, t.via, t.name, t.rule, \(columns.joined(separator: ", "))
        FROM main.cascade_trash AS t WHERE \(TrashLayout.isOfLayout) AND \(list.condition)
        """, [.integer(batch), .integer(number)])
  }

  private func moveCounts() throws {
    try db.run(
      generated: """
        INSERT INTO main.cascade_trash_layout
        SELECT ?2, l.layout, l.kind, l.collection, l.subject, l.columns, l.keys, count(*),
          iif(l.kind = 'name', 0, count(*)), l.types
        FROM main.cascade_trash AS t
        JOIN main.cascade_trash_layout AS l ON l.batch = ?1 AND l.layout = t.layout
        WHERE t.batch = ?2 AND t.part = 0 GROUP BY l.layout
        """, bound)
    try db.run(
      generated: """
        UPDATE main.cascade_trash_layout AS l
        SET count = l.count - m.count, remaining = l.remaining - iif(l.kind = 'name', 0, m.count)
        FROM (SELECT t.layout, count(*) AS count FROM main.cascade_trash AS t
          WHERE t.batch = ?2 AND t.part = 0 AND t.id IN (SELECT id FROM temp.moving) GROUP BY 1) AS m
        WHERE l.batch = ?1 AND l.layout = m.layout
        """, bound)
  }

  // MARK: - Edges

  func moveEdges() throws {
    let chosen = "SELECT id FROM temp.chosen WHERE batch = ?1"
    let ends = ["source", "destination"].map { "(e.\($0) IN (\(chosen)) OR \(isThere("e.\($0)")))" }
    let staysWithValue = """
      e.origin >= \(Origin.firstOfValues.rawValue) AND e.source IN (
        SELECT t.c0 FROM main.cascade_trash_layout AS l CROSS JOIN main.cascade_trash AS t
          ON t.batch = l.batch AND t.layout = l.layout
        WHERE l.batch = ?1 AND l.kind = 'value')
      """
    try db.run(
      generated: """
        UPDATE main.cascade_trash_edge AS e SET batch = ?2 WHERE e.batch = ?1
        AND (e.source IN (\(chosen)) OR e.destination IN (\(chosen)))
        AND \(ends.joined(separator: " AND ")) AND NOT (\(staysWithValue))
        """, bound)
    try moveCountOfEdges(db.changes)
    try copyIdentities()
  }

  /// Whether an end is a node that exists.
  private func isThere(_ id: String) -> String {
    let isFile = "x.collection IN (\(Writer.fileCollections))"
    return """
      (EXISTS (SELECT 1 FROM main.cascade_node AS x
          WHERE x.id = \(id) AND \(writer.binding.nodeExists("x")))
        OR EXISTS (SELECT 1 FROM main.cascade_trash_node AS x WHERE x.batch = ?1 AND x.id = \(id)
          AND \(writer.binding.nodeExists("x", object: isFile))))
      """
  }

  private func moveCountOfEdges(_ count: Int) throws {
    if count == 0 { return }
    let number = [Value.integer(Int64(count))]
    try db.run(
      generated: """
        INSERT INTO main.cascade_trash_layout
        SELECT ?2, layout, kind, collection, subject, columns, keys, ?3, ?3, types
        FROM main.cascade_trash_layout WHERE batch = ?1 AND kind = 'edges'
        """, bound + number)
    try db.run(
      generated: """
        UPDATE main.cascade_trash_layout SET count = count - ?2, remaining = remaining - ?2
        WHERE batch = ?1 AND kind = 'edges'
        """, [.integer(batch)] + number)
  }

  /// Both batches know the nodes that their edges and reasons name.
  private func copyIdentities() throws {
    try db.run(
      generated: """
        INSERT OR IGNORE INTO main.cascade_trash_node
        SELECT ?2, x.id, x.collection, x.key FROM main.cascade_trash_node AS x
        WHERE x.batch = ?1 AND x.id IN (
          SELECT source FROM main.cascade_trash_edge WHERE batch = ?2
          UNION SELECT destination FROM main.cascade_trash_edge WHERE batch = ?2
          UNION SELECT via FROM main.cascade_trash WHERE batch = ?2
          UNION SELECT id FROM temp.chosen WHERE batch = ?1)
        """, bound)
  }
}
