internal import CascadeModel
internal import CascadeSQLite
internal import CascadeEngine
internal import CascadeStore
internal import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion

/// A small sweep is done in one transaction, before other writers notice.
///
/// 1. It is tried at once. Only if D turns out to be large is it planned in a snapshot. So what
///    follows from a small deletion is computed once.
/// 2. A sweep that runs by itself reads everything before it takes the write lock. If others commit
///    meanwhile, the attempt is given up and made again a little later; when `limits.patience` has
///    passed, it takes the lock first. A sweep that was asked for always does.
/// 3. The attempt ends as soon as it has taken half of the time that a step may hold the lock, and D
///    is not known. Nothing is deleted then.
/// 4. If another process begins a transaction before the commit, the attempt is given up and made
///    again: the commit would make that transaction fail.
/// 5. It is not made where the attempt itself would take long: the sweep scans whole tables, or the
///    journal is long.
extension Writer {
  /// Returns false if the sweep has to be planned.
  func sweepAtOnceIfSmall() throws -> Bool {
    if try !isWorthTrying { return false }
    lock.pace.noteForeignCommits(foreignCommits: try foreignCommits())
    while true {
      let attempt = try attempt(isKnown: false)
      if attempt != .disturbed { return attempt == .done }
    }
  }

  enum Attempt { case done, large, disturbed }

  /// `isKnown`: the sweep was planned, and turned out to be small. So it may take its time.
  func attempt(isKnown: Bool) throws -> Attempt {
    var (isKnown, isDisturbed) = (isKnown, false)
    let (mark, run, holds) = (lock.patience.mark, sweepRun, lock.durations.count)
    let isOver = { [self] (now: Bool) in
      guard let start = lock.begunAt else { return false }
      isDisturbed =
        isDisturbed || lock.heldSince != nil && lock.patience.shouldYield(at: path, now: now)
      return isDisturbed || !isKnown && .now - start > lock.pace.budget / 2
    }
    do {
      try db.interrupting(when: { isOver(false) }) {
        try sweepAtOnce(readsFirst: lock.patience.isLeft && !db.isWithoutLog) { levels in
          if try !isKnown && (!isSmall(SweepPlan(levels.map(\.slice), current)) || mayBeHeld) {
            throw LargeSweep()
          }
          isKnown = true
        } beforeCommit: {
          if isOver(true) { throw LargeSweep() }
        }
      }
      return .done
    } catch let error where error.isGivenUpAttempt {
      sweepRun = run
      if !isDisturbed && !(error is OutdatedReading) { return .large }
      lock.durations.removeSubrange(holds...)
      if error is OutdatedReading { try lock.patience.pauseBeforeNextAttempt() }
      lock.patience.noteLost(since: mark)
      return .disturbed
    }
  }

  private var isWorthTrying: Bool {
    get throws {
      if attachment.isDetached || sweepRun.part.lookThroughTables { return false }
      if try sweepRun.openBatch != nil || db.meta(.sweepBatch) != nil { return false }
      try adaptToSchema()
      if let plan = sweepRun.plan { return try isSmall(plan) }
      if sweepRun.job?.batch != nil { return false }
      let rows = try db.integer(
        """
        SELECT count(*) FROM (
          SELECT * FROM (SELECT 1 FROM cascade_journal WHERE seq > ?1 LIMIT ?2 + 1)
          UNION ALL SELECT * FROM (SELECT 1 FROM cascade_candidate WHERE plan IS NULL LIMIT ?2 + 1))
        """, .integer(db.journalStart(sweepRun.part)), .integer(lock.fewNodes))
      return rows ?? 0 <= lock.fewNodes
    }
  }

  /// Whether the plan can be carried out in one transaction. A sweep that scans whole tables,
  /// however little it deletes, does so only where no writer waits.
  func isSmall(_ plan: SweepPlan) throws -> Bool {
    if plan.size > lock.fewNodes || current.sweep.isResumed || sweepRun.part.lookThroughTables {
      return false
    }
    if try plan.size > 0 && hasLongLists { return false }
    return try !hasManyDependents(on: plan.all, most: lock.fewNodes)
  }

  private func isSmall(_ plan: ApprovedCauses) throws -> Bool {
    let rows = try db.integer(
      """
      SELECT (SELECT coalesce(sum(high - low), 0) FROM cascade_plan_rows WHERE plan = ?1)
        + (SELECT count(*) FROM cascade_candidate WHERE plan = ?1)
      """, .integer(plan.number))
    return rows ?? 0 <= lock.fewNodes
  }

  /// To find out whether the sweep is held, whole tables are counted.
  private var mayBeHeld: Bool {
    get throws {
      let recent = try sweepRun.plan == nil ? recentDeletions() : [:]
      if sweepRun.plan != nil || !facts.hold.needsSizes(current.counts.deletedCount, recent: recent)
      {
        return false
      }
      let deletion = Hold.Deletion(current.counts.deletedByCollection)
      return facts.hold.judge(deletion, recent: recent) {
        sizes.isAtLeast($1, $0) ? $1 : nil
      } != .passes
    }
  }
}
