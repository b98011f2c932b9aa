internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Rejected plans.
extension PostgresWriter {
  package func reject(plan number: Int64, at now: Int64) throws -> RejectedPlan? {
    let restored = try restoreKept(ofPlan: number, at: now)
    return try store.transaction {
      if let known = try rejected(number) { return known }
      let row = try db.run(
        "SELECT file, value, owns_causes, is_of_sum FROM cascade.plan WHERE number = \(number)"
      ).rows.first
      // What is carried out is answered already.
      guard let row, let file = row[0], try store[meta: "sweep.plan"] != number else { return nil }
      var answer = RejectedPlan(plan: number, file: file.hasPrefix("/") ? nil : file)
      answer.restored = restored
      answer.givenUp = try countingGivenUp {
        try giveUp(number, file, value: row[1], ownsCauses: row[2] == "t")
      }
      if row[3] == "t" { try db.run(RecentDeletions.emptying) }
      try db.run("DELETE FROM cascade.plan WHERE number = \(number)")
      if let file = answer.file { try deletePlans(ofFile: file) }
      try SparedCauses.forget(number, store)
      try remember(answer)
      return answer
    }
  }

  /// What the application had deleted comes back where it was kept, before the rest is given up: what refers
  /// to it needs not be. If that is interrupted, the plan still waits for an answer.
  private func restoreKept(ofPlan plan: Int64, at now: Int64) throws -> Int {
    if !model.keepsAnyDeleted { return 0 }
    let batch = try store.transaction { () -> Int64? in
      let (batch, isOwn) = (try nextBatch(), "plan = \(plan) AND row IS NOT NULL")
      let count = try db.run(
        KeptDeletions.taking(
          into: "\(batch)", from: "(SELECT * FROM cascade.journal WHERE \(isOwn))")
      ).changed
      if count == 0 { return nil }
      try db.run("UPDATE cascade.journal SET row = NULL WHERE \(isOwn)")
      try Ledger(store).addSweep(batch, at: now, deleted: count)
      return batch
    }
    return try batch.map { try undo($0, by: "reject", at: now, manners: .none).restored } ?? 0
  }

  private func countingGivenUp(_ body: () throws -> Int) throws -> Int {
    let givenUp = GivenUp(store)
    if !model.keepsAnyDeleted { return try body() }
    let before = try givenUp.count()
    _ = try body()
    try givenUp.forgetChanged()
    return try max(0, givenUp.count() - before)
  }

  private func rejected(_ number: Int64) throws -> RejectedPlan? {
    try db.run(
      "SELECT file, given_up, restored FROM cascade.rejected_plan WHERE number = \(number)"
    ).rows.first.map {
      RejectedPlan(
        plan: number, file: $0[0], restored: Int($0[2]!)!, givenUp: Int($0[1]!)!)
    }
  }

  private func remember(_ answer: RejectedPlan) throws {
    try db.run(
      "INSERT INTO cascade.rejected_plan VALUES(\(answer.plan), $1, \(answer.givenUp), \(answer.restored))",
      [answer.file])
  }

  /// Returns how many edges and nodes stay because of that.
  private func giveUp(
    _ number: Int64, _ file: String, value: String?, ownsCauses: Bool
  ) throws -> Int {
    let givenUp = GivenUp(store)
    if ownsCauses { return try givenUp.giveUp(plan: number) }
    if let job = DeletionJob.job(ofPlanFile: file) {
      try reject(job: job)
      return 0
    }
    if let value {
      let held = HeldValue(identity: (try? JSON.parse(value)) ?? .null, count: 0)
      let missing = try DanglingReferences(store).find(telling: rescanReason != nil)
      return try givenUp.giveUp(missing.filter { $0.held.identity == held?.identity })
    }
    if !file.hasPrefix("/") { return 0 }
    let kinds = [SweepKind](planFile: file)
    if kinds.scansTables {
      let missing = try DanglingReferences(store).find(telling: rescanReason != nil)
      return try givenUp.giveUp(missing.filter { !$0.isHeld })
    }
    return try giveUpNodes(kinds, givenUp)
  }

  /// What nothing refers to, or no root reaches.
  private func giveUpNodes(_ kinds: [SweepKind], _ givenUp: GivenUp) throws -> Int {
    var closure = try Closure(store, journal: nil)
    if kinds.contains(.unreferenced) {
      let nodes = try store.unreferencedNodes(isFree: nil)
      try store.readingWholeTables { for nodes in nodes { try closure.begin(with: nodes) } }
    } else {
      closure.collectsUnreachable = true
    }
    try closure.complete()
    return try givenUp.giveUp(closure)
  }
}
