internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteEdges

/// Deletes what is past its retention time, a little at a time: trash, notices, ledger.
extension Writer {
  /// Deletes at most `rows` rows; false where nothing is left to delete. To be called within a
  /// group.
  ///
  /// First the trash, one batch after the other; then the notices; then the ledger. The ledger
  /// keeps every batch that has trash, and how far a file of many transactions came.
  package func deleteSomeExpired(at now: Int64, rows: Int = 1_000) throws -> Bool {
    if let batch = try expiredBatch(of: "cascade_trash_layout", at: now) {
      try deleteTrash(batch, rows: Int64(rows))
      return true
    }
    let ofFiles = "cascade_trash_file WHERE fate = \(FileFate.trashed.rawValue)"
    if let batch = try expiredBatch(of: ofFiles, at: now) {
      // The nodes that lost these files need no identity any more.
      try db.run("DELETE FROM cascade_trash_node WHERE batch = ?", .integer(batch))
      return try db.markTrashedFiles(of: batch, .toDelete, most: Int64(rows)) > 0
    }
    if try deleteExpiredNotices(at: now, rows) { return true }
    return try deleteExpiredLedger(at: now, rows)
  }

  /// Deletes all that is past its time. Returns how many batches were deleted from the trash.
  package func deleteAllExpired(at now: Int64) throws -> Int {
    let before = try db.batchesInTrash()
    try repeatInTransactions { try deleteSomeExpired(at: now) }
    return try before - db.batchesInTrash()
  }

  /// The oldest batch that is past its time, and that no open sweep or undo belongs to.
  private func expiredBatch(of kept: String, at now: Int64) throws -> Int64? {
    try db.integer(
      generated: """
        SELECT t.batch FROM (SELECT DISTINCT batch FROM \(kept)) AS t
        WHERE \(Connection.time(ofBatch: "t.batch")) < ?1 AND t.batch NOT IN (
          SELECT value FROM cascade_meta WHERE name IN (?3, ?4))
        ORDER BY t.batch LIMIT 1
        """,
      [
        .integer(now - model.trash.inMilliseconds), .integer(now),
        .text(MetaKey.sweepBatch.name), .text(MetaKey.undoBatch.name),
      ])
  }

  private func deleteTrash(_ batch: Int64, rows: Int64) throws {
    // A batch that is only partly in the trash cannot be undone any more.
    try db.run(
      "UPDATE cascade_trash_layout SET remaining = -1 WHERE batch = ? AND remaining >= 0",
      .integer(batch))
    if try db.markTrashedFiles(of: batch, .toDelete, most: rows) > 0 { return }
    // The layouts go last: by them, the batch is found again.
    for (table, key) in [
      ("cascade_trash", "batch, id, part"), ("cascade_trash_node", "batch, id"),
      ("cascade_trash_edge", "batch, source, name, destination, origin"),
      ("cascade_trash_layout", "batch, layout"),
    ] {
      try db.run(
        """
        DELETE FROM main.\(table) WHERE (\(key)) IN (
          SELECT \(key) FROM main.\(table) WHERE batch = \(bind: batch) LIMIT \(bind: rows))
        """)
      if db.changes > 0 { return }
    }
  }

  private func deleteExpiredNotices(at now: Int64, _ rows: Int) throws -> Bool {
    let limit = now - model.retention.notices.inMilliseconds
    try db.saveLastNotice()
    try db.run(
      generated: """
        DELETE FROM cascade_notice WHERE id IN (
          SELECT n.id FROM (SELECT id, batch FROM cascade_notice ORDER BY id LIMIT ?3) AS n
          WHERE \(Connection.time(ofBatch: "n.batch")) < ?1)
        """, [.integer(limit), .integer(now), .integer(Int64(rows))])
    return db.changes > 0
  }

  /// Does not examine rows behind the last one that is past its time: there may be many.
  private func deleteExpiredLedger(at now: Int64, _ rows: Int) throws -> Bool {
    let limit = now - model.retention.ledger.inMilliseconds
    try db.run(
      generated: """
        WITH young(seq) AS (
          SELECT min(l.seq) FROM cascade_ledger AS l
          WHERE \(Connection.realTime("l")) BETWEEN ?1 AND ?2),
        old(seq) AS (
          SELECT max(l.seq) FROM cascade_ledger AS l, young AS y
          WHERE \(Connection.realTime("l")) < ?1 AND l.seq < coalesce(y.seq, 0x7fffffffffffffff))
        DELETE FROM cascade_ledger WHERE seq IN (
          SELECT l.seq FROM cascade_ledger AS l WHERE l.seq <= (SELECT seq FROM old)
          AND l.seq NOT IN (SELECT batch FROM cascade_trash_layout)
          AND l.seq NOT IN (SELECT batch FROM cascade_trash_file)
          AND l.seq NOT IN (SELECT batch FROM cascade_released_file)
          AND l.seq NOT IN (SELECT batch FROM cascade_notice)
          AND NOT (l.outcome = 'partial' AND NOT EXISTS (
            SELECT 1 FROM cascade_ledger AS n WHERE n.id = l.id AND n.part > l.part))
          ORDER BY l.seq LIMIT ?3)
        """, [.integer(limit), .integer(now), .integer(Int64(rows))])
    return db.changes > 0
  }
}

extension Connection {
  /// Numbers continue behind the last one, also where no notice is left.
  package func saveLastNotice() throws(SQLiteError) {
    try run(
      """
      INSERT OR REPLACE INTO cascade_meta
      SELECT ?1, max(id) FROM cascade_notice HAVING max(id) > coalesce(
        (SELECT value FROM cascade_meta WHERE name = ?1), 0)
      """, .text(MetaKey.lastNotice.name))
  }

  /// How many batches have something in the trash: those from before `limit`, or all.
  package func batchesInTrash(
    before limit: (time: Int64, now: Int64)? = nil
  ) throws(SQLiteError) -> Int {
    let count = try integer(
      generated: """
        SELECT count(*) FROM (
          SELECT batch FROM cascade_trash_layout
          UNION SELECT batch FROM cascade_trash_file
          WHERE fate = \(FileFate.trashed.rawValue)) AS t
        WHERE ?1 IS NULL OR \(Connection.time(ofBatch: "t.batch")) < ?1
        """, [limit.map { .integer($0.time) } ?? .null, .integer(limit?.now ?? 0)])
    return Int(count ?? 0)
  }

  /// The time of a batch, as SQL; ?2 is now. A batch that the ledger does not know, or recorded
  /// while the clock was ahead, is as old as the next batch.
  fileprivate static func time(ofBatch batch: String) -> String {
    """
    (SELECT \(realTime("n")) FROM cascade_ledger AS n
      WHERE n.seq >= \(batch) AND \(realTime("n")) <= ?2
      ORDER BY n.seq LIMIT 1)
    """
  }

  /// The time of a row of the ledger by the present clock, as SQL: later jumps of the clock do not
  /// make it older.
  fileprivate static func realTime(_ entry: String) -> String {
    "(\(entry).at + \(MetaKey.clockJumps(after: "\(entry).seq")))"
  }

  /// Gives a fate to at most `most` files of a batch that are in the trash. Returns how many.
  package func markTrashedFiles(
    of batch: Int64, _ fate: FileFate, most: Int64
  ) throws(SQLiteError) -> Int {
    try run(
      """
      UPDATE cascade_trash_file SET fate = ?1 WHERE (batch, collection, path) IN (
        SELECT batch, collection, path FROM cascade_trash_file
        WHERE batch = ?2 AND fate = ?4 LIMIT ?3)
      """, .integer(fate.rawValue), .integer(batch), .integer(most),
      .integer(FileFate.trashed.rawValue))
    return changes
  }
}
