internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion

/// The steps of a large sweep. Each step is a transaction that removes what comes next in the plan,
/// a few rows at a time as long as there is time.
extension Writer {
  func remove(_ plan: SweepPlan) throws {
    // What was removed before the tables were altered counts too.
    defer { sweepRun.result.add(current) }
    try withStepSettings {
      try step { try begin(plan) }
      try carryOutAdditionalWork()
      if plan.size > 0 { try withoutTriggers { try removeAll(plan) } }
    }
    // The next plan must find what is left. It is among the journal rows of this sweep and what the
    // application's triggers wrote because of them.
    let isNews = binding.hasTriggers && current.step.ownJournalEnd > current.step.journalEnd
    if isNews || current.step.needsAnotherPlan { current.step.isUndisturbed = false }
  }

  /// What comes after the last step makes all of them durable. What foreign keys would do or refuse,
  /// the rules do in their own order, or the steps do in their place (`ForeignKeyReplacement.swift`).
  package func withStepSettings(_ body: () throws -> Void) throws {
    let synchronous = try db.integer("PRAGMA synchronous") ?? 2
    try db.execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF")
    try db.setCache(.deleting)
    try db.limitLog(.none)
    defer {
      try? db.execute("PRAGMA synchronous = \(synchronous); PRAGMA foreign_keys = ON")
      try? db.setCache(.ordinary)
      try? db.limitLog(.ordinary)
    }
    try setFirstBarrier()
    try body()
  }

  /// Plans and removes while no other connection can write. This is for nodes that each stay as
  /// long as another one exists that goes too, while others commit between the attempts. What is
  /// refused even so is left to the next plan.
  func planAndRemoveUnderLock(_ start: inout Int64) throws {
    let blocked = current.blocked
    clearPlan()
    do {
      try withStepSettings {
        try step {
          // This plan does not find what follows from the earlier steps, so only rows from here on
          // are covered.
          start = try db.lastInJournal
          // The plan needs the trigger that rejects leased nodes.
          let plan = try makePlan(blocked)
          try withoutTriggers {
            try begin(plan)
            try persistCandidates(.all)
            try rememberLostFiles()
            try recheckAndRemove(plan.all, plan)
            try noteDeleted(since: [:])
            try addToDeletedCount(current.counts.deletedCount)
          }
        }
      }
      sweepRun.result.add(current)
    } catch is ApplicationRefusal {}
  }

  /// A plan that finds nothing leaves no trace.
  private func begin(_ plan: SweepPlan) throws {
    try deleteEndedCandidates()
    current.hold.approved = plan.approval?.checksum
    try spendApproval(current.hold.absentChecksum)
    if plan.size == 0 { return }
    sweepRun.hasEndedPart = false
    try persistApprovedLosses(isApproved: plan.approval != nil)
    try openBatch()
    if current.sweep.isResumed { return }
    try recordStepped()
    identities.counters.serial += 1
  }

  private func removeAll(_ plan: SweepPlan) throws {
    var progress = WorkProgress(phase: .deleting, total: Int(plan.all.high))
    var low = plan.all.low
    repeat {
      low = try removeUnlessRefused(plan, above: low)
      progress.done = Int(low)
      lock.policy.reportProgress(progress)
      try yieldLock()
    } while low < plan.all.high
  }

  /// Returns how far it came.
  private func removeUnlessRefused(_ plan: SweepPlan, above low: Int64) throws -> Int64 {
    while true {
      do {
        var (high, rows, worked) = (low, Int64(0), Duration.zero)
        let held = try step {
          let (before, nodes) = (current.counts.deletedCount, current.counts.deletedByCollection)
          (high, rows, worked) = try removeWithinBudget(plan, above: low)
          try db.clearKeysOfRows()
          try addToDeletedCount(current.counts.deletedCount - before)
          try noteDeleted(since: nodes)
        }
        lock.pace.note(rows: rows, worked: worked, held: held)
        lock.pace.noteLog(rows: rows, bytes: logUse.last)
        return high
      } catch let refused as ApplicationRefusal {
        current.block(refused.reasons)
        current.blocksMore = true
        try exclude(refused.nodes)
      }
    }
  }

  private func removeWithinBudget(
    _ plan: SweepPlan, above low: Int64
  ) throws -> (high: Int64, rows: Int64, worked: Duration) {
    let start = ContinuousClock.now
    var (high, rows, more) = (low, Int64(0), lock.pace.rowsAtOnce)
    repeat {
      var (slice, weight, isHub) = try sliceWithinTime(
        self.slice(behind: high, most: max(more, smallestSlice), of: plan))
      // A high fan-out node begins a step: its rows take a different time than the rows before
      // them.
      if isHub && rows > 0 { break }
      if try isHub && isGone(slice) {
        if !current.step.isUndisturbed { _ = try recheckSlice(slice) }
        (weight, isHub) = try letGo(slice, since: start)
        rows += weight
        if isHub { break }
        weight = 1
      }
      current.step.isHighFanOut = try isHub && current.sweep.nextPlanReadsDeletions && isRow(slice)
      let whole = try extendedByHolders(slice, of: plan)
      if whole != slice { (slice, weight) = (whole, max(1, whole.count)) }
      try recheckAndRemove(slice, plan)
      rows += weight
      high = slice.high
      more = lock.pace.nextPortion(behind: rows, worked: .now - start)
    } while high < plan.all.high && !current.step.isHighFanOut && more > 0
    return (high, rows, .now - start)
  }

  /// If other connections committed in between, it works level by level: what stays is known before
  /// what would follow from it is checked.
  private func recheckAndRemove(_ slice: Slice, _ plan: SweepPlan) throws {
    for part in current.step.isUndisturbed ? [slice] : plan.parts(of: slice) {
      let ends = try current.step.isUndisturbed ? db.nodeCounts(in: part) : recheckSlice(part)
      try count(ends)
      try spendApproval(part)
      try remove(part, ends)
    }
  }

  /// One transaction that knows whether other connections committed before it.
  @discardableResult
  func step(_ body: () throws -> Void) throws -> Duration {
    let (before, job) = (current, sweepRun.job)
    do {
      try group(isStep: true) {
        if binding.schemaVersion != current.step.schemaVersion { throw StalePlan() }
        try noteForeignCommits()
        let start = try db.lastInJournal
        try body()
        current.step.ownJournalEnd = try db.lastInJournal
        try ownJournaled(behind: start, upTo: current.step.ownJournalEnd)
        // The next plan writes the notices for a high fan-out node.
        if !current.step.isHighFanOut {
          try recordNotifiedRange(behind: start, upTo: current.step.ownJournalEnd)
        }
        current.step.isHighFanOut = false
      }
    } catch {
      (current, sweepRun.job) = (before, job)
      throw error
    }
    return lock.durations.last ?? .zero
  }

  /// Notes what other connections did since the last step; for the first step, since the plan was
  /// made, which saw everything that was in the journal then.
  private func noteForeignCommits() throws {
    let commits = try foreignCommits()
    if !lock.pace.hasSeen(commits) { current.step.isUndisturbed = false }
    lock.pace.noteForeignCommits(foreignCommits: commits)
    if current.step.isUndisturbed { return }
    let touched = try db.all(
      "SELECT DISTINCT what FROM cascade_journal WHERE seq > ?",
      .integer(max(current.step.ownJournalEnd, current.step.journalEnd))
    ) { $0.integer(0) }
    for watch in attachment.watches where touched.contains(watch.number) {
      if case .rows(let collection) = watch.meaning.watchSubject {
        current.step.collectionsChangedByOthers.insert(collection)
      }
    }
    try addWrittenLists()
  }

  /// Calls the body with slices of the rows, in steps of a sweep.
  func forEachSliceInSteps(_ ids: String, _ body: (Slice) throws -> Void) throws {
    var rest = try slices(of: ids)
    while !rest.isEmpty {
      try step { _ = try repeatWithinBudget { try rest.takeFirst(body) } }
      if !rest.isEmpty { try yieldLock() }
    }
  }

  func carryOutAdditionalWork() throws {
    try forEachSliceInSteps("SELECT rowid AS id FROM temp.pending_notices", writeCollectedNotices)
    try forEachSliceInSteps("SELECT rowid AS id FROM temp.new_candidates", persistCandidates)
    if model.files.isEmpty || current.lostCount == 0 { return }
    try forEachSliceInSteps(Writer.lostFiles, rememberLostFiles)
  }
}
