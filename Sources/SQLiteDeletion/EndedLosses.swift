internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteJournal
internal import SQLiteTables

/// What nodes have lost by the journal ends when the daemon deletes them, too. If rows of the journal are
/// unread, their deletion is journaled, as an application's is, before the rows go (`UsedKeys.swift`).
extension Writer {
  func journalEndOfLosses(of table: NodeTable, in rows: [Query]) throws {
    guard binding.journalsArrivals(table), try hasUnreadJournal else { return }
    for rows in rows {
      try db.run(
        """
        INSERT INTO main.cascade_journal(what, key, gone, a)
        SELECT \(JournalSubject.ownDeletion), \(table.key("o")), \(GoneMark.indexed), \(bind: table.id)
        \(rows)
        """)
    }
  }

  /// Whether there are rows that this transaction, or the plan that it belongs to, has not read, or has
  /// read for one kind of sweep only.
  private var hasUnreadJournal: Bool {
    get throws {
      let readsAll = current.sweep.isStepped && current.sweep.followedRules == .all
      if readsAll && current.step.isUndisturbed { return false }
      return try db.integer(
        "SELECT 1 FROM main.cascade_journal WHERE seq > ? AND what >= ? LIMIT 1",
        .integer(readsAll ? current.step.journalEndOfPlan : 0), .integer(JournalSubject.firstWatch))
        != nil
    }
  }
}
