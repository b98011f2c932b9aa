internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadePlanning
internal import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion

/// What a sweep does with held values (`HeldValues.swift`).
///
/// 1. Those that an operator approved are swept first, as a part of their own.
/// 2. The others stay, and so does everything that would follow from them. The rest of the sweep
///    goes on. At its end, each of them has a plan that waits.
/// 3. A missing node is released if all plans that name it are approved: its deletion cannot follow
///    one relationship and leave out another.
extension Writer {
  func sweepReleasedValues(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: StepPolicy
  ) throws {
    if !kinds.scansTables || attachment.isDetached || !facts.hasTables { return }
    let approved = try db.heldValuePlans().filter(\.isApproved)
    if approved.isEmpty { return }
    try adaptToSchema()
    let found = try findDangling(manners).held
    let plans = try approved.filter { try isReleased($0, approved, found, manners) }
    if plans.isEmpty { return }
    sweepRun.releasedNodes = Set(plans.map(\.value.missing))
    defer { sweepRun.releasedNodes = [] }
    sweepRun.hasMoreParts = true
    try sweepEdges([.dangling], &result, at: now, manners)
    sweepRun.openSweepBatch = result.batch ?? sweepRun.openSweepBatch
    if result.isCutShort { return }
    try group { for plan in plans { try db.deletePlan(plan.number) } }
  }

  /// Whether the approval still covers what would go now.
  private func isReleased(
    _ plan: HeldValuePlan, _ approved: [HeldValuePlan],
    _ found: [HeldValue], _ manners: StepPolicy
  ) throws -> Bool {
    let missing = plan.value.missing
    let same = found.filter { $0.missing == missing }
    if same.isEmpty || !approved.approve(same) { return false }
    let gone = try consequences(of: missing, manners).values.reduce(0, +)
    return gone - plan.deletedCount <= model.limits.hold.deletes
  }

  /// The nodes that would be deleted with the references to a missing node, by collection.
  private func consequences(
    of missing: Node, _ manners: StepPolicy
  ) throws -> [String: Int] {
    sweepRun.releasedNodes = [missing]
    defer {
      sweepRun.releasedNodes = []
      clearPlan()
      current = TransactionState()
    }
    do {
      return try db.snapshot {
        try db.interrupting(when: manners.shouldStop) {
          _ = try makePlan([.dangling], [])
          let counts = try db.goneByCollection().map { ($0.name, $0.gone) }
          return Dictionary(counts, uniquingKeysWith: +)
        }
      }
    } catch let error as SQLiteError where error.isInterrupted {
      throw CancellationError()
    }
  }

  /// Has the held values wait for approval, at the end of a sweep that has found them.
  func holdValues(_ result: inout SweepResult, _ manners: StepPolicy) throws {
    guard var values = sweepRun.heldValues else { return }
    let known = try db.heldValuePlans()
    if values.isEmpty && known.isEmpty { return }
    for index in values.indices {
      values[index].byCollection = try consequences(of: values[index].missing, manners)
    }
    let settled = known.filter { plan in
      !values.contains { $0.identity == plan.value.identity }
    }
    try group {
      for plan in settled { try db.deletePlan(plan.number) }
      for value in values { result.hold(value, plan: try db.persist(value)) }
    }
  }
}
