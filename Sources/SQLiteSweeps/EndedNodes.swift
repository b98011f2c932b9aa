internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

/// Nodes that an application deleted after a sweep had set references of theirs to null. These are owed
/// to the very rows that lost them, and end with them.
extension Writer {
  /// Before these rows of the journal are deleted. `condition` is one on the row `j`.
  func noteEnded(_ rows: Slice, _ condition: String = "") throws {
    let owed = """
      SELECT collection FROM cascade_trash_layout WHERE kind = 'change' AND remaining > 0
      """
    if try db.integer(generated: "\(owed) LIMIT 1") == nil { return }
    try db.run(
      generated: """
        INSERT INTO cascade_ended(collection, key, batch)
        SELECT w.meaning ->> 'rows', j.key, ?1 FROM cascade_journal AS j
        CROSS JOIN cascade_watch AS w ON w.what = j.what
        WHERE j.seq > ?3 AND j.seq <= ?2 \(condition) AND \(GoneMark.isDeletion("j")) AND j.key IS NOT NULL AND w.meaning ->> 'rows' IN (\(owed))
        ON CONFLICT(collection, key) DO UPDATE SET batch = max(batch, excluded.batch)
        """, [.integer(current.batch), .integer(rows.high), .integer(rows.low)])
  }
}
