package import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
package import CascadeStore
internal import CascadePlanning
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion

extension Writer {
  package func sweep(
    _ kinds: [SweepKind], at now: Int64, manners: StepPolicy = .none
  ) throws -> SweepResult {
    lock.durations = []
    return try syncingOnce { try sweepWithoutSync(kinds, at: now, manners) }
  }

  /// Commits without a sync, so that no other connection waits for the disk, and syncs the commits
  /// when the lock is free again.
  private func syncingOnce<T>(_ body: () throws -> T) throws -> T {
    try db.execute("PRAGMA synchronous = NORMAL")
    defer { try? db.execute("PRAGMA synchronous = FULL") }
    let result = Result { try body() }
    if !lock.durations.isEmpty { try db.syncCommits() }
    return try result.get()
  }

  private func sweepWithoutSync(
    _ kinds: [SweepKind], at now: Int64, _ manners: StepPolicy
  ) throws -> SweepResult {
    var result = SweepResult(kinds: kinds, outcome: .nothing)
    if manners.waitsForTransactions { lock.patience.start(pausing: manners.pause) }
    defer { lock.patience.stop() }
    self.clock.now = now
    sweepRun.deletedByEarlierParts = [:]
    sweepRun.requestedKinds = kinds
    sweepRun.hasEndedPart = false
    sweepRun.heldValues = nil
    try postponeOtherKinds()
    sweepRun.openSweepBatch = attachment.isDetached ? nil : try db.meta(.sweepBatch)
    defer { sweepRun.hasMoreParts = false }
    try waitingForSpace(kinds, &result) { try sweepEverything(kinds, &$0, at: now, manners) }
    result.lockMilliseconds = lock.durations.map { $0 / .milliseconds(1) }
    let done =
      result.deletedCount + result.edgesRemoved + result.notices + result.files
      + result.trashedBatchesDeleted
    if result.outcome == .nothing && done > 0 { result.outcome = .done }
    if result.spaceReason == nil { try holdValues(&result, manners) }
    return result
  }

  private func sweepEverything(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: StepPolicy
  ) throws {
    try keepLogWithinBounds(manners, attempts: 1)
    try resolveReferencesBeforeSweep(manners)
    try deleteDenialsOfThisSweep()
    try deleteStaleCandidates(manners)
    try sweepAllParts(kinds, &result, at: now, manners)
    try deleteDenialsOfThisSweep()
    try result.dropDenialsOfGoneNodes { try isThere($0) }
    try sweepFilesAndTrash(kinds, &result, at: now, manners)
  }

  /// Cuts the sweep short if there is no room for what it would write. The batch stays open, so that
  /// the sweep goes on where it stopped.
  private func waitingForSpace(
    _ kinds: [SweepKind], _ result: inout SweepResult, _ body: (inout SweepResult) throws -> Void
  ) throws {
    logUse.beginSweep()
    defer { logUse.isSweeping = false }
    do {
      try body(&result)
    } catch let full as LogIsFull {
      result.waitForSpace(because: full.reason)
    } catch let error as SQLiteError where error.isFull {
      try? releaseLogFile()
      result.waitForSpace(because: "\(error.message): the sweep goes on when there is more space")
    }
    // If even this finds no room, the journal still has what is to be swept.
    if result.spaceReason != nil { try? remember(kinds, areCutShort: true) }
  }

  private func sweepAllParts(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: StepPolicy
  ) throws {
    do {
      var isOver = false
      while !isOver {
        try sweepParts(kinds, &result, at: now, manners)
        let before = result.deletedCount
        try sweepUnreachablePart(kinds, &result, at: now, manners)
        try sweepUnreferencedParts(kinds, &result, manners)
        // A node that is gone now may have denied something that the earlier parts found.
        isOver = try result.deletedCount == before || !db.hasDenialsOfThisSweep
      }
    } catch let error where error.isPermanentFailure {
      // It is not known when the sweep can go on. The batch is closed, so that it can be undone.
      try closeAtEnd()
      throw error
    }
    // A sweep that was killed after its last step is finished if it finds nothing more. A held
    // sweep is closed because its approval may never come.
    if sweepRun.hasEndedPart || [.done, .nothing, .held].contains(result.outcome) {
      try closeAtEnd()
    }
  }

  private func closeAtEnd() throws {
    guard let batch = try db.meta(.sweepBatch) else { return }
    current = TransactionState()
    current.batch = batch
    try group { try closeBatch() }
  }

  /// A batch has what one cause brought about. So what is left of a sweep of other kinds is done
  /// later, in another batch.
  private func postponeOtherKinds() throws {
    if attachment.isDetached { return }
    guard let code = try db.meta(.sweepKinds) else { return }
    let others = [SweepKind](code: code)
    if sweepRun.requestedKinds.cover(others) { return }
    try group { try db.recordUnfinishedKinds(others) }
    try closeAtEnd()
  }

  private func sweepParts(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: StepPolicy
  ) throws {
    try sweepReleasedValues(kinds, &result, at: now, manners)
    if result.isCutShort { return }
    let hasLaterParts = kinds.sweepsUnreachable(from: model) || kinds.sweepsUnreferenced(of: model)
    var parts = try parts(of: addingIdleCounting(kinds), manners)[...]
    while let part = parts.popFirst() {
      sweepRun.hasMoreParts = hasLaterParts || !parts.isEmpty
      try sweepEdges(part, &result, at: now, manners)
      sweepRun.deletedByEarlierParts = current.hold.wasApproved ? [:] : result.byCollection
      sweepRun.openSweepBatch = result.batch ?? sweepRun.openSweepBatch
      if result.isCutShort { break }
    }
    sweepRun.hasMoreParts = false
    if try !result.isCutShort && needsBothKinds(kinds) {
      try sweepBothKinds(&result, at: now, manners)
    }
  }

  /// A node that stays denied was reported when it was first denied.
  private func sweepBothKinds(
    _ result: inout SweepResult, at now: Int64, _ manners: StepPolicy
  ) throws {
    var both = result
    try both.dropDenialsOfGoneNodes { try isThere($0) }
    try sweepEdges([.cascade, .refcount], &both, at: now, manners)
    if both.deletedCount > result.deletedCount || both.isCutShort || both.outcome == .held {
      result = both
    }
    sweepRun.openSweepBatch = result.batch ?? sweepRun.openSweepBatch
  }

  /// Each kind left something to the other that it would have to delete first. Neither kind can go
  /// first, but both together can, as soon as both have read the journal equally far.
  private func needsBothKinds(_ kinds: [SweepKind]) throws -> Bool {
    if attachment.isDetached || isPartlyBound { return false }
    return try leavesCandidates(kinds)
      && db.journalPosition(.cascade) == db.journalPosition(.refcount)
  }

  private func leavesCandidates(_ kinds: [SweepKind]) throws -> Bool {
    if kinds.cascades == kinds.counts { return false }
    return try db.integer(
      generated: """
        SELECT 1 FROM cascade_candidate WHERE waits_for IN \(WaitsFor.otherKind) AND rule LIMIT 1
        """) != nil
  }

  private func sweepUnreachablePart(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: StepPolicy
  ) throws {
    if !kinds.sweepsUnreachable(from: model) || result.isCutShort { return }
    try result.dropDenialsOfGoneNodes { try isThere($0) }
    sweepRun.hasMoreParts = kinds.sweepsUnreferenced(of: model)
    defer { sweepRun.hasMoreParts = false }
    try sweepUnreachable(&result, at: now, manners)
  }

  /// If other writers cut the sweep short, the rest is not done now: the whole sweep runs again.
  private func sweepFilesAndTrash(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: StepPolicy
  ) throws {
    try remember(kinds, areCutShort: result.isCutShort)
    if result.isCutShort { return }
    if kinds.sweepsFiles { try sweepFiles(&result, manners) }
    if kinds.deletesTrash { result.trashedBatchesDeleted = try deleteAllExpired(at: now, manners) }
  }

  /// If no rule counts, a sweep that cascades has done everything.
  private func addingIdleCounting(_ kinds: [SweepKind]) -> [SweepKind] {
    let isAll = kinds.cascades && rulesInUse.isDisjoint(with: .counting)
    return isAll && !kinds.counts ? kinds + [.refcount] : kinds
  }

  /// What dangled before the store was watched waits for approval by itself, without what can go
  /// now. One kind leaves to the other what a scan of whole tables would not leave. A scan that
  /// finds nothing needs no lock.
  private func parts(of kinds: [SweepKind], _ manners: StepPolicy) throws -> [[SweepKind]] {
    let edges = kinds.filter(\.sweepsEdges)
    if edges.isEmpty { return [] }
    if attachment.isDetached || !facts.hasTables { return [edges] }
    try adaptToSchema()
    let journal = try sweepPartsOfJournal(of: edges)
    if !edges.scansTables { return journal }
    let found = try findDangling(manners)
    // What cannot be seen is not settled.
    if !isPartlyBound { sweepRun.heldValues = found.held }
    let dangles = isPartlyBound || found.isAny
    let isWhole = edges.cascades == edges.counts && journal.count < 2
    if try dangles && rescanReason == nil && isWhole { return [edges] }
    if dangles {
      return try continuesApprovedDanglingPlan() ? [[.dangling]] + journal : journal + [[.dangling]]
    }
    try clearDanglingDebt()
    return journal
  }

  private func sweepUnreachable(
    _ result: inout SweepResult, at now: Int64, _ manners: StepPolicy
  ) throws {
    if attachment.isDetached { throw StoreError.detached }
    try adaptToSchema()
    try sweepEdges([.unreachable], &result, at: now, manners)
    sweepRun.openSweepBatch = result.batch ?? sweepRun.openSweepBatch
    try recordReachingLeases(at: now)
  }

  func sweepEdges(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: StepPolicy
  ) throws {
    // What nothing that can be read refers to may be referred to by what cannot be read.
    let needsAll = kinds == [.unreachable] || kinds == [.unreferenced]
    let problems = needsAll ? binding.problems : binding.stoppingProblems
    if !problems.isEmpty {
      result.blocked = problems.map { Reason(.invalid, "\($0)") }
      return result.outcome = .blocked
    }
    do {
      if model.limits.lock == nil || !binding.canDeleteInSteps {
        try sweepAtOnce(kinds, &result)
      } else {
        try sweepInSteps(kinds, &result, manners)
      }
      if kinds.scansTables && !result.isCutShort { try deleteUnusedIdentities(manners) }
    } catch let held as HeldPlan {
      try group {
        let plan = try persistPlan(held, file: planFile(kinds))
        try deletePlans(ofSweep: planFile(kinds), but: plan)
        result.hold(held, kinds, plan: plan)
      }
    }
  }

  /// Sweeps in one transaction. Its guard has each page written once more, so the first attempt is
  /// made without the guard, and repeated with it if something was refused. `check` may refuse what
  /// would be deleted, and `confirm` the commit.
  func sweepAtOnce(
    _ kinds: [SweepKind], _ result: inout SweepResult,
    checking check: ([Closure.Level]) throws -> Void = { _ in },
    beforeCommit confirm: () throws -> Void = {}
  ) throws {
    do {
      try sweepAtOnce(kinds, &result, isGuarded: false, check, confirm)
    } catch let error where error is ApplicationRefusal || error is ForeignKeyRefusal {
      try sweepAtOnce(kinds, &result, isGuarded: true, check, confirm)
    }
  }

  private func sweepAtOnce(
    _ kinds: [SweepKind], _ result: inout SweepResult, isGuarded: Bool,
    _ check: ([Closure.Level]) throws -> Void, _ confirm: () throws -> Void
  ) throws {
    try group {
      let receipt = try sweep(checking: check) {
        current.sweep.hasDeletionSavepoint = isGuarded
        try prepare(kinds)
        try findDead(kinds)
        // The journal rows that were read are deleted in the transaction that carries out their
        // consequences.
        try deleteReadJournal(kinds, upTo: current.step.journalEnd)
        if kinds.readsJournal { try deleteDueCandidates() }
      }
      try recordNotifiedRange(behind: current.step.journalEnd, upTo: db.lastInJournal)
      try finishSweep(kinds)
      try confirm()
      result.add(receipt, current)
    }
  }

  /// Called in the last transaction of a sweep.
  func finishSweep(_ kinds: [SweepKind]) throws {
    if try sweepRun.hasMoreParts || leavesCandidates(kinds) {
      try keepBatchOpen()
    } else if current.sweep.isResumed || current.sweep.isStepped {
      try closeBatch()
    }
    sweepRun.hasEndedPart = true
    if !current.step.hasSkippedNodes { try advanceJournalPosition(kinds) }
    try recordOwnEnd()
    try requeueDenied(kinds)
    // Approved values are only a part of what a scan finds.
    if !sweepRun.releasedNodes.isEmpty { return }
    if kinds.scansTables { try clearRescanReason() }
    if kinds == [.unreferenced] { return try deletePlans(ofSweep: planFile(kinds), but: nil) }
    try deletePlans(coveredBy: kinds)
  }

  /// Sets what a sweep of these kinds may do, and what it looks at.
  func prepare(_ kinds: [SweepKind]) throws {
    current.sweep.isSweep = true
    current.hold.id = HeldPlan.sweep
    current.sweep.followedRules = kinds.followedRules
    current.sweep.readsJournal = kinds.readsJournal
    current.reachability.deletesUnreachable = kinds == [.unreachable]
    current.hold.holdsAll =
      try sweepRun.unreferenced?.needApproval == true
      || kinds.scansTables && db.meta(.firstWatch) == 1
    current.hold.holdsLosses = try kinds.scansTables && rescanReason != nil
    // Dead nodes were gone before. Only what follows from them is deleted by this sweep.
    current.firstNewId = .min
  }

  /// Finds nodes that are gone, and edges that were lost, although no transaction of the daemon
  /// removed them.
  func findDead(_ kinds: [SweepKind]) throws {
    if kinds.readsJournal {
      try readJournal(kinds)
      try db.examineCandidates(binding, following: current.sweep.followedRules, at: clock.now)
    }
    if kinds.scansTables {
      try db.addDanglingEnds(
        binding, notifiesMissingDestination: rescanReason != nil,
        releasing: sweepRun.releasedNodes)
    }
    if let ends = sweepRun.unreferenced?.ends {
      try db.findUnreferenced(binding, ends, at: clock.now)
    }
    if kinds == [.unreachable] {
      sweepRun.leasesKeepUnreachable = try db.findUnreachable(binding, model, at: clock.now)
      if current.sweep.isStepped { current.reachability.mayHaveCycles = try orderUnreachable() }
    }
    current.deadCount = Int(
      try db.integer(
        """
        SELECT (SELECT count(*) FROM temp.dead) + (SELECT count(*) FROM temp.unreachable_nodes)
        """) ?? 0)
    current.lostCount = Int(try db.integer("SELECT count(*) FROM temp.lost_edges") ?? 0)
  }
}
