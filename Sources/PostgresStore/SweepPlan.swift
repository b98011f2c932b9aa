internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// What a sweep of edges is for: whose causes it reads, and what of them was approved.
struct PlannedSweep {
  let kinds: [SweepKind]
  var causes = Causes.all
  /// What a search of whole tables found is a cause, too.
  var found = DanglingFound()
  /// The plan that was approved, and that owns the causes.
  var approved: CausePlan?
  /// Whether something was held back by earlier sweeps.
  var hasWaiting = false
  /// Whether earlier ones deleted something lately without an approval.
  var hasRecent = false
  /// When it begins.
  var now: Int64 = 0

  init(_ kinds: [SweepKind]) { self.kinds = kinds }

  /// The kinds of the plan that its causes get if they are held.
  var kindsOfPlan: [SweepKind] {
    kinds.followedRules == .all
      ? [.cascade, .refcount] : kinds.filter { $0 == .cascade || $0 == .refcount }
  }
}

/// What was found and what the journal has would be too much together: each is a sweep of its own then.
struct MustBeParted: Error, CustomStringConvertible {
  let description = "what was found is swept without what the journal has"
}

/// The plan of a sweep: everything that would go is looked at before anything does, and a batch is
/// begun, or the causes are held. What others write later is for the next sweep.
extension PostgresWriter {
  enum Planned {
    case nothing
    case begun(batch: Int64, hasBlocked: Bool)
    case held(HeldPlan, number: Int64)
  }

  func plan(_ sweep: PlannedSweep, _ result: inout SweepResult) throws -> Planned {
    try store.transaction(.repeatableRead, isDurable: false) {
      try DanglingReferences(store).journal(sweep.found.followed, for: sweep.causes)
      if sweep.hasWaiting { try HeldEdges(store).dropOver() }
      return try planJournal(sweep, &result)
    }
  }

  private func planJournal(
    _ sweep: PlannedSweep, _ result: inout SweepResult
  ) throws -> Planned {
    try dropEnded()
    if sweep.causes != .all { try HeldCauses.shareReused(db) }
    let journal = try journalRows(sweep)
    if try journal.isEmpty && !FileRows(store: store).areNew(of: sweep.causes) {
      if let plan = sweep.approved { try CausePlan.end(plan.number, store) }
      return .nothing
    }
    var approved = sweep.approved?.number ?? sweep.found.releasedPlans.first
    let needsClosure = mayBeHeld || store.binding.denies || sweep.found.isFirst
    if needsClosure {
      var closure = try Closure(store, journal: journal)
      try closure.complete()
      result.blocked += try closure.denials()
      switch try judge(closure, sweep) {
      case .held(let held, let number): return .held(held, number: number)
      case .passes(let number): approved = number ?? approved
      }
    }
    let hasBlocked = try BlockedNodes(store).begin(
      withDenied: needsClosure, keepsOthers: sweep.causes.isOfPlan)
    if hasBlocked || sweep.hasWaiting { try HeldEdges(store).note() }
    let batch = try nextBatch()
    try begin(sweep, batch, approved: approved)
    if journal.isLong { try db.execute("ANALYZE cascade.work") }
    return .begun(batch: batch, hasBlocked: hasBlocked)
  }

  /// What the rules deny in a sweep that goes on: its plan was made by a daemon that has told nothing of it.
  func denialsInRest(_ sweep: PlannedSweep, _ start: SweepStart) throws -> [Reason] {
    if !store.binding.denies { return [] }
    return try store.transaction(.repeatableRead, isDurable: false) {
      let journal = try JournalRows.ofSweep(
        store, sweep.kinds, start.unfinishedPlan.map(Causes.ofPlan) ?? sweep.causes)
      var closure = try Closure(store, journal: journal)
      try closure.complete()
      return try closure.denials()
    }
  }

  private enum Judged {
    /// Also the number of the plan that was approved for it.
    case passes(approved: Int64?)
    case held(HeldPlan, number: Int64)
  }

  /// What was found is held with its sweep, and not by its causes: then this throws, and the journal gives
  /// back what it was given for that.
  private func judge(_ closure: Closure, _ sweep: PlannedSweep) throws -> Judged {
    let recent = try sweep.hasRecent ? RecentDeletions.read(store, at: sweep.now) : [:]
    let judged = try closure.judge(
      sweep.deletion(store), recent: recent, approval: sweep.approval(model),
      isForSet: sweep.causes == .found)
    guard let (verdict, held) = judged else { return .passes(approved: sweep.approved?.number) }
    if sweep.causes == .found {
      guard let plan = try approvedPlan(held, sweep.kinds) else { throw held }
      return .passes(approved: plan)
    }
    if sweep.found.isAny { throw MustBeParted() }
    let (all, number) = try hold(held, verdict, closure, sweep)
    return .held(all, number: number)
  }

  /// The plan that owns the causes from now on, with all that it has, and its number.
  private func hold(
    _ held: HeldPlan, _ verdict: Hold.Verdict, _ closure: Closure, _ sweep: PlannedSweep
  ) throws -> (HeldPlan, Int64) {
    if let plan = sweep.approved {
      try plan.hold(held, store)
      return (held, plan.number)
    }
    let isOfSum = verdict == .heldForSum
    if isOfSum, let open = try CausePlan.openForSum(sweep.kindsOfPlan, store) {
      let all = open.adding(held)
      try open.hold(all, store)
      try closure.giveCauses(to: open.number, of: sweep.kinds, sweep.causes)
      return (all, open.number)
    }
    let number = try CausePlan.make(held, sweep.kindsOfPlan, isOfSum: isOfSum, store)
    try closure.giveCauses(to: number, of: sweep.kinds, sweep.causes)
    return (held, number)
  }

  /// The same for what a search of all nodes has found. Returns the number of the plan that was approved for
  /// it, if it needs one, and throws if none was.
  func approve(
    _ closure: Closure, _ kinds: [SweepKind], _ deletion: Hold.Deletion = Hold.Deletion([:]),
    at now: Int64
  ) throws -> Int64? {
    let recent = try RecentDeletions.read(store, at: now)
    guard let held = try closure.judge(deletion, includingFirst: true, recent: recent)?.plan else {
      return nil
    }
    guard let plan = try approvedPlan(held, kinds) else { throw held }
    return plan
  }

  // MARK: - What others deleted

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

  /// Also what waits because a node had to stay.
  private func journalRows(_ sweep: PlannedSweep) throws -> JournalRows {
    func read() throws -> JournalRows {
      try JournalRows.ofSweep(store, sweep.kinds, sweep.causes, asksWaiting: false)
    }
    var journal = try read()
    if journal.has(.arrived) {
      try LateReferences(store).journalArrived()
      journal = try read()
    }
    // Without statistics, the server takes a journal for empty, and reads all of it for each row.
    if journal.isLong { try db.execute("ANALYZE cascade.journal") }
    return journal
  }

  /// Whether a sweep may be found to be too much.
  var mayBeHeld: Bool { model.limits.hold.isReachable }
}

extension PlannedSweep {
  /// What counts beside the nodes that would go.
  fileprivate func deletion(_ store: StoreConnection) throws -> Hold.Deletion {
    Hold.Deletion([:], losses: try found.losses(store), needsApproval: found.isFirst)
  }

  /// What values release that were approved needs no other approval.
  fileprivate func approval(_ model: StoreModel) -> Hold.Approval? {
    if let approved { return Hold.Approval(nodes: Hold(model).count(approved.byCollection)) }
    return found.released.isEmpty || found.isFirst ? nil : Hold.Approval(nodes: found.releasedCount)
  }
}
