internal import Model
internal import SQLite

/// What is past its time is forgotten, a little at a time.
extension Writer {
  /// Within a group. Forgets at most so many rows; false where nothing is left to forget.
  ///
  /// First the trash, a batch after the other. Then notices, and then the ledger, which still knows
  /// every batch that has trash, and how far a file of many transactions came.
  package func forgetSome(at now: Int64, rows: Int = 1_000) throws -> Bool {
    if let batch = try expiredBatch(at: now) {
      try forget(batch, rows: Int64(rows))
      return true
    }
    if try forgetFiles(before: now - model.trash.inMilliseconds, rows: rows) { return true }
    if try forgetNotices(before: now - model.keep.notices.inMilliseconds, rows) { return true }
    return try forgetLedger(before: now - model.keep.ledger.inMilliseconds, rows)
  }

  /// Everything; says of how many batches.
  func forgetTrash(at now: Int64, _ manners: Manners = .none) throws -> Int {
    let before = try db.batchesInTrash(before: .max)
    defer { forgetFences() }
    var isMore = true
    while isMore {
      try group {
        let end = ContinuousClock.now + pace.budget / 2
        repeat { isMore = try forgetSome(at: now) } while isMore && .now < end
      }
      if isMore { try breathe(manners) }
    }
    try bringRest(manners)
    return try before - db.batchesInTrash(before: .max)
  }

  /// The oldest, if its time is over. One that the ledger does not know is as old as the next one
  /// that it does.
  private func expiredBatch(at now: Int64) throws -> Int64? {
    try db.integer(
      """
      SELECT t.batch FROM (SELECT min(batch) AS batch FROM cascade_trash_layout) AS t
      LEFT JOIN cascade_ledger AS l ON l.seq = t.batch
      WHERE coalesce(l.at,
        (SELECT n.at FROM cascade_ledger AS n WHERE n.seq > t.batch ORDER BY n.seq LIMIT 1)) < ?
      """, .integer(now - model.trash.inMilliseconds))
  }

  private func forget(_ batch: Int64, rows: Int64) throws {
    // What is there in part only cannot be undone any more.
    try db.run(
      "UPDATE cascade_trash_layout SET remaining = 0 WHERE batch = ? AND remaining > 0",
      .integer(batch))
    try db.run(
      """
      DELETE FROM cascade_trash WHERE batch = ?1 AND id <= (
        SELECT max(id) FROM (
          SELECT id FROM cascade_trash WHERE batch = ?1 ORDER BY id LIMIT ?2))
      """, .integer(batch), .integer(rows))
    if db.changes > 0 { return }
    try db.run(
      """
      DELETE FROM cascade_trash_edge WHERE (batch, source, name, destination, origin) IN (
        SELECT batch, source, name, destination, origin FROM cascade_trash_edge WHERE batch = ?1
        LIMIT ?2)
      """, .integer(batch), .integer(rows))
    if db.changes > 0 { return }
    try db.run(
      """
      DELETE FROM cascade_trash_node WHERE batch = ?1 AND id <= (
        SELECT max(id) FROM (
          SELECT id FROM cascade_trash_node WHERE batch = ?1 ORDER BY id LIMIT ?2))
      """, .integer(batch), .integer(rows))
    if db.changes > 0 { return }
    try db.run("DELETE FROM cascade_trash_layout WHERE batch = ?", .integer(batch))
  }

  private func forgetNotices(before limit: Int64, _ rows: Int) throws -> Bool {
    // Numbers go on behind the last, also where no notice is left.
    try db.run(
      """
      INSERT OR REPLACE INTO cascade_meta
      SELECT 'notice', max(id) FROM cascade_notice HAVING max(id) > coalesce(
        (SELECT value FROM cascade_meta WHERE name = 'notice'), 0)
      """)
    try db.run(
      """
      DELETE FROM cascade_notice WHERE id IN (
        SELECT n.id FROM (SELECT id, batch FROM cascade_notice ORDER BY id LIMIT ?2) AS n
        LEFT JOIN cascade_ledger AS l ON l.seq = n.batch
        WHERE coalesce(l.at, (
          SELECT x.at FROM cascade_ledger AS x WHERE x.seq > n.batch ORDER BY x.seq LIMIT 1)) < ?1)
      """, .integer(limit), .integer(Int64(rows)))
    return db.changes > 0
  }

  private func forgetLedger(before limit: Int64, _ rows: Int) throws -> Bool {
    try db.run(
      """
      DELETE FROM cascade_ledger WHERE seq IN (
        SELECT l.seq FROM (SELECT * FROM cascade_ledger ORDER BY seq LIMIT ?2) AS l
        WHERE l.at < ?1 AND NOT EXISTS (
          SELECT 1 FROM cascade_trash_layout AS t WHERE t.batch = l.seq)
        AND NOT (l.outcome = 'partial' AND NOT EXISTS (
          SELECT 1 FROM cascade_ledger AS n WHERE n.id = l.id AND n.part > l.part)))
      """, .integer(limit), .integer(Int64(rows)))
    return db.changes > 0
  }
}

extension Connection {
  /// How many batches from before this time have something in the trash. What nobody knows the time
  /// of is from before the end of all.
  func batchesInTrash(before limit: Int64) throws(SQLiteError) -> Int {
    let count = try integer(
      """
      SELECT count(*) FROM (
        SELECT batch FROM cascade_trash_layout
        UNION SELECT batch FROM cascade_trash_file WHERE fate = 0) AS t
      LEFT JOIN cascade_ledger AS l ON l.seq = t.batch
      WHERE coalesce(l.at,
        (SELECT n.at FROM cascade_ledger AS n WHERE n.seq > t.batch ORDER BY n.seq LIMIT 1),
        0x7ffffffffffffffe) < ?
      """, .integer(limit))
    return Int(count ?? 0)
  }
}
