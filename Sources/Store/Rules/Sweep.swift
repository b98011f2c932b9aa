package import Model
internal import SQLite

/// What a sweep did, or would do.
package struct SweepResult: Sendable {
  package enum Outcome: String, Sendable { case done, nothing, held, blocked }

  package var kinds: [SweepKind]
  package var outcome: Outcome
  package var deletedCount = 0
  package var edgesRemoved = 0
  package var notices = 0
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

  fileprivate mutating func add(_ receipt: Receipt) {
    deletedCount = receipt.deletedCount
    edgesRemoved = receipt.edgesRemoved
    notices = receipt.notices
    if receipt.deletedCount + receipt.edgesRemoved + receipt.notices > 0 { batch = receipt.batch }
    blocked = receipt.reasons
    if !receipt.reasons.isEmpty { outcome = .blocked }
  }
}

extension SweepKind {
  /// Each transaction runs the rules to their end: `cascade` and `refcount` find what others wrote.
  package static let served: [SweepKind] = [.cascade, .refcount, .dangling, .trash, .all]

  fileprivate func includes(_ kind: SweepKind) -> Bool { self == kind || self == .all }

  fileprivate var looksAtEdges: Bool { self != .trash }
}

extension Writer {
  package func sweep(_ kinds: [SweepKind], at now: Int64) throws -> SweepResult {
    var result = SweepResult(kinds: kinds, outcome: .nothing)
    let clock = ContinuousClock()
    let time = try clock.measure {
      try group {
        try sweepEdges(&result, at: now)
        if kinds.contains(where: { $0.includes(.trash) }) {
          result.forgotten = try forgetTrash(at: now)
        }
      }
    }
    result.lockMilliseconds = [time / .milliseconds(1)]
    let done = result.deletedCount + result.edgesRemoved + result.notices + result.forgotten
    if result.outcome == .nothing && done > 0 { result.outcome = .done }
    return result
  }

  private func sweepEdges(_ result: inout SweepResult, at now: Int64) throws {
    if !result.kinds.contains(where: { $0.looksAtEdges }) { return }
    if !binding.problems.isEmpty {
      result.blocked = binding.problems.map { Reason(.invalid, "\($0)") }
      return result.outcome = .blocked
    }
    let submission = Submission(
      id: "sweep-\(counters.serial)", author: "sweep", fingerprint: 0, at: now)
    do {
      let kinds = result.kinds
      let receipt = try sweep(submission) { try findDead(kinds) }
      result.add(receipt)
      result.byCollection = current.deletedByCollection
      result.byRule = current.deletedByRule
    } catch let held as Held {
      result.outcome = .held
      result.deletedCount = held.deletedCount
      result.byCollection = held.byCollection
      // No file has a slash in its name.
      let kinds = result.kinds.map(\.rawValue).joined(separator: " ")
      result.plan = try keepPlan(held, file: "/\(kinds)")
    }
  }

  /// What is gone, or has lost an edge, although no transaction of ours did it.
  private func findDead(_ kinds: [SweepKind]) throws {
    if kinds.contains(where: { $0.includes(.cascade) || $0.includes(.refcount) }) {
      try readJournal()
    }
    if kinds.contains(where: { $0.includes(.dangling) }) {
      try db.addDanglingEnds(binding)
      try db.forgetUnusedIdentities(binding)
    }
    current.deadCount = Int(try db.integer("SELECT count(*) FROM temp.dead") ?? 0)
    current.lostCount = Int(try db.integer("SELECT count(*) FROM temp.lost") ?? 0)
    // What is dead was gone before: only what follows is deleted by us.
    current.firstNewId = .min
  }

  /// What is read is done with, in the transaction that draws the consequences.
  private func readJournal() throws {
    guard let last = try db.integer("SELECT max(seq) FROM cascade_journal") else { return }
    try Digest(binding: binding, watches: watches).read(db, upTo: last)
    try db.run("DELETE FROM cascade_journal WHERE seq <= ?", .integer(last))
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
      let binding = try binding()
      if kinds.contains(where: { $0.includes(.cascade) || $0.includes(.refcount) }) {
        try Digest(binding: binding, watches: db.watches()).read(db, upTo: .max)
      }
      if kinds.contains(where: { $0.includes(.dangling) }) { try db.addDanglingEnds(binding) }
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
