internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion

/// What a sweep does about references that dangle.
///
/// 1. Held values (`DanglingScan.swift`) that an operator approved are swept first, as a part of
///    their own.
/// 2. The others stay, and so does everything that would follow from them. The rest of the sweep
///    goes on. At its end, each of them has a plan that waits.
/// 3. A missing node is released if all plans that name it are approved: its deletion cannot follow
///    one relationship and leave out another.
extension Writer {
  /// What is left of an approved plan goes first. Otherwise another part could find it, and it
  /// would be held again.
  func continuesApprovedDanglingPlan() throws -> Bool {
    try db.meta(.sweepBatch) != nil
      && db.integer(
        """
        SELECT 1 FROM cascade_plan WHERE file = '/dangling' AND approved AND value IS NULL LIMIT 1
        """) != nil
  }

  /// Nothing dangles, so no scan is owed, and no plan for one waits.
  func clearDanglingDebt() throws {
    let plans = """
      FROM cascade_plan
      WHERE id = '' AND (file GLOB '/*dangling*' OR file GLOB '/*all*') AND value IS NULL AND NOT owns
      """
    if try rescanReason == nil && db.integer(generated: "SELECT 1 \(plans) LIMIT 1") == nil {
      return
    }
    try group {
      try clearRescanReason()
      try db.run(generated: "DELETE \(plans)")
    }
  }

  package func clearRescanUnlessDangling() throws {
    try adaptToSchema()
    if attachment.isDetached || isPartlyBound { return }
    let found = try findDangling()
    if !found.isAny && found.held.isEmpty { try clearDanglingDebt() }
  }

  /// Whether a sweep has something to do with what dangles, and what it has to hold.
  func findDangling() throws -> (isAny: Bool, held: [HeldValue]) {
    try stoppableSnapshot {
      try db.addDanglingEnds(binding, notifiesMissingDestination: rescanReason != nil) {
        lock.policy.reportProgress(WorkProgress(looking: $0, done: $1, total: $2))
      }
      let dead = try db.integer("SELECT 1 FROM temp.dead LIMIT 1")
      return (try dead != nil || db.hasUnusedIdentities(binding), try db.heldValues(model))
    }
  }

  /// A snapshot that ends early if the daemon is to stop. What `body` keeps of it, it commits.
  func stoppableSnapshot<T>(_ body: () throws -> T) throws -> T {
    do {
      return try db.snapshot { try db.interrupting(when: lock.policy.shouldStop, body) }
    } catch let error as SQLiteError where error.isInterrupted {
      throw CancellationError()
    }
  }

  // MARK: - Held values

  func sweepReleasedValues() throws {
    if !sweepRun.requestedKinds.scansTables || attachment.isDetached || !facts.hasTables { return }
    let approved = try db.heldValuePlans().filter(\.isApproved)
    if approved.isEmpty { return }
    try adaptToSchema()
    let found = try findDangling().held
    let plans = try approved.filter { try isReleased($0, approved, found) }
    if plans.isEmpty { return }
    sweepRun.releasedNodes = Set(plans.map(\.value.missing))
    defer { sweepRun.releasedNodes = [] }
    try sweepEdges([.dangling], hasMoreParts: true)
    if sweepRun.result.isCutShort { return }
    try group { for plan in plans { try db.deletePlan(plan.number) } }
  }

  /// Whether the approval still covers what would go now.
  private func isReleased(
    _ plan: HeldValuePlan, _ approved: [HeldValuePlan], _ found: [HeldValue]
  ) throws -> Bool {
    let missing = plan.value.missing
    let same = found.filter { $0.missing == missing }
    if same.isEmpty || !approved.approve(same) { return false }
    let gone = try consequences(of: missing).values.reduce(0, +)
    return gone - plan.deletedCount <= model.limits.hold.deletes
  }

  /// The nodes that would be deleted with the references to a missing node, by collection.
  private func consequences(of missing: Node) throws -> [String: Int] {
    (sweepRun.part, sweepRun.releasedNodes) = ([.dangling], [missing])
    defer {
      sweepRun.releasedNodes = []
      clearPlan()
      current = TransactionState()
    }
    return try stoppableSnapshot {
      _ = try makePlan([])
      let counts = try db.goneByCollection().map { ($0.name, $0.gone) }
      return Dictionary(counts, uniquingKeysWith: +)
    }
  }

  /// Has the held values wait for approval, at the end of a sweep that has found them.
  func holdValues() throws {
    guard var values = sweepRun.heldValues else { return }
    let known = try db.heldValuePlans()
    if values.isEmpty && known.isEmpty { return }
    let rejected = Set(known.filter(\.isRejected).map(\.value.identity))
    let found = values
    values.removeAll { rejected.contains($0.identity) }
    for index in values.indices {
      values[index].byCollection = try consequences(of: values[index].missing)
    }
    let settled = known.filter { plan in
      !found.contains { $0.identity == plan.value.identity }
    }
    try group {
      for plan in settled { try db.deletePlan(plan.number) }
      for value in values { sweepRun.result.hold(value, plan: try db.persist(value)) }
    }
  }
}
