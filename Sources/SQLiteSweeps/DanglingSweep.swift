internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadePlanning
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion

/// What a sweep does about references that dangle.
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
      WHERE id = '' AND (file GLOB '/*dangling*' OR file GLOB '/*all*') AND value IS NULL
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
    let found = try findDangling(.none)
    if !found.isAny && found.held.isEmpty { try clearDanglingDebt() }
  }

  /// Whether a sweep has something to do with what dangles, and what it has to hold.
  func findDangling(_ manners: StepPolicy) throws -> (isAny: Bool, held: [HeldValue]) {
    do {
      return try db.snapshot {
        try db.interrupting(when: manners.shouldStop) { try findsDangling(manners) }
      }
    } catch let error as SQLiteError where error.isInterrupted {
      throw CancellationError()
    }
  }

  private func findsDangling(
    _ manners: StepPolicy
  ) throws -> (isAny: Bool, held: [HeldValue]) {
    try db.addDanglingEnds(binding, notifiesMissingDestination: rescanReason != nil) {
      manners.reportProgress(WorkProgress(looking: $0, done: $1, total: $2))
    }
    let dead = try db.integer("SELECT 1 FROM temp.dead LIMIT 1")
    return (try dead != nil || db.hasUnusedIdentities(binding), try db.heldValues(model))
  }
}
