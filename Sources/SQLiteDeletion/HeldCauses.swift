package import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
package import CascadeStore
package import SQLiteTables
package import SQLiteBinding
internal import SQLiteJournal

/// A held plan of a sweep that reads the journal owns its causes: the rows of the journal that the
/// sweep had read (`JournalScope`), and the candidates that were a reason of it.
///
/// 1. It gets them, and its number, in one transaction, which also takes them out of the way of all
///    other sweeps: nothing waits behind it.
/// 2. An approval lets its causes pass, with what follows from them by then. What its sweep deletes is
///    spent, in the transaction that deletes it. Where more would go, the plan waits again.
/// 3. What the steps of its sweep journal is its own, too. So after a crash its causes tell what is left.
///    The same holds for a job: sweeps beside it do not follow what it has only begun to delete.
/// 4. Its end is recorded before its rows are deleted, so no part of them is ever read.
extension Writer {
  /// Whether what the sweep at hand would have held is told by the journal alone.
  package var ownsCauses: Bool {
    sweepRun.part.readsJournal && !sweepRun.part.scansTables && sweepRun.unreferenced == nil
  }

  func planOfCauses(_ deletion: Hold.Deletion) throws -> HeldPlan {
    sweepRun.heldCandidates = try db.all(
      """
      SELECT id FROM temp.due_candidates WHERE node IN (SELECT id FROM temp.gone WHERE counts)
      """
    ) { $0.integer(0) }
    return HeldPlan(
      id: current.hold.id, deletedCount: current.counts.deletedCount,
      byCollection: deletion.nodes, lostCount: 0, checksum: 0)
  }

  // MARK: - Approval

  /// What is left of it.
  func approval(of plan: ApprovedCauses) throws -> Hold.Approval {
    let row = try db.first(
      "SELECT by_collection, spent FROM cascade_plan WHERE plan = ?", .integer(plan.number)
    ) { (counts: [String: Int](counts: $0.optionalText(0) ?? ""), spent: Int($0.integer(1))) }
    guard let row else { return Hold.Approval(nodes: -model.limits.hold.deletes) }
    return Hold.Approval(nodes: facts.hold.count(row.counts) - row.spent)
  }

  func spend(_ nodes: [String: Int], of plan: ApprovedCauses) throws {
    try db.run(
      "UPDATE cascade_plan SET spent = spent + ? WHERE plan = ?",
      .integer(Int64(nodes.values.reduce(0, +))), .integer(plan.number))
  }

  /// The approved plans that are not carried out, in the order of their numbers.
  package func approvedCauses() throws -> [ApprovedCauses] { try causes(where: "approved") }

  /// The plans that wait.
  package func waitingCauses() throws -> [ApprovedCauses] { try causes(where: "NOT approved") }

  private func causes(where condition: String) throws -> [ApprovedCauses] {
    if attachment.isDetached { return [] }
    return try db.all(
      generated: """
        SELECT plan, file, own_end FROM cascade_plan WHERE owns AND \(condition) AND ended IS NULL
        ORDER BY plan
        """, []
    ) { row in
      ApprovedCauses(
        number: row.integer(0), kinds: [SweepKind](planFile: row.text(1)), ownEnd: row.integer(2))
    }
  }

  // MARK: - Holding

  /// Holds an approved plan again, or what the sweep at hand would have done. Returns the number.
  package func persistCauses(
    _ held: HeldPlan, _ kinds: [SweepKind], _ rows: [Slice]
  ) throws -> Int64 {
    if let plan = sweepRun.plan {
      try hold(held, again: plan.number)
      return plan.number
    }
    let open = try sweepRun.isHeldForSum ? openPlan(kinds) : nil
    let plan = try open ?? newPlan(kinds)
    try add(held, to: plan)
    for range in rows {
      try db.run(
        "INSERT OR REPLACE INTO cascade_plan_rows(low, high, plan, hides) VALUES(?, ?, ?, 1)",
        .integer(range.low), .integer(range.high), .integer(plan))
    }
    for id in sweepRun.heldCandidates {
      try db.run(
        "UPDATE cascade_candidate SET plan = ? WHERE id = ?", .integer(plan), .integer(id))
    }
    return plan
  }

  private func openPlan(_ kinds: [SweepKind]) throws -> Int64? {
    try db.integer(
      """
      SELECT plan FROM cascade_plan
      WHERE owns AND is_open AND NOT approved AND ended IS NULL AND file = ?
      """, .text(kinds.planFile))
  }

  private func newPlan(_ kinds: [SweepKind]) throws -> Int64 {
    let plan = try db.nextInSequence(of: .lastPlan)
    try db.run(
      """
      INSERT INTO cascade_plan(plan, id, file, checksum, deleted, referring, owns, is_open, own_end)
      VALUES(?1, '', ?2, ?1, 0, 0, 1, ?3, ?4)
      """, .integer(plan), .text(kinds.planFile), .integer(sweepRun.isHeldForSum ? 1 : 0),
      .integer(db.meta(.ownJournalEnd) ?? 0))
    return plan
  }

  private func add(_ held: HeldPlan, to plan: Int64) throws {
    let counts = try heldCounts(of: plan).merging(held.byCollection, uniquingKeysWith: +)
    try set(counts, of: plan)
  }

  private func hold(_ held: HeldPlan, again plan: Int64) throws {
    try set(held.byCollection, of: plan)
    try db.run(
      "UPDATE cascade_plan SET approved = 0, spent = 0 WHERE plan = ?", .integer(plan))
  }

  private func set(_ counts: [String: Int], of plan: Int64) throws {
    try db.run(
      "UPDATE cascade_plan SET by_collection = ?, deleted = ? WHERE plan = ?",
      .text(counts.countText), .integer(Int64(counts.values.reduce(0, +))), .integer(plan))
  }

  /// How many nodes a plan would delete, as it is stored now.
  package func heldCounts(of plan: Int64) throws -> [String: Int] {
    try db.first("SELECT by_collection FROM cascade_plan WHERE plan = ?", .integer(plan)) {
      [String: Int](counts: $0.optionalText(0) ?? "")
    } ?? [:]
  }

  // MARK: - Rows that a step journals

  /// Called in the step. A plan that both kinds follow, and a job, keep their rows to themselves; of one
  /// kind, the other has to read them, too.
  package func ownJournaled(behind low: Int64, upTo high: Int64) throws {
    guard let owner = sweepRun.owner, high > low else { return }
    let isOfBoth = sweepRun.plan.map { $0.kinds.cascades == $0.kinds.counts } ?? true
    let hides: Int64 = isOfBoth ? 1 : 0
    try db.run(
      "UPDATE cascade_plan_rows SET high = ?1 WHERE high = ?2 AND plan = ?3 AND hides = ?4",
      .integer(high), .integer(low), .integer(owner), .integer(hides))
    if db.changes > 0 { return }
    try db.run(
      "INSERT OR REPLACE INTO cascade_plan_rows(low, high, plan, hides) VALUES(?, ?, ?, ?)",
      .integer(low), .integer(high), .integer(owner), .integer(hides))
  }

  // MARK: - The end

  /// Called in the last transaction of its sweep.
  package func endPlan(_ plan: Int64, as end: PlanEnd) throws {
    try db.run(
      "UPDATE cascade_plan SET ended = ?, is_open = 0 WHERE plan = ?", .integer(end.rawValue),
      .integer(plan))
    try db.run("UPDATE cascade_candidate SET plan = NULL WHERE plan = ?", .integer(plan))
    try db.run(
      "DELETE FROM cascade_plan_rows WHERE plan = ? AND NOT hides", .integer(plan))
  }

  /// The ranges of plans and jobs that are at their end.
  package func endedRanges() throws -> [Slice] {
    try db.all(
      """
      SELECT r.low, r.high FROM cascade_plan_rows AS r
      WHERE r.plan IN (SELECT plan FROM cascade_plan WHERE ended IS NOT NULL)
      OR r.plan < 0 AND -r.plan NOT IN (SELECT job FROM cascade_job WHERE \(Query.isOpenJob))
      ORDER BY r.low
      """
    ) { Slice(low: $0.integer(0), high: $0.integer(1)) }
  }

  package func forgetEndedPlans() throws {
    try db.run(
      "DELETE FROM cascade_plan WHERE owns AND ended = ?", .integer(PlanEnd.carriedOut.rawValue))
    if try db.ownsJournalRows { return }
    try db.run("DELETE FROM cascade_plan_used")
  }
}
