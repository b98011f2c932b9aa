package import CascadeModel
internal import CascadePlanning
internal import CascadePostgres
package import CascadeStore
internal import CascadeSystem

/// One sweep, from the plan to the ledger.
extension PostgresWriter {
  package func sweep(
    _ kinds: [SweepKind], at now: Int64, manners: StepPolicy
  ) throws -> SweepResult {
    try refusePart(of: kinds)
    var result = SweepResult(kinds: kinds, outcome: .nothing)
    if kinds.readsJournal || kinds.scansTables {
      try sweepEdges(kinds, now, manners, &result)
    }
    if kinds.sweepsUnreferenced(of: model) { try sweepUnreferenced(now, manners, &result) }
    if kinds.sweepsFiles { try sweepFiles(now, &result) }
    if kinds.deletesTrash { result.trashedBatchesDeleted = try Retention(store, now).deleteOld() }
    return result
  }

  /// What one kind leaves to the other is not told apart here.
  private func refusePart(of kinds: [SweepKind]) throws {
    let counts = !store.binding.relations(with: .counted).isEmpty
    if kinds.readsJournal && kinds.cascades != kinds.counts && counts {
      throw StoreError("on PostgreSQL, \"cascade\" and \"refcount\" go together: sweep both")
    }
  }

  private func sweepEdges(
    _ kinds: [SweepKind], _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws {
    _ = try LateReferences(store).journalDue()
    if try store[meta: "sweep.batch"] == nil {
      if try !plan(kinds, scans: kinds.scansTables, &result) { return }
    }
    guard let batch = try store[meta: "sweep.batch"] else { return }
    var waves = try Waves(store, batch: batch, isSweep: true)
    try carryOut(&waves, manners)
    try end(&waves, now, &result)
    // Where no other session is in a transaction, nothing is left to be looked for later.
    _ = try LateReferences(store).journalDue()
  }

  /// Looks at everything that would go before anything does, and begins a batch with it. What others
  /// write later is for the next sweep. False if nothing is to be done now.
  private func plan(
    _ kinds: [SweepKind], scans: Bool, _ result: inout SweepResult
  ) throws -> Bool {
    let isFirst = try store[meta: "first_watch"] != nil
    let missing = try scans ? DanglingReferences(store).find() : []
    let clear = missing.filter { !$0.isDoubtful }
    result.blocked += missing.filter(\.isDoubtful).prefix(100).map(\.reason)
    let isAny: Bool
    try analyzeJournal()
    do {
      isAny = try db.transaction(.repeatableRead) {
        try DanglingReferences(store).journal(clear)
        try LateReferences(store).journalArrived()
        return try isJournalThere && planJournal(kinds, isFirst: isFirst && !clear.isEmpty, &result)
      }
    } catch let held as HeldPlan {
      result.hold(held, kinds, plan: try persistPlan(held, file: kinds.planFile))
      return false
    }
    if isAny { try analyzeJournal() }
    if scans { try clearRescan() }
    if !isAny && !result.blocked.isEmpty { result.outcome = .blocked }
    return isAny
  }

  /// Throws the plan if it has to be approved. What the journal was given is then taken back.
  private func planJournal(
    _ kinds: [SweepKind], isFirst: Bool, _ result: inout SweepResult
  ) throws -> Bool {
    var closure = try Closure(store, journal: "true")
    try closure.complete()
    result.blocked += try closure.denials()
    let held = try closure.heldPlan(id: HeldPlan.sweep, includingFirst: false, always: isFirst)
    if let held, try !isApproved(held, kinds) { throw held }
    try BlockedNodes(store).beginWithDenied()
    try begin(kinds)
    return true
  }

  /// Without statistics, the server takes a journal for empty, and reads all of it for each row.
  private func analyzeJournal() throws {
    let isLong = "SELECT count(*) > 1000 FROM (SELECT FROM cascade.journal LIMIT 1001) j"
    if try db.run(isLong).bool { try db.execute("ANALYZE cascade.journal") }
  }

  /// Also what waits because a node had to stay.
  private var isJournalThere: Bool {
    get throws {
      try db.run("SELECT EXISTS (SELECT FROM cascade.journal) OR \(FileRows.areNew)").bool
    }
  }

  private func begin(_ kinds: [SweepKind]) throws {
    let batch = try db.run("SELECT nextval('cascade.batch')").integer!
    try store.set("sweep.batch", batch)
    try store.set("sweep.kinds", kinds.code)
    try FileRows(store: store).take(into: batch)
    try db.run(
      """
      INSERT INTO cascade.deleted(batch, collection, key, is_own)
      SELECT DISTINCT \(batch), subject, key, false FROM cascade.journal
      WHERE what = \(JournalSubject.gone.rawValue) AND batch IS NULL
      """)
    let unmissed = store.binding.tables.values.filter { !store.binding.isMissed($0) }
    try db.run(
      """
      DELETE FROM cascade.journal j WHERE j.what = \(JournalSubject.gone.rawValue)
      AND j.subject = ANY($1::int[]) AND \(isOpen)
      """, [arrayText(unmissed.map { "\($0.number)" })])
    try db.run(
      """
      UPDATE cascade.journal j SET batch = \(batch), done = \(isUnfollowed(.lost))
        OR \(isUnfollowed(.widowed)) WHERE \(isOpen)
      """)
  }

  private var isOpen: String { "(j.batch IS NULL OR j.batch = \(BlockedNodes.waiting))" }

  private func isUnfollowed(_ what: JournalSubject) -> String {
    let unfollowed = store.binding.relations.filter { !$0.isFollowed(what) }.map { "\($0.number)" }
    return "j.what = \(what.rawValue) AND j.subject = ANY('\(arrayText(unfollowed))'::int[])"
  }

  // MARK: - Steps

  func carryOut(_ waves: inout Waves, _ manners: StepPolicy) throws {
    repeat {
      while try step(&waves, manners, { try $0.step($1) }) != nil {}
    } while try step(&waves, manners, { try $0.deleteUncounted($1) }) ?? 0 > 0
  }

  /// One transaction, and what comes behind it. One that met another is tried again.
  func step(
    _ waves: inout Waves, _ manners: StepPolicy, _ body: (inout Waves, Int) throws -> Int?
  ) throws -> Int? {
    let start = ContinuousClock.now
    let worked = try transaction(&waves) { try body(&$0, rowsToAStep ?? pace.limit) }
    let time = ContinuousClock.now - start
    noteHold(time)
    if worked == nil { return nil }
    pace.note(time, model.limits)
    manners.reportProgress(WorkProgress(phase: .deleting, done: waves.count.rows))
    try manners.pause(.zero)
    return worked
  }

  /// A transaction that met another one is tried again. So is one whose commit is refused by a
  /// constraint that was deferred: then each statement is checked at once.
  private func transaction<T>(
    _ waves: inout Waves, _ body: (inout Waves) throws -> T
  ) throws -> T {
    var tries = 0
    while true {
      var next = waves
      do {
        let result = try db.transaction {
          if next.checksAtOnce { try db.execute("SET CONSTRAINTS ALL IMMEDIATE") }
          next.leases = try LiveLeases(store)
          let result = try body(&next)
          try next.leases.verify()
          return result
        }
        waves = next
        return result
      } catch let error as PostgresError
        where tries < 5 && (error.isConflict || error.isAboutTheValue && !waves.checksAtOnce)
      {
        if error.isAboutTheValue { waves.checksAtOnce = true }
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
    result.blocked += try BlockedNodes(store).refusals()
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
    let (notices, hasLocked) = try waves.finish(at: now)
    let batch = waves.batch
    let summary = try BatchSummary(store, batch)
    let files = try FileRows(store: store).take(into: batch)
    // Also without a deletion: the names of what others deleted are kept as long as the batch.
    if try notices + waves.count.edges + files > 0 || hasDeleted(batch) {
      try Ledger(store).add(
        Submission(id: "sweep-\(batch)", author: nil, fingerprint: 0, at: now).asSweep,
        batch: batch, deleted: summary.deletedCount, edges: waves.count.edges, notices: notices,
        skipped: 0)
    }
    try store.set("sweep.batch", nil)
    try store.set("sweep.kinds", nil)
    try db.run("DELETE FROM cascade.plan WHERE file LIKE '/%'")
    return (summary, notices, hasLocked)
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

extension Submission {
  var asSweep: Submission {
    var submission = self
    submission.part = Submission.partOfSweep
    return submission
  }
}

extension Rules {
  static let counted: Rules = [
    .deleteDestinationIfAllSourcesDeleted, .deleteSourceIfAllDestinationsDeleted,
  ]
}
