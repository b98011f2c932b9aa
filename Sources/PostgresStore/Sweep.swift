package import CascadeModel
internal import CascadeEngine
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
    try followProtected()
    let found = try kinds.scansTables ? findDangling() : DanglingFound()
    let course = PostgresSweep(self, kinds, found, now, manners)
    try course.sweepNodes(of: kinds)
    var result = course.result
    if kinds.sweepsFiles { try sweepFiles(now, &result) }
    if kinds.deletesTrash {
      do {
        var expired = ExpiredRows(store, at: now)
        result.trashedBatchesDeleted = try expired.delete(within: budget, manners)
      } catch let failure as BatchArchive.Failure {
        result.archiveTrouble = failure.description
      }
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

  func sweepEdges(
    _ kinds: [SweepKind], _ found: DanglingFound, _ now: Int64, _ manners: StepPolicy,
    _ result: inout SweepResult
  ) throws {
    do {
      try sweepCauses(kinds, found, now, manners, &result)
    } catch is MustBeParted {
      try sweepCauses([.cascade, .refcount], DanglingFound(), now, manners, &result)
      try sweepFound(kinds, now, manners, &result)
    }
  }

  /// A sweep that was begun goes on as one of its kinds, and what was approved goes first.
  private func sweepCauses(
    _ kinds: [SweepKind], _ found: DanglingFound, _ now: Int64, _ manners: StepPolicy,
    _ result: inout SweepResult
  ) throws {
    var start = try SweepStart.read(store, kinds)
    if start.isLateDue, try LateReferences(store).journalDue() {
      start = try SweepStart.read(store, kinds)
    }
    if start.unfinished == nil, let plan = start.approved {
      try sweepApproved(from: plan, now, manners, &result)
      start = try SweepStart.read(store, kinds)
    }
    let kindsNow = try start.unfinished == nil ? kinds : unfinishedSweep ?? kinds
    var sweep = PlannedSweep(kindsNow)
    (sweep.found, sweep.causes, sweep.hasWaiting) = (found, start.causes, start.hasWaiting)
    (sweep.now, sweep.hasRecent) = (now, start.recent > 0)
    try carryOut(sweep, start, manners, &result)
    // What was asked for now is more than the end of what was begun before.
    if start.unfinished != nil && !result.isCutShort {
      try sweepCauses(kinds, found, now, manners, &result)
    }
  }

  /// The approved plans from this one on, each in a batch of its own.
  private func sweepApproved(
    from first: Int64, _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws {
    var number: Int64? = first
    while let next = number, !result.isCutShort {
      guard let plan = try CausePlan.read(next, store) else { return }
      var sweep = PlannedSweep(plan.kinds)
      (sweep.causes, sweep.approved, sweep.now) = (.ofPlan(plan.number), plan, now)
      try carryOut(sweep, nil, manners, &result)
      number = try CausePlan.nextApproved(after: next, store)
    }
  }

  /// What a search of whole tables has found, without what the journal has.
  private func sweepFound(
    _ kinds: [SweepKind], _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws {
    if result.isCutShort { return }
    var sweep = PlannedSweep(kinds)
    (sweep.causes, sweep.found, sweep.now) = (.found, try findDangling(), now)
    sweep.hasRecent = true
    do {
      try carryOut(sweep, nil, manners, &result)
    } catch let held as HeldPlan {
      result.hold(held, kinds, plan: try persistPlan(held, file: kinds.planFile))
    }
  }

  /// One batch, which is begun or goes on. `start` tells whether it may begin at once.
  private func carryOut(
    _ sweep: PlannedSweep, _ start: SweepStart?, _ manners: StepPolicy,
    _ result: inout SweepResult
  ) throws {
    var part = SweepResult(kinds: result.kinds, outcome: .nothing)
    try store.following(sweep.kinds) {
      guard case (var waves, let isMore)? = try begin(sweep, start, manners, &part, &result)
      else { return }
      if isMore && sweep.kinds == [.unreachable] {
        try collectUnreachable(&waves, manners)
      } else if isMore {
        try carryOut(&waves, manners)
      }
      try end(&waves, sweep.now, &part)
    }
    let wasDone = result.outcome == .done
    result.add(part)
    // What one part had to leave does not undo what another one did.
    if wasDone && part.outcome == .blocked && !part.isCutShort { result.outcome = .done }
  }

  /// The waves of a sweep that goes on or begins, and whether there may be more to do. Nil if nothing
  /// is to be done now.
  private func begin(
    _ sweep: PlannedSweep, _ start: SweepStart?, _ manners: StepPolicy, _ part: inout SweepResult,
    _ result: inout SweepResult
  ) throws -> (Waves, isMore: Bool)? {
    if let start, let batch = start.unfinished {
      let hasBlocked = try BlockedNodes(store).isAny
      if hasBlocked { part.blocked += try denialsInRest(sweep, start) }
      var waves = try Waves(
        store, batch: batch, isSweep: true, isNew: false, hasBlocked: hasBlocked)
      waves.plan = start.unfinishedPlan
      return (waves, true)
    }
    if !sweep.kinds.scansTables, let start, let batch = start.batch,
      start.isSmall && mayBeginAtOnce,
      let begun = try beginAtOnce(sweep.kinds, batch, manners, recent: start.recent)
    {
      return begun
    }
    guard let (batch, hasBlocked) = try beginPlanned(sweep, &part, &result) else { return nil }
    var waves = try Waves(store, batch: batch, isSweep: true, hasBlocked: hasBlocked)
    waves.plan = sweep.approved?.number
    return (waves, true)
  }

  private func beginPlanned(
    _ sweep: PlannedSweep, _ part: inout SweepResult, _ result: inout SweepResult
  ) throws -> (batch: Int64, hasBlocked: Bool)? {
    let planned = try plan(sweep, &part)
    if sweep.kinds.scansTables {
      try clearRescan()
      for plan in sweep.found.releasedPlans { try deletePlan(plan) }
    }
    switch planned {
    case .begun(let batch, let hasBlocked): return (batch, hasBlocked)
    case .held(let held, let number):
      result.hold(held, sweep.kindsOfPlan, plan: number)
      result.heldKinds = sweep.kindsOfPlan
      result.blocked += part.blocked
    case .nothing:
      if !part.blocked.isEmpty { part.outcome = .blocked }
      if sweep.kinds.scansTables { try forgetPlans(of: sweep.kinds) }
    }
    return nil
  }

  // MARK: - At once

  private var mayBeginAtOnce: Bool { !store.binding.denies && rowsToAStep == nil }

  /// More would go than needs no approval, or it takes longer to tell.
  private struct MustBePlanned: Error, CustomStringConvertible {
    let description = "a sweep has to be planned before it begins"
  }

  /// Begins a batch and takes its first step in one transaction. If something could be held, that is
  /// only committed if nothing is left to be done, and so little went that nothing is. Else nil, and
  /// nothing was done.
  private func beginAtOnce(
    _ kinds: [SweepKind], _ batch: Int64, _ manners: StepPolicy, recent: Int
  ) throws -> (Waves, isMore: Bool)? {
    var waves = try Waves(store, batch: batch, isSweep: true)
    waves.begin(with: beginningAtOnce(kinds, batch))
    do {
      let isMore = try step(&waves, manners, isWhole: true, recent: recent) { try $0.next($1) }
      return (waves, isMore)
    } catch is MustBePlanned {
      return nil
    }
  }

  private func refuseUnplanned(_ waves: Waves, isMore: Bool, recent: Int) throws {
    let isLittle = waves.count.rows == 0 || waves.count.rows + recent <= model.limits.hold.deletes
    if mayBeHeld && (isMore || !isLittle) { throw MustBePlanned() }
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
  /// `isWhole`: the step goes on as long as there is time, to do all that there is. `recent` nodes went
  /// lately.
  func step(
    _ waves: inout Waves, _ manners: StepPolicy, isWhole: Bool = false, recent: Int = 0,
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
      if isWhole { try refuseUnplanned(waves, isMore: isMore, recent: recent) }
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
  func transaction<T>(
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
    let begun = try begunSweep()
    if begun.kinds == [.unreachable], try UnreachedNodes.end(store) { hasLocked = true }
    let summary = try BatchSummary(store, batch, counts: waves.isWhole ? waves.deletions : nil)
    let files = try FileRows(store: store).take(into: batch, of: .daemon)
    // Also without a deletion: the names of what others deleted are kept as long as the batch.
    if try notices + waves.count.edges + files > 0 || hasDeleted(batch) {
      let kept = try model.keepsAnyDeleted ? KeptDeletions.count(batch, store) : 0
      let entry = Ledger.entry(
        ofSweep: batch, at: now, deleted: summary.deletedCount + kept, edges: waves.count.edges,
        notices: notices)
      let counts = begun.approved == nil && mayBeHeld
      let recent = counts ? RecentDeletions.adding(summary.byCollection, model, at: now) : []
      try db.runEach([entry] + recent + [DeletedNumbers.taking(batch)])
    }
    if let plan = begun.approved {
      try CausePlan.end(plan, deleted: summary.byCollection, store)
    }
    try forgetPlans(of: begun.kinds)
    try db.run("DELETE FROM cascade.meta WHERE key IN ('sweep.batch', 'sweep.kinds', 'sweep.plan')")
    return (summary, notices, hasLocked)
  }

  /// Of the batch that is not ended: its kinds, and its plan, if it was approved.
  private func begunSweep() throws -> (kinds: [SweepKind], approved: Int64?) {
    let rows = try db.runAgain(
      "SELECT key, value FROM cascade.meta WHERE key IN ('sweep.kinds', 'sweep.plan')"
    ).rows
    let values = Dictionary(rows.map { ($0[0]!, Int64($0[1]!)!) }, uniquingKeysWith: { $1 })
    return (values["sweep.kinds"].map { [SweepKind](code: $0) } ?? [], values["sweep.plan"])
  }

  /// What a sweep of these kinds does is not to be approved any more. A plan that owns its causes waits for
  /// its own answer.
  private func forgetPlans(of kinds: [SweepKind]) throws {
    let files = try db.runAgain(
      """
      SELECT DISTINCT file FROM cascade.plan
      WHERE file LIKE '/%' AND file NOT LIKE '/job %' AND value IS NULL AND NOT owns_causes
      """
    ).texts
    for file in files where kinds.cover([SweepKind](planFile: file)) {
      try deletePlans(ofFile: file)
    }
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
}

extension SweepKind {
  fileprivate static let allCode = [SweepKind.cascade, .refcount].code
}
