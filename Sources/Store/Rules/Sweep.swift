package import Model
internal import SQLite

/// What a sweep did, or would do.
package struct SweepResult: Sendable {
  package enum Outcome: String, Sendable { case done, nothing, held, blocked }

  package var kinds: [SweepKind]
  package var outcome: Outcome
  package var deletedCount = 0
  package var edgesRemoved = 0
  package var byCollection: [String: Int] = [:]
  package var byRule: [String: Int] = [:]
  package var blocked: [Reason] = []
  package var batch: Int64?
  package var plan: Int64?
  /// How long the write lock was held, each time.
  package var lockMilliseconds: [Double] = []
  /// Batches whose trash was forgotten.
  package var forgotten = 0

  package init(kinds: [SweepKind], outcome: Outcome) {
    self.kinds = kinds
    self.outcome = outcome
  }
}

extension SweepKind {
  /// What a store of managed collections needs. Each transaction runs the rules to their end, so
  /// there is nothing left for `cascade` and `refcount` to find.
  package static let served: [SweepKind] = [.cascade, .refcount, .dangling, .trash, .all]

  fileprivate func includes(_ kind: SweepKind) -> Bool { self == kind || self == .all }
}

extension Writer {
  package func sweep(_ kinds: [SweepKind], at now: Int64) throws -> SweepResult {
    var result = SweepResult(kinds: kinds, outcome: .nothing)
    let clock = ContinuousClock()
    let time = try clock.measure {
      try group {
        if kinds.contains(where: { $0.includes(.dangling) }) {
          try sweepDangling(&result, at: now)
        }
        if kinds.contains(where: { $0.includes(.trash) }) {
          result.forgotten = try forgetTrash(at: now)
        }
      }
    }
    result.lockMilliseconds = [time / .milliseconds(1)]
    let done = result.deletedCount + result.edgesRemoved + result.forgotten
    if result.outcome == .nothing && done > 0 { result.outcome = .done }
    return result
  }

  /// Whole tables are looked through: an end that is not there is gone, whatever anybody wrote.
  private func sweepDangling(_ result: inout SweepResult, at now: Int64) throws {
    let submission = Submission(
      id: "sweep-\(counters.serial)", author: "sweep", fingerprint: 0, at: now)
    do {
      let receipt = try sweep(submission, finding: addDanglingEnds)
      result.deletedCount = receipt.deletedCount
      result.edgesRemoved = receipt.edgesRemoved
      if receipt.deletedCount + receipt.edgesRemoved > 0 { result.batch = receipt.batch }
      result.blocked = receipt.reasons
      if !receipt.reasons.isEmpty { result.outcome = .blocked }
    } catch let held as Held {
      result.outcome = .held
      result.deletedCount = held.deletedCount
      result.plan = try keepPlan(held, file: "")
    }
  }

  private func addDanglingEnds() throws {
    try db.addDanglingEnds()
    current.deadCount = Int(try db.integer("SELECT count(*) FROM temp.dead") ?? 0)
    // These ends are no rows any more: only what follows them is deleted.
    current.deletedCount = -current.deadCount
  }

  /// Forgets the batches that are past their time.
  private func forgetTrash(at now: Int64) throws -> Int {
    let limit = now - model.trash.milliseconds
    try db.run(
      """
      DELETE FROM cascade_trash_edge
      WHERE batch IN (SELECT seq FROM cascade_ledger WHERE at < ?)
      """, .integer(limit))
    try db.run(
      """
      DELETE FROM cascade_trash WHERE batch IN (SELECT seq FROM cascade_ledger WHERE at < ?)
      """, .integer(limit))
    return db.changes
  }
}

extension Reader {
  /// What a sweep would delete.
  package func planSweep(_ kinds: [SweepKind]) throws -> Plan {
    try plan(ofSweep: true) {
      if kinds.contains(where: { $0.includes(.dangling) }) { try db.addDanglingEnds() }
    }
  }
}

extension Connection {
  fileprivate func addDanglingEnds() throws(SQLiteError) {
    try run(
      """
      INSERT OR IGNORE INTO temp.dead
      SELECT source FROM cascade_edge WHERE source NOT IN (SELECT id FROM cascade_node)
      UNION
      SELECT destination FROM cascade_edge
      WHERE destination NOT IN (SELECT id FROM cascade_node)
      """)
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
