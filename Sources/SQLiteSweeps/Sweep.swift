package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
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
    try syncingAtEnd(manners) { try sweepWithPlans(kinds, at: now) }
  }

  /// Commits without a sync, so that no other connection waits for the disk, and syncs the commits when
  /// the lock is free again.
  func syncingAtEnd<T>(_ manners: StepPolicy, _ body: () throws -> T) throws -> T {
    lock.durations = []
    lock.policy = manners
    defer {
      lock.policy = .none
      sweepRun = SweepRunState()
    }
    try db.execute("PRAGMA synchronous = NORMAL")
    defer { try? db.execute("PRAGMA synchronous = FULL") }
    let result = Result { try body() }
    if !lock.durations.isEmpty { try db.syncCommits() }
    return try result.get()
  }

  /// What was approved goes first.
  private func sweepWithPlans(_ kinds: [SweepKind], at now: Int64) throws -> SweepResult {
    var results = try kinds.contains(where: \.sweepsEdges) ? sweepApproved(at: now) : []
    if results.last?.isCutShort != true {
      sweepRun = SweepRunState(of: kinds)
      results.append(try sweepWithoutSync(at: now))
    }
    return .merging(results, of: kinds)
  }

  func sweepWithoutSync(at now: Int64) throws -> SweepResult {
    if lock.policy.waitsForTransactions { lock.patience.start(pausing: lock.policy.pause) }
    defer { lock.patience.stop() }
    self.clock.now = now
    try findProtectedAgain()
    let endings = heldBack.endings
    try postponeOtherKinds()
    sweepRun.earlierBatch = attachment.isDetached ? nil : try db.meta(.sweepBatch)
    try sweepEverything()
    let result = sweepRun.result
    let examinesAll = sweepRun.plan == nil && result.kinds.readsJournal
    if examinesAll && !result.isCutShort { heldBack.examined = endings }
    sweepRun.result.lockMilliseconds = lock.durations.map { $0 / .milliseconds(1) }
    let done =
      result.deletedCount + result.edgesRemoved + result.notices + result.files
      + result.trashedBatchesDeleted
    if result.outcome == .nothing && done > 0 { sweepRun.result.outcome = .done }
    if result.outcome == .nothing && done == 0 && !result.blocked.isEmpty {
      sweepRun.result.outcome = .blocked
    }
    if result.spaceReason == nil { try holdValues() }
    return sweepRun.result
  }

  /// Cuts the sweep short if there is no room for what it would write. The batch stays open, so that
  /// the sweep goes on where it stopped.
  private func sweepEverything() throws {
    logUse.beginSweep()
    defer { logUse.isSweeping = false }
    do {
      try keepLogWithinBounds(attempts: 1)
      try followRetypedKeys()
      try resolveReferencesBeforeSweep()
      try keepDenialsOfThisSweep()
      try deleteStaleCandidates()
      try sweepAllParts()
      try keepDenialsOfThisSweep()
      try dropDenialsOfGoneNodes()
      try sweepFilesAndTrash()
    } catch let full as LogIsFull {
      sweepRun.result.waitForSpace(because: full.description)
    } catch let error as SQLiteError where error.isFull {
      try? releaseLogFile()
      sweepRun.result.waitForSpace(
        because: "\(error.message): the sweep goes on when there is more space")
    }
    // If even this finds no room, the journal still has what is to be swept.
    if sweepRun.result.spaceReason != nil { try? rememberWhetherCutShort() }
  }

  private func sweepAllParts() throws {
    do {
      if sweepRun.job == nil {
        try sweepNodes(of: sweepRun.requestedKinds)
      } else {
        try sweepEdges([])
      }
    } catch let error where error.isPermanentFailure || error is JobIsBlocked {
      // It is not known when the sweep can go on. The batch is closed, so that it can be undone.
      try closeAtEnd()
      throw error
    }
    // A sweep that was killed after its last step is finished if it finds nothing more. A held
    // sweep is closed because its approval may never come.
    if sweepRun.hasEndedPart || [.done, .nothing, .held].contains(sweepRun.result.outcome) {
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
    let (others, plan) = ([SweepKind](code: code), try db.meta(.sweepPlan))
    let isJob = others.isEmpty
    if isJob == (sweepRun.job != nil) && plan == sweepRun.plan?.number
      && sweepRun.requestedKinds.cover(others)
    {
      return
    }
    // A plan and a job go on by themselves.
    if plan == nil && !isJob { try group { try recordUnfinished(others) } }
    try closeAtEnd()
  }

  fileprivate func leavesCandidates(_ kinds: [SweepKind]) throws -> Bool {
    if kinds.cascades == kinds.counts { return false }
    return try db.integer(
      generated: """
        SELECT 1 FROM cascade_candidate WHERE waits_for IN \(WaitsFor.otherKind) AND rule LIMIT 1
        """) != nil
  }

  /// If other writers cut the sweep short, the rest is not done now: the whole sweep runs again.
  private func sweepFilesAndTrash() throws {
    let kinds = sweepRun.requestedKinds
    try rememberWhetherCutShort()
    if sweepRun.result.isCutShort { return }
    if kinds.sweepsFiles { try sweepFiles() }
    if !kinds.deletesTrash { return }
    do {
      sweepRun.result.trashedBatchesDeleted = try deleteAllExpired(at: clock.now)
    } catch let failure as BatchArchive.Failure {
      sweepRun.result.archiveTrouble = failure.description
    }
  }

  /// What dangled before the store was watched waits for approval by itself, without what can go
  /// now. One kind leaves to the other what a scan of whole tables would not leave. A scan that
  /// finds nothing needs no lock.
  fileprivate func parts(of kinds: [SweepKind]) throws -> [[SweepKind]] {
    if sweepRun.plan != nil { return [kinds] }
    var edges = kinds.filter(\.sweepsEdges)
    // If no rule counts, a sweep that cascades has done everything.
    if kinds.cascades && !kinds.counts && rulesInUse.isDisjoint(with: .counting) {
      edges.append(.refcount)
    }
    if edges.isEmpty { return [] }
    if attachment.isDetached || !facts.hasTables { return [edges] }
    try adaptToSchema()
    let journal = try sweepPartsOfJournal(of: edges)
    if !edges.scansTables { return journal }
    try dropOverGivenUp()
    let found = try findDangling()
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

  /// Sweeps a part.
  func sweepEdges(_ kinds: [SweepKind], hasMoreParts: Bool = false) throws {
    (sweepRun.part, sweepRun.hasMoreParts) = (kinds, hasMoreParts)
    // What nothing that can be read refers to may be referred to by what cannot be read.
    let needsAll = kinds == [.unreachable] || kinds == [.unreferenced]
    let problems = needsAll ? binding.problems : binding.stoppingProblems
    if !problems.isEmpty {
      sweepRun.result.blocked = problems.map { Reason(.invalid, "\($0)") }
      return sweepRun.result.outcome = .blocked
    }
    do {
      if model.limits.lock == nil || !binding.canDeleteInSteps {
        try sweepAtOnce()
      } else {
        try sweepInSteps()
      }
      if kinds.scansTables && !sweepRun.result.isCutShort { try deleteUnusedIdentities() }
    } catch let held as HeldPlan {
      if sweepRun.job != nil { return try holdJob(held) }
      if kinds.readsJournal && kinds.scansTables {
        return try sweepSeparately(kinds, hasMoreParts: hasMoreParts)
      }
      try hold(held, kinds, hasMoreParts: hasMoreParts)
    }
  }

  /// Sweeps in one transaction. What others wrote cannot be rejected any more, so nothing is
  /// validated, and a denied node stays.
  ///
  /// A guard has each page written once more, so the first attempt is made without the guard, and
  /// repeated with it if something was refused. `check` may refuse what would be deleted, and
  /// `confirm` the commit.
  func sweepAtOnce(
    readsFirst: Bool = false, checking check: ([Closure.Level]) throws -> Void = { _ in },
    beforeCommit confirm: () throws -> Void = {}
  ) throws {
    do {
      try sweepAtOnce(isGuarded: false, readsFirst, check, confirm)
    } catch let error where error is ApplicationRefusal || error is ForeignKeyRefusal {
      try sweepAtOnce(isGuarded: true, readsFirst, check, confirm)
    }
  }

  private func sweepAtOnce(
    isGuarded: Bool, _ readsFirst: Bool, _ check: ([Closure.Level]) throws -> Void,
    _ confirm: () throws -> Void
  ) throws {
    try group(readsFirst: readsFirst) {
      try transactionWithoutSavepoint {
        try takeBatch()
        current.sweep.hasDeletionSavepoint = isGuarded
        try prepare()
        try findDead()
        // With a guard, what is left without that which was refused is found in the same transaction.
        if isGuarded { try beginToWrite() }
        try flush(checking: check) { if !isGuarded { try beginToWrite() } }
        try noteDeleted(since: [:])
        // What still has to wait was written down again, in rows of its own.
        if sweepRun.part.readsJournal { try deleteDueCandidates() }
        try db.empty(.touched)
        try recordAtOnce()
      }
      try recordNotifiedRange(behind: current.step.journalEnd, upTo: db.lastInJournal)
      try finishSweep()
      try confirm()
      sweepRun.result.add(current)
    }
  }

  /// Called when everything has been read. The journal rows that were read are deleted in the
  /// transaction that carries out their consequences.
  private func beginToWrite() throws {
    try takeLock()
    try deleteReadJournal(upTo: current.step.journalEnd)
    try deleteEndedCandidates()
  }

  /// Called in the last transaction of a sweep.
  func finishSweep() throws {
    let kinds = sweepRun.part
    if try sweepRun.hasMoreParts || sweepRun.plan == nil && leavesCandidates(kinds) {
      try keepBatchOpen()
    } else if current.sweep.isResumed || current.sweep.isStepped {
      try closeBatch()
    } else {
      try numberDeleted()
    }
    sweepRun.hasEndedPart = true
    if let plan = sweepRun.plan { return try finishPlan(plan) }
    if !current.step.hasSkippedNodes { try advanceJournalPosition() }
    try recordOwnEnd()
    try requeueDenied()
    // Approved values are only a part of what a scan finds.
    if !sweepRun.releasedNodes.isEmpty { return }
    if kinds.scansTables { try clearRescanReason() }
    if kinds == [.unreferenced] { return try deletePlans(ofSweep: planFile, but: nil) }
    try deletePlans(coveredBy: kinds)
  }

  /// Where a node stayed for a reason that may pass, the plan goes on with the next sweep.
  private func finishPlan(_ plan: ApprovedCauses) throws {
    if !current.step.hasSkippedNodes { try endPlan(plan.number, as: .carriedOut) }
    try requeueDenied()
  }

  /// Sets what the part may do, and what it looks at.
  func prepare() throws {
    let kinds = sweepRun.part
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
  func findDead() throws {
    let kinds = sweepRun.part
    if kinds.readsJournal {
      try readJournal()
      try db.examineCandidates(
        binding, following: current.sweep.followedRules, ofPlan: sweepRun.plan?.number,
        at: clock.now)
    }
    if kinds.scansTables {
      try db.addDanglingEnds(
        binding, notifiesMissingDestination: rescanReason != nil,
        releasing: sweepRun.releasedNodes)
    }
    if let ends = sweepRun.unreferenced?.ends {
      try db.findUnreferenced(binding, ends, at: clock.now)
    }
    if let job = sweepRun.job {
      if job.batch != nil { try readJournal() }
      try db.findNodes(of: job.request.subject, binding, db.numbers(binding))
      try leaveOutDeleted(by: job)
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

extension Writer: SweepCourse {
  package var result: SweepResult {
    get { sweepRun.result }
    set { sweepRun.result = newValue }
  }

  package func sweepCauses(of kinds: [SweepKind]) throws {
    try sweepReleasedValues()
    if result.isCutShort { return }
    let hasLaterParts = kinds.sweepsUnreachable(from: model) || kinds.sweepsUnreferenced(of: model)
    var parts = try parts(of: kinds)[...]
    while let part = parts.popFirst() {
      try sweepEdges(part, hasMoreParts: hasLaterParts || !parts.isEmpty)
      sweepRun.deletedByEarlierParts = current.hold.wasApproved ? [:] : result.byCollection
      if result.isCutShort { break }
    }
  }

  package func leaveEachOther(_ kinds: [SweepKind]) throws -> Bool {
    if attachment.isDetached || isPartlyBound || sweepRun.plan != nil { return false }
    return try leavesCandidates(kinds)
      && db.journalPosition(.cascade) == db.journalPosition(.refcount)
  }

  package func sweepBothKinds() throws { try sweepEdges([.cascade, .refcount]) }

  package func sweepUnreachable() throws {
    if attachment.isDetached { throw StoreError.detached }
    try adaptToSchema()
    try findWaitingKeys()
    defer { try? db.empty(.waitingKeys) }
    let kinds = sweepRun.requestedKinds
    try sweepEdges([.unreachable], hasMoreParts: kinds.sweepsUnreferenced(of: model))
    try recordReachingLeases(at: clock.now)
  }

  package var haveDeniedNodes: Bool { get throws { try db.hasDenialsOfThisSweep } }
}
