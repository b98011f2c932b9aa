internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges
internal import SQLiteDeletion

/// What becomes of a part of a sweep that has to wait for an approval, and how a sweep carries out
/// what was approved: first, each plan by itself and in a batch of its own.
extension Writer {
  /// The rows of the journal that a held part takes with it.
  private struct Claim {
    var rows: [Slice]
    var kinds: [SweepKind]
    /// Up to here, the kinds of the part have read.
    var end: Int64
    /// The other kind has read only some of the rows. What is left is another part.
    var isWhole = true
  }

  /// What is left of the part goes on.
  func hold(_ held: HeldPlan, _ kinds: [SweepKind], hasMoreParts: Bool) throws {
    if !ownsCauses { return try holdScan(held, kinds) }
    let claim = try claim(kinds)
    let plan = try group {
      let plan = try persistCauses(held, claim.kinds, claim.rows)
      if sweepRun.plan == nil { try leave(claim, kinds) }
      return plan
    }
    let counts = try heldCounts(of: plan)
    let all = HeldPlan(
      id: held.id, deletedCount: counts.values.reduce(0, +), byCollection: counts, lostCount: 0,
      checksum: 0)
    sweepRun.result.hold(all, claim.kinds, plan: plan)
    if claim.isWhole || sweepRun.plan != nil { return }
    try sweepEdges(kinds, hasMoreParts: hasMoreParts)
  }

  /// Only the scan finds again what it found.
  private func holdScan(_ held: HeldPlan, _ kinds: [SweepKind]) throws {
    try group {
      let plan = try persistPlan(held, file: planFile)
      try deletePlans(ofSweep: planFile, but: plan)
      sweepRun.result.hold(held, kinds, plan: plan)
    }
  }

  /// A kind that has read rows before is not to read them again: the plan is of the other one. Of rows
  /// that neither has read, it is of both.
  private func claim(_ kinds: [SweepKind]) throws -> Claim {
    let both: [SweepKind] = [.cascade, .refcount]
    let (start, end) = (try db.journalStart(kinds), max(sweepRun.journalEnd, 0))
    if kinds.cascades == kinds.counts {
      return Claim(rows: try unowned(start, end), kinds: both, end: end)
    }
    let other = try db.journalPosition(kinds.cascades ? .refcount : .cascade)
    if other <= start { return Claim(rows: try unowned(start, end), kinds: both, end: end) }
    let first = min(other, end)
    let own: [SweepKind] = kinds.cascades ? [.cascade] : [.refcount]
    return Claim(rows: try unowned(start, first), kinds: own, end: first, isWhole: first == end)
  }

  /// The ranges of rows that no plan owns.
  private func unowned(_ start: Int64, _ end: Int64) throws -> [Slice] {
    var (ranges, low): ([Slice], Int64) = ([], start)
    let owned = try db.all(
      """
      SELECT low, high FROM cascade_plan_rows WHERE hides AND high > ? AND low < ? ORDER BY low
      """, .integer(start), .integer(end)
    ) { Slice(low: $0.integer(0), high: $0.integer(1)) }
    for range in owned {
      if range.low > low { ranges.append(Slice(low: low, high: range.low)) }
      low = max(low, range.high)
    }
    if end > low { ranges.append(Slice(low: low, high: end)) }
    return ranges
  }

  /// The sweep has read these rows, as one that was not held would have.
  private func leave(_ claim: Claim, _ kinds: [SweepKind]) throws {
    try db.empty(.endedCandidates)
    try db.findEndedCandidates()
    try deleteEndedCandidates()
    for rows in claim.rows { try freeDeleted(rows) }
    try deletePlans(ofSweep: planFile, but: nil)
    if kinds.cascades { try db.setMeta(.journalRead(.cascade), claim.end) }
    if kinds.counts { try db.setMeta(.journalRead(.refcount), claim.end) }
  }

  /// What the journal tells and what a scan finds were one part. Only the first has causes that a plan
  /// can own.
  func sweepSeparately(_ kinds: [SweepKind], hasMoreParts: Bool) throws {
    for part in try sweepPartsOfJournal(of: kinds) {
      if sweepRun.result.isCutShort { return }
      try sweepEdges(part, hasMoreParts: true)
    }
    if sweepRun.result.isCutShort { return }
    try sweepEdges([.dangling], hasMoreParts: hasMoreParts)
  }

  // MARK: - Approved plans

  func sweepApproved(at now: Int64) throws -> [SweepResult] {
    try removeEndedRows()
    var results: [SweepResult] = []
    for plan in try approvedCauses() {
      sweepRun = SweepRunState(of: plan.kinds)
      sweepRun.plan = plan
      results.append(try sweepWithoutSync(at: now))
      sweepRun.plan = nil
      if results.last?.isCutShort == true { return results }
      try removeEndedRows()
    }
    return results
  }

  /// Deletes the rows of plans and jobs that are at their end, a part at a time.
  func removeEndedRows() throws {
    if attachment.isDetached { return }
    let ranges = try endedRanges()
    try removeRows(ranges)
    let isAny = try db.integer(
      "SELECT 1 FROM cascade_plan WHERE owns AND ended = ? LIMIT 1",
      .integer(PlanEnd.carriedOut.rawValue))
    if isAny != nil || !ranges.isEmpty { try group { try forgetEndedPlans() } }
  }

  /// The same for rows that nothing will read.
  func removeRows(_ ranges: [Slice]) throws {
    for range in ranges {
      var low = range.low
      while low < range.high {
        let part = Slice(low: low, high: min(range.high, low + max(1, lock.pace.rows * 10)))
        try group { try removeRows(part, isLast: part.high == range.high) }
        low = part.high
        if low < range.high { try yieldLock() }
      }
    }
  }

  private func removeRows(_ part: Slice, isLast: Bool) throws {
    current = TransactionState()
    current.batch = identities.counters.serial
    try noteEnded(part)
    try db.keepUses(above: part.low, upTo: part.high)
    try forgetKept(part)
    try db.run(
      "DELETE FROM cascade_journal WHERE seq > ? AND seq <= ?", .integer(part.low),
      .integer(part.high))
    if isLast {
      try db.run("DELETE FROM cascade_plan_rows WHERE low = ?", .integer(part.low))
    } else {
      try db.run(
        "UPDATE cascade_plan_rows SET low = ? WHERE low = ?", .integer(part.high),
        .integer(part.low))
    }
    try keepNumbersBehindJournal()
  }
}

extension SweepResult {
  /// The results of several sweeps as that of one. What waits is no part of what was done.
  static func merging(_ results: [SweepResult], of kinds: [SweepKind]) -> SweepResult {
    let told = results.filter { $0.outcome != .nothing || !$0.blocked.isEmpty }
    if told.count <= 1, var only = told.first ?? results.last {
      only.kinds = kinds
      return only
    }
    let hasBatch = results.contains { $0.batch != nil }
    var all = SweepResult(kinds: kinds, outcome: .nothing)
    for var part in results {
      if part.outcome == .held && part.batch == nil && hasBatch { part.forgetCounts() }
      part.lockMilliseconds = []
      all.add(part)
      all.otherHeldParts += part.otherHeldParts
    }
    all.lockMilliseconds = results.last?.lockMilliseconds ?? []
    all.unreferenced = results.last?.unreferenced
    all.trashedBatchesDeleted = results.reduce(0) { $0 + $1.trashedBatchesDeleted }
    return all
  }

  private mutating func forgetCounts() { (deletedCount, byCollection) = (0, [:]) }
}
