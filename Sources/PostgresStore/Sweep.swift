package import CascadeModel
internal import CascadePlanning
internal import CascadePostgres
package import CascadeStore
internal import CascadeSystem
internal import PostgresSweeps
internal import PostgresTables

/// One sweep, from the plan to the ledger.
extension PostgresWriter {
  package func sweep(
    _ kinds: [SweepKind], at now: Int64, manners: StepPolicy
  ) throws -> SweepResult {
    var result = SweepResult(kinds: kinds, outcome: .nothing)
    if kinds.readsJournal || kinds.scansTables {
      try sweepEdges(kinds, now, manners, &result)
    }
    if kinds.sweepsUnreferenced(of: model) { try sweepUnreferenced(now, manners, &result) }
    if kinds.sweepsFiles { try sweepFiles(now, &result) }
    if kinds.deletesTrash { result.trashedBatchesDeleted = try Retention(store, now).deleteOld() }
    return result
  }

  /// A sweep that was begun goes on as one of its kinds.
  private func sweepEdges(
    _ kinds: [SweepKind], _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws {
    _ = try LateReferences(store).journalDue()
    let kinds = try unfinishedSweep ?? kinds
    try store.following(kinds) { try sweepEdgesFollowed(kinds, now, manners, &result) }
    // Where no other session is in a transaction, nothing is left to be looked for later.
    _ = try LateReferences(store).journalDue()
  }

  private func sweepEdgesFollowed(
    _ kinds: [SweepKind], _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws {
    let unfinished = try store[meta: "sweep.batch"]
    let begun = try unfinished ?? plan(kinds, scans: kinds.scansTables, &result)
    guard let batch = begun else { return }
    var waves = try Waves(store, batch: batch, isSweep: true, isNew: unfinished == nil)
    waves.looksFirst = rowsToAStep != nil
    try carryOut(&waves, manners)
    try end(&waves, now, &result)
  }

  /// Looks at everything that would go before anything does, and begins a batch with it. What others
  /// write later is for the next sweep. Nil if nothing is to be done now.
  private func plan(
    _ kinds: [SweepKind], scans: Bool, _ result: inout SweepResult
  ) throws -> Int64? {
    let isFirst = try scans && store[meta: "first_watch"] != nil
    let missing = try scans ? DanglingReferences(store).find() : []
    let clear = missing.filter { !$0.isDoubtful }
    result.blocked += missing.filter(\.isDoubtful).prefix(100).map(\.reason)
    let batch: Int64?
    do {
      batch = try store.transaction(.repeatableRead, isDurable: false) {
        try DanglingReferences(store).journal(clear)
        return try planJournal(kinds, isFirst: isFirst && !clear.isEmpty, &result)
      }
    } catch let held as HeldPlan {
      result.hold(held, kinds, plan: try persistPlan(held, file: kinds.planFile))
      return nil
    }
    if scans { try clearRescan() }
    if batch == nil && !result.blocked.isEmpty { result.outcome = .blocked }
    return batch
  }

  /// Throws the plan if it has to be approved. What the journal was given is then taken back.
  private func planJournal(
    _ kinds: [SweepKind], isFirst: Bool, _ result: inout SweepResult
  ) throws -> Int64? {
    let journal = try journalRows(kinds)
    if try journal.isEmpty && !hasNewFiles { return nil }
    var closure = try Closure(store, journal: journal)
    try closure.complete()
    result.blocked += try closure.denials()
    let held = try closure.heldPlan(id: HeldPlan.sweep, includingFirst: false, always: isFirst)
    if let held, try !isApproved(held, kinds) { throw held }
    try BlockedNodes(store).beginWithDenied()
    let batch = try begin(kinds)
    if journal.isLong { try db.execute("ANALYZE cascade.work") }
    return batch
  }

  private var hasNewFiles: Bool {
    get throws { try db.run("SELECT \(FileRows.areNew)").bool }
  }

  /// Also what waits because a node had to stay.
  private func journalRows(_ kinds: [SweepKind]) throws -> JournalRows {
    var journal = try JournalRows.ofSweep(store, kinds)
    if journal.has(.arrived) {
      try LateReferences(store).journalArrived()
      journal = try JournalRows.ofSweep(store, kinds)
    }
    // Without statistics, the server takes a journal for empty, and reads all of it for each row.
    if journal.isLong { try db.execute("ANALYZE cascade.journal") }
    return journal
  }

  /// Until the sweep has ended, its batch is known to whatever daemon goes on.
  func beginBatch(_ kinds: [SweepKind]) throws -> Int64 {
    try db.run(
      """
      INSERT INTO cascade.meta(key, value)
      VALUES('sweep.batch', nextval('cascade.batch')), ('sweep.kinds', \(kinds.code))
      ON CONFLICT(key) DO UPDATE SET value = excluded.value RETURNING value
      """
    ).integer!
  }

  private func begin(_ kinds: [SweepKind]) throws -> Int64 {
    let batch = try beginBatch(kinds)
    try takeJournal(batch, kinds)
    try FileRows(store: store).take(into: batch)
    try db.run(
      """
      UPDATE cascade.work j SET batch = \(batch), done = \(isUnfollowed(.lost))
        OR \(isUnfollowed(.widowed)) WHERE j.batch = \(BlockedNodes.waiting) AND NOT j.done
      """)
    return batch
  }

  /// Takes out of the journal what the snapshot has, and nothing else.
  private func takeJournal(_ batch: Int64, _ kinds: [SweepKind]) throws {
    let unmissed = store.binding.tables.values.filter { !store.binding.isMissed($0) }
    let gone = "j.what = \(JournalSubject.gone.rawValue)"
    try db.run(
      """
      WITH j AS (DELETE FROM cascade.journal j WHERE \(JournalRows.isMeant(for: kinds)) RETURNING j.*),
      k AS (INSERT INTO cascade.deleted(batch, collection, is_own, bucket, keys)
        SELECT DISTINCT \(batch), j.subject, false, \(OwnSchema.bucket("j.key")), ARRAY[j.key] FROM j
        WHERE \(gone) AND NOT j.told),
      w AS (INSERT INTO cascade.work(batch, what, subject, key, other, done, told)
        SELECT \(batch), j.what, j.subject, j.key, j.other,
          \(isUnfollowed(.lost)) OR \(isUnfollowed(.widowed)), j.told FROM j
        WHERE NOT (\(gone) AND j.subject = ANY($1::int[])) AND NOT (\(isOnlyCounted)))
      INSERT INTO cascade.work(batch, what, subject, key, other, done, told)
      SELECT \(batch), j.what, j.subject, min(j.key), j.other, true, bool_and(j.told) FROM j
      WHERE \(isOnlyCounted) GROUP BY j.what, j.subject, j.other
      """, [arrayText(unmissed.map { "\($0.number)" })])
  }

  private func isUnfollowed(_ what: JournalSubject) -> String {
    isAbout(what, store.binding.relations.filter { !$0.isFollowed(what) })
  }

  /// Of edges whose loss is only counted, one to each destination tells enough.
  private var isOnlyCounted: String {
    isAbout(
      .lost,
      store.binding.relations.filter {
        $0.allRules.intersection(.losingSource) == [.deleteDestinationIfAllSourcesDeleted]
      })
  }

  private func isAbout(_ what: JournalSubject, _ relations: [EdgeRelation]) -> String {
    let numbers = arrayText(relations.map { "\($0.number)" })
    return "j.what = \(what.rawValue) AND j.subject = ANY('\(numbers)'::int[])"
  }

  // MARK: - Steps

  func carryOut(_ waves: inout Waves, _ manners: StepPolicy) throws {
    while try step(&waves, manners, { try $0.next($1) }) {}
  }

  /// One transaction, and what comes behind it. Returns whether there may be more to do.
  ///
  /// It need not be durable before the end of the sweep: a crash of the server loses the last steps
  /// only, and the sweep goes on from there.
  func step(
    _ waves: inout Waves, _ manners: StepPolicy, _ body: (inout Waves, Int) throws -> Int?
  ) throws -> Bool {
    let (start, limit) = (ContinuousClock.now, rowsToAStep ?? pace.limit)
    let (worked, isMore) = try transaction(&waves, isStep: true) { waves in
      var worked = 0
      repeat {
        guard let more = try body(&waves, limit - worked) else { return (worked, false) }
        worked += more
      } while worked < limit / 2 && ContinuousClock.now - start < budget / 2
      return (worked, true)
    }
    let time = ContinuousClock.now - start
    if worked == 0 { return isMore }
    noteHold(time)
    if worked >= limit / 2 { pace.note(time, model.limits) }
    manners.reportProgress(WorkProgress(phase: .deleting, done: waves.count.rows))
    try manners.pause(.zero)
    return isMore
  }

  /// A transaction that met another one is tried again. So is one that the application's constraints
  /// or triggers refuse: then what they refuse is left, and in the end each statement is checked at
  /// once, also by constraints that are deferred.
  ///
  /// A step in which a statement takes too long is tried again, too, and then looks first.
  private func transaction<T>(
    _ waves: inout Waves, isStep: Bool = false, _ body: (inout Waves) throws -> T
  ) throws -> T {
    var tries = 0
    while true {
      var next = waves
      do {
        let longest = isStep && !waves.looksFirst ? longestStatement : nil
        let result = try store.transaction(isDurable: !isStep, longest: longest) {
          if next.checksAtOnce { checkAtOnce() }
          next.leases = try LiveLeases(store)
          let result = try body(&next)
          try next.leases.verify()
          return result
        }
        waves = next
        return result
      } catch let error as PostgresError
        where tries < 5
        && (error.isConflict || error.isAboutTheValue && !waves.checksAtOnce
          || error.isCancelled && isStep && !waves.looksFirst)
      {
        if error.isCancelled { waves.looksFirst = true }
        if error.isAboutTheValue {
          waves.checksAtOnce = waves.expectsRefusals
          waves.expectsRefusals = true
        }
        tries += 1
      }
    }
  }

  /// Of a step that does not know how many rows it will meet. The bound keeps what a statement
  /// remembers of them small.
  private var longestStatement: Duration {
    min(max(budget * 2, .milliseconds(50)), .seconds(1))
  }

  /// Where no constraint can be deferred, the statement may be unknown.
  private func checkAtOnce() {
    try? db.savepoint { try db.execute("SET CONSTRAINTS ALL IMMEDIATE") }
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
    let summary = try BatchSummary(store, batch, counts: waves.isWhole ? waves.deletions : nil)
    let files = try FileRows(store: store).take(into: batch)
    // Also without a deletion: the names of what others deleted are kept as long as the batch.
    if try notices + waves.count.edges + files > 0 || hasDeleted(batch) {
      try Ledger(store).addSweep(
        batch, at: now, deleted: summary.deletedCount, edges: waves.count.edges, notices: notices)
    }
    try forgetPlans(of: unfinishedSweep ?? [])
    try db.run("DELETE FROM cascade.meta WHERE key IN ('sweep.batch', 'sweep.kinds')")
    return (summary, notices, hasLocked)
  }

  /// A sweep that leaves rules to another kind leaves the plans of that kind, too.
  private func forgetPlans(of kinds: [SweepKind]) throws {
    let isOwn = kinds.followedRules == .all ? "file LIKE '/%'" : "file = $1"
    try db.run(
      "DELETE FROM cascade.plan WHERE \(isOwn)", kinds.followedRules == .all ? [] : [kinds.planFile]
    )
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
