package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion

/// A large sweep beside other writers. It is planned in a snapshot, and deletes in
/// steps that hold the lock for a short while each.
///
/// 1. Causes go before consequences: a node is deleted after the deletion of its cause is
///    committed. So a node that turns out to stay also keeps everything that would have followed
///    it.
/// 2. Each step journals its deletions (`JournalPositions.swift`), so the journal says what still
///    has to follow. If the daemon is killed between two steps, the next sweep finds there what
///    this one left.
/// 3. If another connection has committed since the plan was made, each step rechecks
///    (`RecheckBeforeDeletion.swift`) before it deletes. The following plan finds what this plan could not
///    know, because it reads what the steps wrote. The last plan finds nothing more.
extension Writer {
  /// Other connections may always give a reason for one more plan. After so many, the next sweep
  /// does the rest.
  private static let planLimit = 10
  private static let plansBeforeForcing = 3
  /// So many nodes that wait for each other are deleted together at most.
  private var jointDeletionLimit: Int64 { 10 * lock.fewNodes }

  func sweepInSteps() throws {
    if try sweepAtOnceIfSmall() { return }
    // Nodes that another sweep could not delete are not reported by this one.
    current = TransactionState()
    var start: Int64 = 0
    defer {
      clearPlan()
      removeBarrier()
      stopListTrackingIfAny()
    }
    var cut: String?
    for number in 1...Writer.planLimit {
      lock.policy.reportProgress(WorkProgress(phase: .planning))
      clearPlan()
      start = try db.lastInJournal
      let plan = try plan()
      if try isSmall(plan) {
        clearPlan()
        while try attempt(isKnown: true) == .disturbed {}
        return
      }
      let (before, told) = (sweepRun.result.deletedCount, try db.lastInJournal)
      cut = "the tables were altered repeatedly: the rest is deleted later"
      if try !carryOut(plan, number, &start) { continue }
      cut = reasonToContinueLater(plan)
      if current.step.isUndisturbed || plan.size == 0 { break }
      if sweepRun.result.deletedCount > before { continue }
      let isEnd =
        try !current.step.hasSkippedNodes && !current.step.needsAnotherPlan
        && db.lastInJournal == told
      if isEnd || (cut != nil && number > Writer.plansBeforeForcing) { break }
    }
    try checkpointAfterSweep()
    if let cut { return sweepRun.result.cutShort(because: cut) }
    try deleteOwnJournalRows(behind: start)
    try group { try finishSweep() }
  }

  /// Returns false if a new plan is needed: the tables were altered, or lists were written that are
  /// not noted.
  private func carryOut(_ plan: SweepPlan, _ number: Int, _ start: inout Int64) throws -> Bool {
    let before = sweepRun.result.deletedCount
    do {
      try remove(plan)
      let isStuck = sweepRun.result.deletedCount == before || number > Writer.plansBeforeForcing
      if current.step.hasSkippedNodes && isStuck && plan.size <= jointDeletionLimit {
        try planAndRemoveUnderLock(&start)
      }
      try deletePlannedJournalRows()
      return true
    } catch is StalePlan {
      return false
    } catch is UntrackedLists {
      try group { try startListTracking() }
      return false
    }
  }

  /// Why the rest goes later: nodes stayed although the application refused nothing. Nil if the
  /// sweep only reads the journal: the write that made a node stay has the node examined again.
  private func reasonToContinueLater(_ plan: SweepPlan) -> String? {
    if !current.step.hasSkippedNodes || !current.blocked.isEmpty { return nil }
    if sweepRun.part.readsJournal && !sweepRun.part.scansTables { return nil }
    return "up to \(plan.size) nodes wait until no program writes"
  }

  struct SweepPlan {
    /// The rows of `temp.gone` by levels: each level brought in the next.
    let levels: [Slice]
    /// The number of nodes and edges in the plan.
    let size: Int64
    let approval: HeldPlan?

    var all: Slice { Slice(low: levels.first?.low ?? 0, high: levels.last?.high ?? 0) }

    init(_ levels: [Slice], _ state: TransactionState, approval: HeldPlan? = nil) {
      self.levels = levels
      size = (self.levels.last?.high ?? 0) + Int64(state.lostCount)
      self.approval = approval
    }

    /// A slice split by levels; the slice itself if it is empty.
    func parts(of slice: Slice) -> [Slice] {
      if slice.isEmpty { return [slice] }
      return levels.filter { $0.low < slice.high && $0.high > slice.low && !$0.isEmpty }
        .map { Slice(low: max($0.low, slice.low), high: min($0.high, slice.high)) }
    }
  }

  // MARK: - Planning

  /// Other connections can write meanwhile.
  private func plan() throws -> SweepPlan {
    try adaptToSchema()
    let blocked = current.sweep.isStepped ? current.blocked : []
    // Frames that are written after the snapshot must not be checkpointed by the first commit after
    // it ends.
    try setFirstBarrier()
    return try stoppableSnapshot {
      let plan = try makePlan(blocked)
      syncLogInParts()
      // The plan stays in the temporary tables.
      try db.commit()
      return plan
    }
  }

  func makePlan(_ blocked: [Reason]) throws -> SweepPlan {
    current = TransactionState()
    try prepare()
    current.sweep.isStepped = true
    current.sweep.nextPlanReadsDeletions = sweepRun.part.cascades || sweepRun.job != nil
    current.step.schemaVersion = binding.schemaVersion
    current.step.journalEndOfPlan = try db.lastInJournal
    lock.pace.noteForeignCommits(foreignCommits: try foreignCommits())
    try db.empty(.known)
    try takeBatch()
    try findDead()
    current.step.isNotingLists = try db.isTrackingLists
    let levels = try findGone()
    try findLists(of: levels.nodeCounts)
    current.block(blocked)
    let approval = try holdUnlessApproved()
    current.forgetCounts()
    try collectRemovedEdgeNotices()
    try findCandidates()
    let slices = levels.map(\.slice)
    let order = try sweepRun.job == nil ? slices : orderedByForeignKeys(slices)
    return SweepPlan(order, current, approval: approval)
  }

  /// Everything that a sweep deletes is one batch, however many parts the sweep has, and also if it
  /// goes on after a crash: `undo` takes all of it back.
  func takeBatch() throws {
    let earlier = try sweepRun.job?.batch ?? db.meta(.sweepBatch) ?? sweepRun.openBatch
    current.batch = earlier ?? identities.counters.serial
    current.sweep.isResumed = earlier != nil
    if current.sweep.isResumed { try reserveBatchNumbers() }
  }

  /// A sweep that continues a batch must not use its numbers for other nodes, nor those of nodes
  /// that stayed and were a reason. Another row may now be where one was, so all nodes get names
  /// here (`Connection.numbers`).
  private func reserveBatchNumbers() throws {
    try db.run(
      """
      INSERT INTO temp.known(id, collection, key, present)
      SELECT max(?2 + 1,
          (SELECT coalesce(max(max(id, coalesce(via, 0))), 0) FROM cascade_trash
            WHERE batch = ?1 AND id < ?3),
          (SELECT coalesce(max(id), 0) FROM cascade_trash_node WHERE batch = ?1)),
        0, ?4, 0
      """, .integer(current.batch), .integer(NumberRange.temporary),
      .integer(NumberRange.sideEntries), .text(NumberRange.reservationKey))
  }

  func closeBatch() throws {
    try db.deleteMeta(.sweepBatch, .sweepKinds, .sweepPlan)
    try deleteApprovedLosses()
    // The time for which the batch is kept starts now.
    try db.run(
      "UPDATE cascade_ledger SET outcome = 'applied', at = max(at, ?) WHERE seq = ?",
      .integer(clock.now + clock.elapsed), .integer(current.batch))
    try numberDeleted()
  }

  // MARK: - The end

  /// Deletes the journal rows that this plan was made of, also in steps.
  private func deletePlannedJournalRows() throws {
    // A node that stayed for a reason that may pass is examined again, so its row must stay.
    if current.step.hasSkippedNodes || !sweepRun.part.readsJournal { return }
    try forEachSliceInSteps("SELECT id FROM temp.due_candidates", deleteDueCandidates)
    if let plan = sweepRun.plan { return try takeKeptInSteps(ofPlan: plan.number) }
    let most = try db.hasKept ? lock.pace.rows : lock.pace.rows * 10
    // The last row is deleted at the end of the sweep: until then, new rows get higher numbers.
    let end = try endOfReadOrOwnRows - 1
    var low = try max(db.journalFloor, db.integer("SELECT min(seq) FROM cascade_journal") ?? end)
    while low < end {
      low = min(end, low + most)
      try step { try deleteReadJournal(upTo: low) }
      try yieldLock()
    }
  }

  func clearPlan() {
    try? clearFlushState()
    try? db.empty(.ownedBy(.plan))
    identities.clearCaches()
  }

  /// The kinds of a sweep that a crash or the end of the daemon left unfinished.
  package var unfinishedSweep: [SweepKind]? {
    get throws {
      if attachment.isDetached { return nil }
      let approved = try approvedCauses().reduce(0) { $0 | $1.kinds.code }
      let code = try approved | (db.meta(.unfinishedKinds) ?? 0) | (db.meta(.sweepKinds) ?? 0)
      return code == 0 ? nil : [SweepKind](code: code)
    }
  }

  /// A sweep in parts that has deleted something stays open, whatever happens before its other
  /// parts: they belong to its batch.
  func keepBatchOpen() throws {
    if try current.done == 0 && db.meta(.sweepBatch) == nil { return }
    try openBatch()
    try deleteApprovedLosses()
    try recordUnfinished(sweepRun.requestedKinds)
  }

  func openBatch() throws {
    if try db.meta(.sweepBatch) != nil { return }
    try db.setMeta(.sweepBatch, current.batch)
    try db.setMeta(.sweepKinds, sweepRun.requestedKinds.code)
    if let plan = sweepRun.plan { try db.setMeta(.sweepPlan, plan.number) }
  }

  /// Remembers the kinds of a sweep that was cut short. Sweeps of other kinds may run before it
  /// goes on.
  func rememberWhetherCutShort() throws {
    let kinds = sweepRun.requestedKinds
    if sweepRun.result.isCutShort { return try group { try recordUnfinished(kinds) } }
    guard let code = try db.meta(.unfinishedKinds), kinds.cover([SweepKind](code: code)) else {
      return
    }
    try group { try db.deleteMeta(.unfinishedKinds) }
  }

  /// Adds the kinds to those of other sweeps that still have to go on.
  func recordUnfinished(_ kinds: [SweepKind]) throws {
    try db.setMeta(.unfinishedKinds, (db.meta(.unfinishedKinds) ?? 0) | kinds.code)
  }
}

/// The tables are no longer those that the plan was made of.
struct StalePlan: Error, CustomStringConvertible {
  var description: String { "the tables were changed meanwhile; try again" }
}
