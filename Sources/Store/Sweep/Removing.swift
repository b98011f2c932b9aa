internal import CascadeModel
internal import CascadeSQLite

/// The steps of a large sweep. Each step is a transaction that removes what comes next in the plan,
/// a few rows at a time as long as there is time.
extension Writer {
  func remove(
    _ plan: SweepPlan, _ submission: Submission, _ result: inout SweepResult, _ manners: Manners
  ) throws {
    // What was removed before the tables were altered counts too.
    defer { result.add(stepReceipt(submission), current) }
    try inSteps {
      try step { try begin(plan, submission) }
      try bringNews(manners)
      if plan.size > 0 { try withoutTriggers { try removeAll(plan, manners) } }
    }
    // The next plan must find what is left. It is among the journal rows of this sweep and what the
    // application's triggers wrote because of them.
    let isNews = binding.hasTriggers && current.ownEnd > current.journalEnd
    if isNews || current.leavesRest { current.isUndisturbed = false }
  }

  /// The last commit makes all steps durable. What foreign keys would do or refuse, the rules do in
  /// their own order, or the steps do in their place (`StandIn.swift`).
  func inSteps(_ body: () throws -> Void) throws {
    try db.execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF")
    try db.setCache(.deleting)
    try db.limitLog(.none)
    defer {
      try? db.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
      try? db.setCache(.ordinary)
      try? db.limitLog(.ordinary)
    }
    try setFirstFence()
    try body()
  }

  /// Plans and removes while no other connection can write. This is for nodes that each stay as
  /// long as another one exists that goes too, while others commit between the attempts. What is
  /// refused even so is left to the next plan.
  func removeAtOnce(
    _ kinds: [SweepKind], _ submission: Submission, _ result: inout SweepResult,
    _ start: inout Int64
  ) throws {
    let blocked = current.blocked
    forgetPlan()
    do {
      try inSteps {
        try step {
          // This plan does not find what follows from the earlier steps, so only rows from here on
          // are covered.
          start = try db.lastInJournal
          // The plan needs the trigger that rejects leased nodes.
          let plan = try planned(kinds, blocked)
          try withoutTriggers {
            try begin(plan, submission)
            try keepSpared(.all)
            try rememberLostFiles()
            try removeLooking(plan.all, plan)
            try recordCount(current.deletedCount)
          }
        }
      }
      result.add(stepReceipt(submission), current)
    } catch is Refused {}
  }

  /// A plan that finds nothing leaves no trace.
  private func begin(_ plan: SweepPlan, _ submission: Submission) throws {
    current.approved = plan.approval?.checksum
    try spendApproval(current.sumOfDead)
    if plan.size == 0 { return }
    hasConcluded = false
    try rememberMayLose(isApproved: plan.approval != nil)
    try openBatch()
    if current.isResumed { return }
    try recordStepped(submission)
    counters.serial += 1
  }

  private func removeAll(_ plan: SweepPlan, _ manners: Manners) throws {
    var progress = WorkProgress(phase: .deleting, total: Int(plan.all.high))
    var low = plan.all.low
    repeat {
      low = try removeUnlessRefused(plan, above: low)
      progress.done = Int(low)
      manners.tell(progress)
      try breathe(manners)
    } while low < plan.all.high
  }

  /// Returns how far it came.
  private func removeUnlessRefused(_ plan: SweepPlan, above low: Int64) throws -> Int64 {
    while true {
      do {
        var (high, rows, worked) = (low, Int64(0), Duration.zero)
        let held = try step {
          let before = current.deletedCount
          (high, rows, worked) = try removeInTime(plan, above: low)
          try db.run("DELETE FROM temp.known WHERE id < 0")
          try recordCount(current.deletedCount - before)
        }
        pace.note(rows: rows, worked: worked, held: held)
        return high
      } catch let refused as Refused {
        current.block(refused.reasons)
        try keep(refused.nodes)
      }
    }
  }

  private func removeInTime(
    _ plan: SweepPlan, above low: Int64
  ) throws -> (high: Int64, rows: Int64, worked: Duration) {
    let start = ContinuousClock.now
    var (high, rows, more) = (low, Int64(0), pace.rowsAtOnce)
    repeat {
      var (slice, weight, isHub) = try weighed(
        self.slice(behind: high, most: max(more, fewestAtOnce), of: plan))
      // A high fan-out node begins a step: its rows take a different time than the rows before
      // them.
      if isHub && rows > 0 { break }
      if try isHub && isGone(slice) {
        if !current.isUndisturbed { _ = try lookAgain(slice) }
        (weight, isHub) = try letGo(slice, since: start)
        rows += weight
        if isHub { break }
        weight = 1
      }
      current.isHub = try isHub && current.readsItsDeletions && isRow(slice)
      let whole = try withHolders(slice, of: plan)
      if whole != slice { (slice, weight) = (whole, max(1, whole.count)) }
      try removeLooking(slice, plan)
      rows += weight
      high = slice.high
      more = pace.more(behind: rows, worked: .now - start)
    } while high < plan.all.high && !current.isHub && more > 0
    return (high, rows, .now - start)
  }

  /// If other connections committed in between, it works level by level: what stays is known before
  /// what would follow from it is checked.
  private func removeLooking(_ slice: Slice, _ plan: SweepPlan) throws {
    for part in current.isUndisturbed ? [slice] : plan.parts(of: slice) {
      let ends = try current.isUndisturbed ? db.ends(in: part) : lookAgain(part)
      try count(ends)
      try spendApproval(part)
      try remove(part, ends)
    }
  }

  /// One transaction that knows whether other connections committed before it.
  @discardableResult
  func step(_ body: () throws -> Void) throws -> Duration {
    let before = current
    do {
      try group(isStep: true) {
        if binding.schemaVersion != current.schemaVersion { throw StaleSweep() }
        try noteOthers()
        let start = try db.lastInJournal
        try body()
        current.ownEnd = try db.lastInJournal
        // The next plan writes the notices for a high fan-out node.
        if !current.isHub { try markTold(behind: start, upTo: current.ownEnd) }
        current.isHub = false
      }
    } catch {
      current = before
      throw error
    }
    return holds.last ?? .zero
  }

  /// Notes what other connections did since the last step; for the first step, since the plan was
  /// made, which saw everything that was in the journal then.
  private func noteOthers() throws {
    let commits = try foreignCommits()
    if !pace.knows(commits) { current.isUndisturbed = false }
    pace.look(foreignCommits: commits)
    if current.isUndisturbed { return }
    let touched = try db.all(
      "SELECT DISTINCT what FROM cascade_journal WHERE seq > ?",
      .integer(max(current.ownEnd, current.journalEnd))
    ) { $0.integer(0) }
    for watch in watches where touched.contains(watch.number) {
      if case .rows(let collection) = watch.meaning.subject { current.disturbed.insert(collection) }
    }
    try readNotes()
  }
}

extension Writer.SweepPlan {
  /// A slice split by levels; the slice itself if it is empty.
  fileprivate func parts(of slice: Slice) -> [Slice] {
    if slice.isEmpty { return [slice] }
    return levels.filter { $0.low < slice.high && $0.high > slice.low && !$0.isEmpty }
      .map { Slice(low: max($0.low, slice.low), high: min($0.high, slice.high)) }
  }
}
