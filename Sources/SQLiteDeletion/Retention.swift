internal import CascadeModel
internal import CascadeEngine
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteEdges
internal import SQLiteJournal

/// Deletes what is past its time (`Retention`), a little at a time, in the order of the numbers.
extension Writer {
  /// What is to be deleted next.
  private typealias Expired = (kept: Retention.Kept, numbers: ArraySlice<Int64>)

  /// Returns how many batches were deleted from the trash. If there is nothing to delete, nobody has to
  /// wait for the lock. What cannot be archived is not forgotten, nor what comes behind it.
  package func deleteAllExpired(at now: Int64) throws -> Int {
    let retention = Retention(model, at: now)
    var search = Retention.Search()
    var batches = 0
    while let (kept, numbers) = try retention.next(
      &search, { try db.kept($0, behind: $1, at: now) })
    {
      let isTrash = [.trash, .files].contains(kept)
      if isTrash { try archive(numbers) }
      var expired: Expired = (kept, numbers[...])
      try repeatInTransactions {
        let count = try deleteSome(&expired)
        if isTrash { batches += count }
        return !expired.numbers.isEmpty
      }
    }
    try forgetMarksOfGone(at: now)
    return batches
  }

  /// Why rows were marked that have gone, and cannot come back any more.
  private func forgetMarksOfGone(at now: Int64) throws {
    if model.softDeletions.isEmpty { return }
    let time = now - model.trash.inMilliseconds
    for table in binding.marked.values.map(\.nodes) {
      let rows: Query = """
        x.collection = \(table.id) AND x.at < \(time) AND NOT \(table.hasRow(withKey: "x.key"))
        """
      if try db.integer("SELECT 1 FROM cascade_marked AS x WHERE \(rows) LIMIT 1") == nil {
        continue
      }
      try group { try db.run("DELETE FROM cascade_marked AS x WHERE \(rows)") }
    }
  }

  /// Deletes as much as is done between two looks at the clock. Returns of how many all is gone.
  private func deleteSome(_ expired: inout Expired) throws -> Int {
    if expired.kept == .notices { try db.saveLastNotice() }
    var (rows, count) = (rowsPerClockCheck, 0)
    while rows > 0, let number = expired.numbers.first {
      if try !delete(number, expired.kept, most: &rows) { break }
      expired.numbers.removeFirst()
      count += 1
    }
    return count
  }

  /// Returns whether all of it is gone.
  private func delete(
    _ number: Int64, _ kept: Retention.Kept, most rows: inout Int64
  ) throws -> Bool {
    switch kept {
    case .trash: return try deleteTrash(number, most: &rows)
    case .files: return try deleteFilesOfTrash(number, most: &rows)
    case .notices: try db.run("DELETE FROM cascade_notice WHERE id = ?", .integer(number))
    case .deleted: return try forgetDeleted(number, most: &rows)
    case .entries: try db.run("DELETE FROM cascade_ledger WHERE seq = ?", .integer(number))
    }
    rows -= 1
    return true
  }

  /// The layouts go last: by them, the batch is found again.
  private static let tablesOfTrash = [
    ("cascade_trash", "batch, id, part"), ("cascade_trash_node", "batch, id"),
    ("cascade_trash_edge", "batch, source, name, destination, origin"),
    ("cascade_trash_layout", "batch, layout"),
  ]

  private func deleteTrash(_ batch: Int64, most rows: inout Int64) throws -> Bool {
    rows -= Int64(try db.markTrashedFiles(of: batch, .toDelete, most: rows))
    for (table, key) in Writer.tablesOfTrash where rows > 0 {
      try deleteRows(of: table, key, batch, most: &rows)
    }
    if rows > 0 { return true }
    // A batch that is only partly in the trash cannot be undone any more.
    try db.run(
      "UPDATE cascade_trash_layout SET remaining = -1 WHERE batch = ? AND remaining >= 0",
      .integer(batch))
    return false
  }

  /// The nodes that lost these files need no identity any more.
  private func deleteFilesOfTrash(_ batch: Int64, most rows: inout Int64) throws -> Bool {
    try deleteRows(of: "cascade_trash_node", "batch, id", batch, most: &rows)
    if rows > 0 { rows -= Int64(try db.markTrashedFiles(of: batch, .toDelete, most: rows)) }
    return rows > 0
  }

  func deleteRows(
    of table: String, _ key: String, _ batch: Int64, most rows: inout Int64
  ) throws {
    try db.run(
      """
      DELETE FROM main.\(table) WHERE (\(key)) IN (
        SELECT \(key) FROM main.\(table) WHERE batch = \(bind: batch) LIMIT \(bind: rows))
      """)
    rows -= Int64(db.changes)
  }
}

extension Connection {
  /// The next page of what is kept. `?1` is the number behind which it begins, `?2` is now.
  fileprivate func kept(
    _ kept: Retention.Kept, behind number: Int64, at now: Int64
  ) throws(SQLiteError) -> [Retention.Item] {
    let open: [Value] = [.text(MetaKey.sweepBatch.name), .text(MetaKey.undoBatch.name)]
    return try all(
      generated: Connection.query(kept),
      [.integer(number), .integer(now)] + ([.notices, .deleted].contains(kept) ? [] : open)
    ) { row in
      Retention.Item(
        number: row.integer(0), at: row.isNull(1) ? nil : row.integer(1),
        ties: Retention.Ties(rawValue: Int(row.integer(2))))
    }
  }

  private static func query(_ kept: Retention.Kept) -> String {
    let isOpen = "t.batch IN (SELECT value FROM cascade_meta WHERE name IN (?3, ?4))"
    func batches(of table: String, _ condition: String = "true") -> String {
      """
      SELECT t.batch, \(time(ofBatch: "t.batch")), iif(\(isOpen), \(Retention.Ties.openWork.rawValue), 0)
      FROM (SELECT DISTINCT batch FROM \(table) WHERE batch > ?1 AND batch > \(TrashLayout.batchOfKept) AND \(condition)
        ORDER BY batch LIMIT \(Retention.page)) AS t
      """
    }
    switch kept {
    case .trash: return batches(of: "cascade_trash_layout")
    case .files:
      return batches(of: "cascade_trash_file", "fate = \(FileFate.trashed.rawValue)")
    case .notices:
      return """
        SELECT t.id, \(time(ofBatch: "t.batch")), 0
        FROM (SELECT id, batch FROM cascade_notice WHERE id > ?1 ORDER BY id LIMIT \(Retention.page))
          AS t
        """
    case .deleted:
      return """
        SELECT t.number, \(time(ofBatch: "t.batch")), 0
        FROM (SELECT number, batch FROM cascade_deleted_part WHERE number > ?1 ORDER BY number
          LIMIT \(Retention.page)) AS t
        """
    case .entries: return entries(isOpen)
    }
  }

  private static func entries(_ isOpen: String) -> String {
    let hasMore = "SELECT 1 FROM cascade_ledger AS n WHERE n.id = t.id AND n.part > t.part"
    let ties: [(Retention.Ties, String)] = [
      (.openWork, isOpen),
      (.trash, "EXISTS (SELECT 1 FROM cascade_trash_layout AS k WHERE k.batch = t.batch)"),
      (
        .files,
        """
        EXISTS (SELECT 1 FROM cascade_trash_file AS k WHERE k.batch = t.batch)
          OR t.batch IN (SELECT batch FROM cascade_released_file)
        """
      ), (.notices, "EXISTS (SELECT 1 FROM cascade_notice AS k WHERE k.batch = t.batch)"),
      (.unfinishedFile, "t.outcome = 'partial' AND NOT EXISTS (\(hasMore))"),
    ]
    let sum = ties.map { "iif(\($1), \($0.rawValue), 0)" }.joined(separator: " + ")
    return """
      SELECT t.batch, \(time(ofBatch: "t.batch")), \(sum)
      FROM (SELECT seq AS batch, id, part, outcome FROM cascade_ledger WHERE seq > ?1
        ORDER BY seq LIMIT \(Retention.page)) AS t
      """
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
          SELECT batch FROM cascade_trash_layout WHERE batch > \(TrashLayout.batchOfKept)
          UNION SELECT batch FROM cascade_trash_file
          WHERE fate = \(FileFate.trashed.rawValue)) AS t
        WHERE ?1 IS NULL OR \(Connection.time(ofBatch: "t.batch")) < ?1
        """, [limit.map { .integer($0.time) } ?? .null, .integer(limit?.now ?? 0)])
    return Int(count ?? 0)
  }

  /// The time of a batch, as SQL; ?2 is now. A batch that the ledger does not know, or recorded
  /// while the clock was ahead, is as old as the next batch that was not separated from another one.
  fileprivate static func time(ofBatch batch: String) -> String {
    """
    (SELECT \(realTime("n")) FROM cascade_ledger AS n
      WHERE n.seq >= \(batch) AND (n.origin IS NULL OR n.seq = \(batch)) AND \(realTime("n")) <= ?2
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
    of batch: Int64, _ fate: FileFate, most: Int64, where condition: Query = "true"
  ) throws(SQLiteError) -> Int {
    try run(
      """
      UPDATE main.cascade_trash_file SET fate = \(fate.rawValue)
      WHERE (batch, collection, path) IN (
        SELECT batch, collection, path FROM main.cascade_trash_file
        WHERE batch = \(bind: batch) AND fate = \(FileFate.trashed.rawValue) AND \(condition)
        LIMIT \(bind: most))
      """)
    return changes
  }
}
