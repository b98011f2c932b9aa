package import Model
internal import SQLite

/// What a sweep did, or would do.
package struct SweepResult: Sendable {
  package enum Outcome: String, Sendable { case done, nothing, held, blocked }

  package var kinds: [SweepKind]
  package var outcome: Outcome
  /// The first of the deleted nodes; `deletedCount` counts them all.
  package var deleted: [Node] = []
  package var deletedCount = 0
  package var edgesRemoved = 0
  package var notices = 0
  package var byCollection: [String: Int] = [:]
  package var byRule: [String: Int] = [:]
  package var blocked: [Reason] = []
  package var batch: Int64?
  package var plan: Int64?
  /// What the plan is of: this may be less than the sweep was asked for.
  package var heldKinds: [SweepKind] = []
  package var heldCount = 0
  /// How long the write lock was held, each time.
  package var lockMilliseconds: [Double] = []
  /// Files that lost their last edge, and those that no edge names.
  package var files = 0
  package var unreferenced: UnreferencedFiles?
  /// Batches whose trash was forgotten.
  package var forgotten = 0

  package init(kinds: [SweepKind], outcome: Outcome) {
    self.kinds = kinds
    self.outcome = outcome
  }

  mutating func add(_ receipt: Receipt) {
    deleted += receipt.deleted
    deletedCount += receipt.deletedCount
    edgesRemoved += receipt.edgesRemoved
    notices += receipt.notices
    files += receipt.files
    let done = receipt.deletedCount + receipt.edgesRemoved + receipt.notices + receipt.files
    if done > 0 { batch = receipt.batch }
    blocked += receipt.reasons
    if !receipt.reasons.isEmpty { outcome = .blocked }
  }
}

extension SweepKind {
  /// Each transaction runs the rules to their end: `cascade` and `refcount` find what others wrote.
  package static let served: [SweepKind] = [.cascade, .refcount, .dangling, .files, .trash, .all]

  func includes(_ kind: SweepKind) -> Bool { self == kind || self == .all }

  fileprivate var looksAtEdges: Bool { self != .trash && self != .files }
}

extension [SweepKind] {
  /// Whether whole tables are looked through for references to nothing.
  var looksThrough: Bool { contains { $0.includes(.dangling) } }

  /// Whether files are looked for that no edge names.
  package var looksAtFiles: Bool { contains { $0.includes(.files) } }

  fileprivate var readsJournal: Bool {
    contains { $0.includes(.cascade) || $0.includes(.refcount) }
  }

  /// What a held plan of such a sweep has for a file: no file has a slash in its name.
  fileprivate var planFile: String { "/\(map(\.rawValue).joined(separator: " "))" }
}

extension Writer {
  package func sweep(_ kinds: [SweepKind], at now: Int64) throws -> SweepResult {
    var result = SweepResult(kinds: kinds, outcome: .nothing)
    let clock = ContinuousClock()
    let parts = try parts(of: kinds)
    let time = try clock.measure {
      try group {
        for part in parts { try sweepEdges(part, &result, at: now) }
        if kinds.looksAtFiles { try sweepFiles(&result, at: now) }
        if kinds.contains(where: { $0.includes(.trash) }) {
          result.forgotten = try forgetTrash(at: now)
        }
      }
    }
    result.lockMilliseconds = [time / .milliseconds(1)]
    let done =
      result.deletedCount + result.edgesRemoved + result.notices + result.files + result.forgotten
    if result.outcome == .nothing && done > 0 { result.outcome = .done }
    return result
  }

  /// What dangled before anybody watched waits for approval alone, not with all that goes now. And
  /// who finds nothing in whole tables has no need of the lock.
  private func parts(of kinds: [SweepKind]) throws -> [[SweepKind]] {
    if isDetached || !hasTables || !kinds.looksThrough { return [kinds] }
    try followSchema()
    let isUnseen = try debt == .unseen
    let dangles = try isHalfView || hasDangling()
    if dangles && !isUnseen { return [kinds] }
    let journal: [[SweepKind]] = kinds.readsJournal ? [[.cascade, .refcount]] : []
    if dangles { return journal + [[.dangling]] }
    if try debt != nil { try group { try forgetDebt() } }
    return journal
  }

  private func hasDangling() throws -> Bool {
    try db.snapshot {
      try db.addDanglingEnds(binding)
      let dead = try db.integer("SELECT 1 FROM temp.dead LIMIT 1")
      return try dead != nil || db.hasUnusedIdentities(binding)
    }
  }

  private func sweepEdges(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64
  ) throws {
    if !kinds.contains(where: { $0.looksAtEdges }) { return }
    if !binding.problems.isEmpty {
      result.blocked = binding.problems.map { Reason(.invalid, "\($0)") }
      return result.outcome = .blocked
    }
    let submission = Submission(
      id: "sweep-\(counters.serial)", author: "sweep", fingerprint: 0, at: now)
    do {
      let holdsAll = try kinds.looksThrough && db.meta("unseen") == 1
      let receipt = try sweep(submission) {
        current.holdsAll = holdsAll
        try findDead(kinds)
      }
      result.add(receipt)
      if kinds.looksThrough { try forgetDebt() }
      try forgetPlans(ofSweep: kinds.planFile, but: nil)
      result.byCollection.merge(current.deletedByCollection) { $0 + $1 }
      result.byRule.merge(current.deletedByRule) { $0 + $1 }
    } catch let held as Held {
      result.outcome = .held
      result.heldKinds = kinds
      result.heldCount = held.deletedCount
      if result.batch == nil {
        result.deletedCount = held.deletedCount
        result.byCollection = held.byCollection
      }
      let file = kinds.planFile
      result.plan = try keepPlan(held, file: file)
      try forgetPlans(ofSweep: file, but: result.plan)
    }
  }

  /// What is gone, or has lost an edge, although no transaction of ours did it.
  private func findDead(_ kinds: [SweepKind]) throws {
    if kinds.readsJournal { try readJournal() }
    if kinds.looksThrough {
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
    // The numbers begin anew.
    current.journalMark = 0
  }

  /// Forgets the batches that are past their time.
  private func forgetTrash(at now: Int64) throws -> Int {
    let limit = now - model.trash.milliseconds
    while try forgetFiles(before: limit) {}
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
    var plan = try plan(ofSweep: true) {
      let binding = try binding()
      if kinds.readsJournal {
        try Digest(binding: binding, watches: db.watches()).read(db, upTo: .max)
      }
      if kinds.looksThrough { try db.addDanglingEnds(binding) }
    }
    if kinds.looksAtFiles { plan.files += try unnamedFiles() }
    let holdsAll = try kinds.looksThrough && db.meta("unseen") == 1
    if holdsAll && plan.deletedCount > 0 { plan.isOverLimit = true }
    return plan
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
