package import CascadeSQLite
internal import SQLiteBinding
package import SQLiteTables

extension Writer {
  /// Writes entries into the trash, with their ids and values by the layout. `reason`: the columns
  /// via, name and rule.
  package func writeToTrash(
    _ layout: TrashLayout, id: Query, values: [Query], reason: String = "NULL, NULL, NULL",
    from rows: Query
  ) throws {
    let number = try layoutNumber(layout)
    var count = 0
    for part in layout.parts {
      let (columns, values) = TrashLayout.columns(ofPart: part, values)
      try db.run(
        """
        INSERT OR IGNORE INTO main.cascade_trash(batch, id, part, layout, via, name, rule\(columns))
        SELECT \(bind: current.batch), \(id), \(part), \(bind: number), \(reason),
          \(values.joined(separator: ", ")) FROM \(rows)
        """)
      if part == 0 { count = db.changes }
    }
    try countTrashedEntries(layout, count: count)
  }

  package func countTrashedEntries(_ layout: TrashLayout, count: Int) throws {
    if count == 0 { return }
    let (identity, number) = (layout.identity, try layoutNumber(layout))
    try db.run(
      """
      INSERT INTO cascade_trash_layout VALUES(?, ?, ?, ?, ?, ?, ?, ?8, ?9, ?10)
      ON CONFLICT DO UPDATE
      SET count = count + excluded.count, remaining = remaining + excluded.remaining
      """, .integer(current.batch), .integer(number), identity[0], identity[1], identity[2],
      identity[3], .integer(Int64(layout.keys)), .integer(Int64(count)),
      .integer(layout.kind == .name ? 0 : Int64(count)), identity[4])
  }

  /// The number of the layout in this batch: the existing one, or the next free one.
  package func layoutNumber(_ layout: TrashLayout) throws -> Int64 {
    let identity = layout.identity
    return try db.integer(
      """
      SELECT coalesce(
        max(layout) FILTER (WHERE kind = ? AND collection IS ? AND subject = ? AND columns = ?
          AND types = ?),
        max(layout) + 1, 1)
      FROM cascade_trash_layout WHERE batch = ?
      """, identity[0], identity[1], identity[2], identity[3], identity[4], .integer(current.batch))!
  }
}

extension Connection {
  /// The number of the last entry that is no node; the next ones are below it.
  package func lastSideId(of batch: Int64) throws(SQLiteError) -> Int64 {
    try integer(
      "SELECT id FROM cascade_trash WHERE batch = ? AND id > ? ORDER BY id LIMIT 1",
      .integer(batch), .integer(NumberRange.sideEntries)) ?? .max
  }
}
