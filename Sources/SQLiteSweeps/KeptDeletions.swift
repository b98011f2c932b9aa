internal import CascadeEngine
internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteEdges
internal import SQLiteTables

/// Rows that applications have deleted, and that are kept (`keepDeleted`).
///
/// 1. A trigger writes each into the trash, in the transaction that deletes it, under no batch yet, and by the
///    number of the row of the journal that tells of the deletion.
/// 2. In the transaction in which a sweep forgets that row of the journal, the kept row moves into the batch
///    of the sweep: so a batch has what an application deleted, and what followed.
/// 3. Where the journal says that nothing was deleted, because an upsert only changed the row, it goes.
extension Writer {
  /// `scope` is a condition on the rows `j` of the journal that are forgotten.
  func takeKept(_ rows: Slice, _ scope: String = "") throws {
    let (isKept, batch) = ("batch = \(TrashLayout.batchOfKept)", current.batch)
    let isAny = try db.integer(
      generated: "SELECT 1 FROM cascade_trash WHERE \(isKept) AND id > ? AND id <= ? LIMIT 1",
      rows.bound)
    if isAny == nil { return }
    let isRead = "EXISTS (SELECT 1 FROM main.cascade_journal AS j WHERE j.seq = t.id \(scope)"
    let taken =
      "\(isKept) AND t.id > ?1 AND t.id <= ?2 AND \(isRead) AND \(GoneMark.isDeletion("j")))"
    var count = 0
    for (kept, layout) in try keptLayouts(rows) where model.trash > .zero {
      let own = "FROM main.cascade_trash AS t WHERE t.layout = \(kept) AND \(taken)"
      let found = Int(
        try db.integer(generated: "SELECT count(*) \(own) AND t.part = 0", rows.bound) ?? 0)
      if found == 0 { continue }
      let (number, last) = (try layoutNumber(layout), try db.lastSideId(of: batch))
      try db.run(
        generated: """
          UPDATE main.cascade_trash AS t SET batch = \(batch), layout = \(number), id = \(last) - (t.id - ?1)
          WHERE t.layout = \(kept) AND \(taken)
          """, rows.bound)
      try countTrashedEntries(layout, count: found)
      try noteDeletedByApplication(behind: last)
      count += found
    }
    try db.run(
      generated: """
        DELETE FROM main.cascade_trash AS t WHERE \(isKept) AND t.id > ?1 AND t.id <= ?2
        AND (\(isRead)) OR NOT EXISTS (SELECT 1 FROM main.cascade_journal AS j WHERE j.seq = t.id))
        """, rows.bound)
    try noteKept(count)
  }

  private func keptLayouts(_ rows: Slice) throws -> [(Int64, TrashLayout)] {
    try db.all(
      generated: """
        SELECT l.kind, l.collection, l.subject, l.columns, l.keys, l.types, l.layout
        FROM main.cascade_trash_layout AS l WHERE l.batch = \(TrashLayout.batchOfKept) AND l.layout IN (
          SELECT layout FROM main.cascade_trash AS t
          WHERE t.batch = \(TrashLayout.batchOfKept) AND t.id > ? AND t.id <= ?)
        """, rows.bound
    ) { row in TrashLayout(row: row).map { (row.integer(6), $0) } }.compactMap(\.self)
  }

  /// The batch exists, also if nothing followed.
  private func noteKept(_ count: Int) throws {
    if count == 0 { return }
    if try db.integer("SELECT 1 FROM cascade_ledger WHERE seq = ?", .integer(current.batch)) != nil
    {
      return try addToDeletedCount(count)
    }
    current.counts.kept += count
    if !current.sweep.isStepped { return }
    try openBatch()
    try recordStepped()
    identities.counters.serial += 1
  }

  /// Those of a plan, in a sweep that carries it out.
  func takeKept(ofPlan plan: Int64) throws {
    for rows in try rows(ofPlan: plan) { try takeKept(rows) }
  }

  func takeKeptInSteps(ofPlan plan: Int64) throws {
    if try !db.hasKept { return }
    for rows in try rows(ofPlan: plan) {
      var low = rows.low
      while low < rows.high {
        let part = Slice(low: low, high: min(rows.high, low + max(1, lock.pace.rows)))
        try step { try takeKept(part) }
        low = part.high
        try yieldLock()
      }
    }
  }

  /// Rows of the journal go that no sweep reads any more.
  func forgetKept(_ rows: Slice) throws {
    try db.run(
      "DELETE FROM cascade_trash WHERE batch = ? AND id > ? AND id <= ?",
      .integer(TrashLayout.batchOfKept), .integer(rows.low), .integer(rows.high))
  }

  func rows(ofPlan plan: Int64) throws -> [Slice] {
    try db.all(
      "SELECT low, high FROM cascade_plan_rows WHERE plan = ? AND hides ORDER BY low",
      .integer(plan)
    ) { Slice(low: $0.integer(0), high: $0.integer(1)) }
  }
}

extension Connection {
  /// Whether a row is kept that no sweep has read of.
  var hasKept: Bool {
    get throws(SQLiteError) {
      try integer(
        "SELECT 1 FROM cascade_trash WHERE batch = ? LIMIT 1", .integer(TrashLayout.batchOfKept))
        != nil
    }
  }
}
