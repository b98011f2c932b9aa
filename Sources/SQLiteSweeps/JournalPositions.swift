internal import CascadeModel
internal import CascadeSQLite
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges

/// How far each kind of sweep has read the journal. A row stays until both kinds have read it: what
/// `cascade` has finished may still be news to `refcount`.
///
/// A sweep of one kind, and a sweep in steps, journals its own deletions: they enter the journal
/// like an application's, behind the rows that the sweep read (`journalsDeletions`). So the other kind finds
/// them, and so does the sweep that goes on after a crash.
extension Writer {
  /// One run serves both kinds, if both have read equally far. If not, each first reads what it has
  /// not read, then what the other did. At last both together examine what one kind denied and the
  /// other may release. No part scans whole tables, even if `all` was asked for.
  func sweepPartsOfJournal(of kinds: [SweepKind]) throws -> [[SweepKind]] {
    let readers = [SweepKind.cascade, .refcount].filter(kinds.include)
    if readers.isEmpty { return [] }
    let isEven = try db.journalPosition(.cascade) == db.journalPosition(.refcount)
    if readers.count == 2 && !isEven {
      return [[.cascade], [.refcount], [.cascade], [.refcount], [.cascade, .refcount]]
    }
    return [readers]
  }

  func readJournal() throws {
    current.step.journalEnd = try db.lastInJournal
    sweepRun.journalEnd = current.step.journalEnd
    if current.step.journalEnd == 0 { return }
    let digest = JournalReader(
      binding: binding, watches: attachment.watches,
      scope: try JournalScope(plan: sweepRun.owner, db), reportsCauses: model.trash > .zero,
      endOfOwnRows: try endOfOwnRows, hasNotifiedRows: try hasNotifiedRanges)
    let start = try sweepRun.owner.map { try firstRow(of: $0) } ?? db.journalStart(sweepRun.part)
    try digest.read(db, above: start, upTo: current.step.journalEnd)
  }

  /// All that a job reads is there because of itself.
  private var endOfOwnRows: Int64 {
    get throws {
      if sweepRun.job != nil { return current.step.journalEnd }
      return try sweepRun.plan?.ownEnd ?? db.meta(.ownJournalEnd) ?? 0
    }
  }

  private func firstRow(of owner: Int64) throws -> Int64 {
    try db.integer("SELECT min(low) FROM cascade_plan_rows WHERE plan = ?", .integer(owner))
      ?? current.step.journalEnd
  }

  /// Deletes the rows that the part has read, as soon as no other kind needs them.
  func deleteReadJournal(upTo end: Int64) throws {
    try deleteReadJournal(above: db.journalFloor, upTo: end)
  }

  /// The rows of a plan are deleted behind its end.
  private func deleteReadJournal(above low: Int64, upTo end: Int64) throws {
    let kinds = sweepRun.part
    if let plan = sweepRun.plan { return try takeKept(ofPlan: plan.number) }
    if !kinds.readsJournal { return }
    let other = kinds.cascades ? SweepKind.refcount : .cascade
    let end = kinds.cascades && kinds.counts ? end : min(end, try db.journalPosition(other))
    if try db.ownsJournalRows { return try deleteUnowned(Slice(low: low, high: max(low, end))) }
    try noteEnded(Slice(low: 0, high: end))
    try freeDeleted(Slice(low: 0, high: end))
    try takeKept(Slice(low: 0, high: end))
    try db.run("DELETE FROM cascade_journal WHERE seq <= ?", .integer(end))
    try db.run(
      generated: "DELETE FROM cascade_meta AS m WHERE \(MetaKey.isNotifiedRange) AND value <= ?",
      [.integer(end)])
    if try db.integer("SELECT 1 FROM cascade_journal LIMIT 1") == nil {
      try restartJournalNumbers()
    }
  }

  /// Plans keep their rows, with what is known of these.
  private func deleteUnowned(_ read: Slice) throws {
    let scope = try JournalScope(plan: nil, db)
    try noteEnded(read, scope.and("j"))
    try freeDeleted(read, scope.and("j"))
    try takeKept(read, scope.and("j"))
    try db.keepUses(above: read.low, upTo: read.high)
    try db.run(
      generated: """
        DELETE FROM cascade_journal AS j WHERE j.seq > ? AND j.seq <= ? \(scope.and("j"))
        """, read.bound)
    try db.run(
      generated: """
        DELETE FROM cascade_meta AS m WHERE \(MetaKey.isNotifiedRange) AND value <= ?
        AND NOT EXISTS (SELECT 1 FROM cascade_plan_rows AS r
          WHERE r.low < m.value AND r.high > \(MetaKey.startOfNotifiedRange))
        """, [.integer(read.high)])
    try keepNumbersBehindJournal()
  }

  /// When the last rows of the journal were deleted, their numbers are given again. No old number may be
  /// taken for a new one.
  func keepNumbersBehindJournal() throws {
    let last = try db.lastInJournal
    if last == 0 { return try restartJournalNumbers() }
    for key in [MetaKey.journalRead(.cascade), .journalRead(.refcount), .ownJournalEnd] {
      if let number = try db.meta(key), number > last { try db.setMeta(key, last) }
    }
    try db.run(
      generated: """
        DELETE FROM cascade_meta AS m WHERE \(MetaKey.isNotifiedRange)
        AND \(MetaKey.startOfNotifiedRange) >= ?
        """, [.integer(last)])
    try db.run(
      generated: """
        UPDATE cascade_meta AS m SET value = ?1 WHERE \(MetaKey.isNotifiedRange) AND value > ?1
        """, [.integer(last)])
    current.step.journalEnd = min(current.step.journalEnd, last)
  }

  /// When the journal is empty, its numbers start again. No old number may be taken for a new one.
  private func restartJournalNumbers() throws {
    try clearJournalPositions()
    try db.deleteMeta(.ownJournalEnd)
    try db.run(generated: "DELETE FROM cascade_meta AS m WHERE \(MetaKey.isNotifiedRange)")
    current.step.journalEnd = 0
  }

  private func clearJournalPositions() throws {
    try db.deleteMeta(.journalRead(.cascade), .journalRead(.refcount))
  }

  /// At the end of a sweep: its own deletions are no news to it.
  func advanceJournalPosition() throws {
    let kinds = sweepRun.part
    if !kinds.readsJournal { return }
    let read = try endOfReadOrOwnRows
    let isBoth = kinds.cascades && kinds.counts
    let (low, isOwned) = (try db.journalFloor, try db.ownsJournalRows)
    for kind in [SweepKind.cascade, .refcount] where kinds.include(kind) && (!isBoth || isOwned) {
      try db.setMeta(.journalRead(kind), read)
    }
    try deleteReadJournal(above: low, upTo: read)
    if isBoth && !isOwned { try clearJournalPositions() }
  }

  /// Later sweeps need not explain the nodes that they find gone because of this one. Records the
  /// last row of the journal for which this holds.
  func recordOwnEnd() throws {
    if !current.journalsDeletions && current.counts.deletedCount == 0 { return }
    let last = try db.lastInJournal
    if last == 0 { return try restartJournalNumbers() }
    // A sweep that does not cascade explains none of the rows that were there before it. Its own
    // rows are marked by `recordNotifiedRange`.
    if !current.notifiesOfEarlierDeletions && !binding.hasTriggers { return }
    let end = current.sweep.isStepped ? current.step.ownJournalEnd : last
    if end > 0 { try db.setMeta(.ownJournalEnd, end) }
  }

  /// Marks this sweep's own rows. Another kind finds them, and must not write the same notices
  /// again. If the application has triggers, some of the rows may be theirs: two notices are better
  /// than none.
  func recordNotifiedRange(behind start: Int64, upTo end: Int64) throws {
    if findsItsOwnDeletions || binding.hasTriggers || end == start { return }
    try db.run(
      generated: """
        UPDATE cascade_meta AS m SET value = ? WHERE \(MetaKey.isNotifiedRange) AND value = ?
        """, [.integer(end), .integer(start)])
    if db.changes > 0 { return }
    if try !hasNotifiedRanges { try db.setMeta(.notifiedSince, current.batch) }
    try db.setMeta(.notified(behind: start), end)
  }

  /// Deletes this sweep's own rows, a part at a time, if it follows all rules and does not read the
  /// journal. Its last plan found everything that follows from them. They must go because another
  /// row may later take the place of a deleted one. What follows from the rows of earlier plans is
  /// found by the next sweep that reads the journal.
  func deleteOwnJournalRows(behind start: Int64) throws {
    // Those of a job go behind its end.
    if sweepRun.part.readsJournal || sweepRun.job != nil || current.step.hasSkippedNodes
      || !current.step.isUndisturbed
    {
      return
    }
    let ranges = try db.all(
      generated: """
        SELECT \(MetaKey.startOfNotifiedRange) AS low, value FROM cascade_meta AS m
        WHERE \(MetaKey.isNotifiedRange) AND low >= ? ORDER BY low
        """, [.integer(start)]
    ) { Slice(low: $0.integer(0), high: $0.integer(1)) }
    for own in ranges {
      var low = own.low
      while low < own.high {
        let part = Slice(low: low, high: min(own.high, low + lock.pace.rows * 10))
        if try !deleteOwnRangeIfAlone(part, of: own) { return }
        low = part.high
        try yieldLock()
      }
    }
  }

  /// Deletes the record of the range with its last part, because its numbers may then be used
  /// again. Returns false if other connections committed in between.
  private func deleteOwnRangeIfAlone(_ part: Slice, of own: Slice) throws -> Bool {
    try group {
      if try !lock.pace.hasSeen(foreignCommits()) { return false }
      try db.run(
        "DELETE FROM cascade_journal WHERE seq > ? AND seq <= ?", .integer(part.low),
        .integer(part.high))
      if part.high == own.high { try db.deleteMeta(.notified(behind: own.low)) }
      // A node that the remaining rows name, and that is gone, may have been deleted by this sweep.
      current.step.ownJournalEnd = try db.lastInJournal
      return true
    }
  }

  private var findsItsOwnDeletions: Bool {
    current.sweep.followedRules == .all
      && (current.sweep.nextPlanReadsDeletions || !current.sweep.isStepped)
  }

  /// Up to here, each row of the journal was read or is there because of this sweep. Other
  /// connections may have written among the sweep's own rows, and after its last step.
  var endOfReadOrOwnRows: Int64 {
    get throws {
      if current.sweep.isStepped {
        return current.step.isUndisturbed ? current.step.ownJournalEnd : current.step.journalEnd
      }
      if binding.hasTriggers { return current.step.journalEnd }
      return try db.lastInJournal
    }
  }

  /// Whether the journal has rows that a sweep of another kind wrote and has already notified.
  private var hasNotifiedRanges: Bool {
    get throws {
      try db.integer(
        generated: "SELECT 1 FROM cascade_meta AS m WHERE \(MetaKey.isNotifiedRange) LIMIT 1")
        != nil
    }
  }
}
