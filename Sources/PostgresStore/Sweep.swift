package import CascadeModel
internal import CascadePlanning
internal import CascadePostgres
package import CascadeStore
internal import CascadeSystem
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// One sweep, from the plan to the ledger.
extension PostgresWriter {
  package func sweep(
    _ kinds: [SweepKind], at now: Int64, manners: StepPolicy
  ) throws -> SweepResult {
    try MissingGrants(store).naming { try sweepAllowed(kinds, now, manners) }
  }

  private func sweepAllowed(
    _ kinds: [SweepKind], _ now: Int64, _ manners: StepPolicy
  ) throws -> SweepResult {
    var result = SweepResult(kinds: kinds, outcome: .nothing)
    let found = try kinds.scansTables ? findDangling() : DanglingFound()
    if try kinds.readsJournal || kinds.scansTables || unfinishedSweep != nil {
      try sweepEdges(kinds, found, now, manners, &result)
      if try needsBothKinds(kinds, result) { try sweepBothKinds(now, manners, &result) }
    }
    if kinds.sweepsUnreachable(from: model) { try sweepUnreachable(now, manners, &result) }
    if kinds.sweepsUnreferenced(of: model) { try sweepUnreferenced(now, manners, &result) }
    if kinds.sweepsFiles { try sweepFiles(now, &result) }
    if kinds.deletesTrash {
      var expired = ExpiredRows(store, at: now)
      result.trashedBatchesDeleted = try expired.delete(within: budget, manners)
    }
    if kinds.scansTables { try holdValues(found, &result) }
    if kinds.contains(where: \.sweepsEdges) { tellProblems(&result) }
    return result
  }

  /// Relationships that do not fit the tables were not swept.
  private func tellProblems(_ result: inout SweepResult) {
    let problems = store.binding.problems.map { Reason(.invalid, "\($0)") }
    result.blocked += problems
    if !problems.isEmpty && result.outcome == .nothing { result.outcome = .blocked }
  }

  /// A sweep that was begun goes on as one of its kinds.
  private func sweepEdges(
    _ kinds: [SweepKind], _ found: DanglingFound, _ now: Int64, _ manners: StepPolicy,
    _ result: inout SweepResult
  ) throws {
    var start = try SweepStart.read(store, kinds)
    if start.isLateDue, try LateReferences(store).journalDue() {
      start = try SweepStart.read(store, kinds)
    }
    let kinds = try start.unfinished == nil ? kinds : unfinishedSweep ?? kinds
    try store.following(kinds) {
      guard case (var waves, let isMore)? = try begin(kinds, start, found, manners, &result) else {
        return
      }
      if isMore && kinds == [.unreachable] {
        try collectUnreachable(&waves, manners)
      } else if isMore {
        try carryOut(&waves, manners)
      }
      try end(&waves, now, &result)
    }
  }

  /// Each kind left something to the other that it would have to delete first. Neither can go first, but
  /// both together can, as soon as both have read the journal.
  private func needsBothKinds(_ kinds: [SweepKind], _ result: SweepResult) throws -> Bool {
    if kinds.cascades == kinds.counts || !store.binding.denies || result.outcome == .held {
      return false
    }
    let isRead = "NOT EXISTS (SELECT FROM cascade.journal j WHERE NOT \(store.binding.waits("j")))"
    return try db.run("SELECT \(HeldEdges.areAny) AND \(isRead)").bool
  }

  private func sweepBothKinds(
    _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws {
    let kinds: [SweepKind] = [.cascade, .refcount]
    var both = SweepResult(kinds: kinds, outcome: .nothing)
    try sweepEdges(kinds, DanglingFound(), now, manners, &both)
    if both.deletedCount == 0 && both.outcome != .held { return }
    result.add(both)
    try result.dropDenialsOfGoneNodes { node in
      guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key)
      else { return false }
      return try db.run("SELECT \(table.has("$1"))", [key]).bool
    }
  }

  /// The waves of a sweep that goes on or begins, and whether there may be more to do. Nil if nothing
  /// is to be done now.
  private func begin(
    _ kinds: [SweepKind], _ start: SweepStart, _ found: DanglingFound, _ manners: StepPolicy,
    _ result: inout SweepResult
  ) throws -> (Waves, isMore: Bool)? {
    if let batch = start.unfinished {
      let hasBlocked = try BlockedNodes(store).isAny
      let waves = try Waves(
        store, batch: batch, isSweep: true, isNew: false, hasBlocked: hasBlocked)
      return (waves, true)
    }
    if !kinds.scansTables, let batch = start.batch, start.isSmall && mayBeginAtOnce {
      if let begun = try beginAtOnce(kinds, batch, manners) { return begun }
    }
    guard let (batch, hasBlocked) = try plan(kinds, found, hasWaiting: start.hasWaiting, &result)
    else {
      return nil
    }
    let waves = try Waves(store, batch: batch, isSweep: true, hasBlocked: hasBlocked)
    return (waves, true)
  }

  // MARK: - At once

  /// Whether a sweep may be found to be too much.
  private var mayBeHeld: Bool { model.limits.hold.isReachable }

  private var mayBeginAtOnce: Bool { !store.binding.denies && rowsToAStep == nil }

  /// More would go than needs no approval, or it takes longer to tell.
  private struct MustBePlanned: Error, CustomStringConvertible {
    let description = "a sweep has to be planned before it begins"
  }

  /// Begins a batch and takes its first step in one transaction. If something could be held, that is
  /// only committed if nothing is left to be done, and so little went that nothing is. Else nil, and
  /// nothing was done.
  private func beginAtOnce(
    _ kinds: [SweepKind], _ batch: Int64, _ manners: StepPolicy
  ) throws -> (Waves, isMore: Bool)? {
    var waves = try Waves(store, batch: batch, isSweep: true)
    waves.begin(with: beginning(kinds, batch, isPlanned: false))
    do {
      let isMore = try step(&waves, manners, isWhole: true) { try $0.next($1) }
      return (waves, isMore)
    } catch is MustBePlanned {
      return nil
    }
  }

  private func refuseUnplanned(_ waves: Waves, isMore: Bool) throws {
    let isLittle = waves.count.rows <= model.limits.hold.deletes
    if mayBeHeld && (isMore || !isLittle) { throw MustBePlanned() }
  }

  // MARK: - The plan

  /// Looks at everything that would go before anything does, and begins a batch with it. What others
  /// write later is for the next sweep. Nil if nothing is to be done now.
  private func plan(
    _ kinds: [SweepKind], _ found: DanglingFound, hasWaiting: Bool, _ result: inout SweepResult
  ) throws -> (batch: Int64, hasBlocked: Bool)? {
    let scans = kinds.scansTables
    let isFirst = try scans && store[meta: "first_watch"] != nil && !found.clear.isEmpty
    let begun: (batch: Int64, hasBlocked: Bool)?
    do {
      begun = try store.transaction(.repeatableRead, isDurable: false) {
        try DanglingReferences(store).journal(found.followed)
        if hasWaiting { try HeldEdges(store).dropOver() }
        return try planJournal(kinds, isFirst: isFirst, found, hasWaiting: hasWaiting, &result)
      }
    } catch let held as HeldPlan {
      result.hold(held, kinds, plan: try persistPlan(held, file: kinds.planFile))
      return nil
    }
    if scans { try clearRescan() }
    if begun == nil && !result.blocked.isEmpty { result.outcome = .blocked }
    for plan in found.releasedPlans { try deletePlan(plan) }
    return begun
  }

  /// Throws the plan if it has to be approved. What the journal was given is then taken back.
  private func planJournal(
    _ kinds: [SweepKind], isFirst: Bool, _ found: DanglingFound, hasWaiting: Bool,
    _ result: inout SweepResult
  ) throws -> (batch: Int64, hasBlocked: Bool)? {
    try dropEnded()
    let journal = try journalRows(kinds)
    if try journal.isEmpty && !hasNewFiles { return nil }
    let needsClosure = isFirst || mayBeHeld || store.binding.denies
    if needsClosure {
      var closure = try Closure(store, journal: journal)
      try closure.complete()
      result.blocked += try closure.denials()
      let held = try closure.heldPlan(
        id: HeldPlan.sweep, includingFirst: false, always: isFirst, approved: found.releasedCount,
        losses: found.losses(store))
      if let held, try !isApproved(held, kinds) { throw held }
    }
    let hasBlocked = try BlockedNodes(store).begin(withDenied: needsClosure)
    if hasBlocked || hasWaiting { try HeldEdges(store).note() }
    let batch = try nextBatch()
    try begin(kinds, batch)
    if journal.isLong { try db.execute("ANALYZE cascade.work") }
    return (batch, hasBlocked)
  }

  /// What concerns none of the nodes that there are: what nodes lost that were deleted afterwards.
  private func dropEnded() throws {
    let usedAgain = try UsedKeys.usedAgain(db)
    if !usedAgain.isEmpty { try dropJoinRows(usedAgain) }
    try UsedKeys(store.binding).drop(db, usedAgain: !usedAgain.isEmpty)
  }

  private func dropJoinRows(_ usedAgain: [Int64: [String]]) throws {
    let used = UsedKeys(store.binding)
    let removal = RowRemoval(store: store, batch: UsedKeys.batch)
    for relation in store.binding.relations {
      guard let join = relation.looseJoin else { continue }
      for end in EdgeEnd.allCases {
        guard let keys = usedAgain[relation.table(at: end).number] else { continue }
        let isOne = relation.isAny(at: end, "$1", of: join)
        let isEnded = used.isEndedJoinRow(of: relation, join, madeAnew: end)
        let rows = RowRemoval.Selection(
          row: "e", condition: "\(isOne) AND \(isEnded)", values: [arrayText(keys)])
        _ = try removal.unlink(relation, join, rows, as: nil)
      }
    }
    try db.run("DELETE FROM cascade.unlinked WHERE batch = \(UsedKeys.batch)")
  }

  private var hasNewFiles: Bool {
    get throws { try db.run("SELECT \(FileRows.areNew)").bool }
  }

  /// Also what waits because a node had to stay.
  private func journalRows(_ kinds: [SweepKind]) throws -> JournalRows {
    var journal = try JournalRows.ofSweep(store, kinds, asksWaiting: false)
    if journal.has(.arrived) {
      try LateReferences(store).journalArrived()
      journal = try JournalRows.ofSweep(store, kinds, asksWaiting: false)
    }
    // Without statistics, the server takes a journal for empty, and reads all of it for each row.
    if journal.isLong { try db.execute("ANALYZE cascade.journal") }
    return journal
  }

  // MARK: - Steps

  func carryOut(_ waves: inout Waves, _ manners: StepPolicy) throws {
    while try step(&waves, manners, { try $0.next($1) }) {}
  }

  /// One transaction, and what comes behind it. Returns whether there may be more to do.
  ///
  /// It need not be durable before the end of the sweep: a crash of the server loses the last steps
  /// only, and the sweep goes on from there.
  ///
  /// `isWhole`: the step goes on as long as there is time, to do all that there is.
  func step(
    _ waves: inout Waves, _ manners: StepPolicy, isWhole: Bool = false,
    _ body: (inout Waves, Int) throws -> Int?
  ) throws -> Bool {
    let start = ContinuousClock.now
    let (worked, isMore) = try transaction(&waves, isStep: true, isWhole: isWhole) { waves in
      let limit = rowsToAStep ?? pace.limit
      var (worked, isMore) = (0, true)
      repeat {
        if rowsToAStep != nil { waves.looksFirst = true }
        let more = try body(&waves, isWhole ? max(limit, worked) : limit - worked)
        isMore = more != nil
        worked += more ?? 0
      } while isMore && (isWhole || worked < limit / 2)
        && ContinuousClock.now - start < (isWhole ? min(budget / 2, longestAtOnce) : budget / 2)
      if isWhole { try refuseUnplanned(waves, isMore: isMore) }
      return (worked, isMore)
    }
    let time = ContinuousClock.now - start
    if worked == 0 { return isMore }
    noteHold(time)
    if worked >= pace.limit / 2 { pace.note(time, model) }
    manners.reportProgress(WorkProgress(phase: .deleting, done: waves.count.rows))
    try manners.pause(.zero)
    return isMore
  }

  /// A transaction that met another one is tried again. So is one that the application's constraints
  /// or triggers refuse: then what they refuse is left, and in the end each statement is checked at
  /// once, also by constraints that are deferred.
  ///
  /// A step in which a statement takes too long is tried again with fewer rows, and then looks first.
  /// The step of a sweep that is small takes plans that the server has kept, unless it is tried again.
  private func transaction<T>(
    _ waves: inout Waves, isStep: Bool = false, isWhole: Bool = false,
    _ body: (inout Waves) throws -> T
  ) throws -> T {
    var tries = 0
    while true {
      var next = waves
      do {
        let longest = isStep && !waves.looksFirst ? pace.longestStatement(model.limits) : nil
        let result = try store.transaction(
          isDurable: !isStep, longest: longest,
          lockTimeout: waves.expectsRefusals ? nil : Waves.lockTimeout(model),
          keepsPlans: isWhole && tries == 0, beginningWith: LiveLeases.sql
        ) { rows in
          next.beginTransaction(rows)
          if next.checksAtOnce { try DeferredConstraints(store).check() }
          let result = try body(&next)
          try next.endTransaction()
          return result
        }
        waves = next
        return result
      } catch let error as PostgresError where tries < PostgresWriter.mostTries {
        if !prepare(&waves, after: error, tries, isStep: isStep) { throw error }
        tries += 1
      }
    }
  }

  // MARK: - The end

  func end(_ waves: inout Waves, _ now: Int64, _ result: inout SweepResult) throws {
    let batch = waves.batch
    let (summary, notices, hasLocked) = try transaction(&waves) { try close(&$0, now) }
    result.deleted = summary.deleted
    result.deletedCount = summary.deletedCount
    result.byCollection = summary.byCollection
    result.byRule = summary.byRule
    result.notices = notices
    result.edgesRemoved = waves.count.edges
    result.lockMilliseconds = takeLockDurations().map { $0 / .milliseconds(1) }
    result.blocked += waves.remarks + (try BlockedNodes(store).refusals())
    result.files = try FileRows(store: store).count(batch)
    let isDone = result.deletedCount + result.notices + result.edgesRemoved + result.files > 0
    if isDone { (result.outcome, result.batch) = (.done, batch) }
    if !isDone && !result.blocked.isEmpty { result.outcome = .blocked }
    if hasLocked {
      result.cutShort(because: "other transactions hold rows that could go")
    }
  }

  private func close(
    _ waves: inout Waves, _ now: Int64
  ) throws -> (summary: BatchSummary, notices: Int, hasLocked: Bool) {
    var (notices, hasLocked) = try waves.finish(at: now)
    let batch = waves.batch
    try HeldEdges(store).dropLosses(ofDeletedIn: batch)
    let kinds = try unfinishedSweep ?? []
    if try kinds == [.unreachable] && UnreachedNodes.end(store) { hasLocked = true }
    let summary = try BatchSummary(store, batch, counts: waves.isWhole ? waves.deletions : nil)
    let files = try FileRows(store: store).take(into: batch)
    // Also without a deletion: the names of what others deleted are kept as long as the batch.
    if try notices + waves.count.edges + files > 0 || hasDeleted(batch) {
      try Ledger(store).addSweep(
        batch, at: now, deleted: summary.deletedCount, edges: waves.count.edges, notices: notices)
    }
    try forgetPlans(of: kinds)
    try db.run("DELETE FROM cascade.meta WHERE key IN ('sweep.batch', 'sweep.kinds')")
    return (summary, notices, hasLocked)
  }

  /// A sweep that leaves something to another kind leaves the plans of that kind, too.
  private func forgetPlans(of kinds: [SweepKind]) throws {
    let isAll = (kinds.readsJournal || kinds.scansTables) && kinds.followedRules == .all
    try db.run(
      """
      DELETE FROM cascade.plan
      WHERE \(isAll ? "file LIKE '/%'" : "file = $1") AND value IS NULL
      """,
      isAll ? [] : [kinds.planFile])
  }

  private func hasDeleted(_ batch: Int64) throws -> Bool {
    try db.run("SELECT EXISTS (SELECT FROM cascade.deleted WHERE batch = \(batch))").bool
  }

  package var unfinishedSweep: [SweepKind]? {
    get throws {
      if try isDetached || store[meta: "sweep.batch"] == nil { return nil }
      return [SweepKind](code: try store[meta: "sweep.kinds"] ?? SweepKind.allCode)
    }
  }

  package var unfinishedUndo: Int64? { nil }
}

extension SweepKind {
  fileprivate static let allCode = [SweepKind.cascade, .refcount].code
}
