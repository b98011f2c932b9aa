internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// The sweep of unreachable nodes: a part of its own, after the others, because what these delete
/// reaches nothing.
extension PostgresWriter {
  func sweepUnreachable(
    _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws {
    // What nothing that can be read refers to may be referred to by what cannot be read.
    let problems = store.binding.problems.map { Reason(.invalid, "\($0)") }
    var part = SweepResult(kinds: result.kinds, outcome: problems.isEmpty ? .nothing : .blocked)
    part.blocked = problems
    if problems.isEmpty, let batch = try planUnreachable(now, &result, &part) {
      var waves = try Waves(
        store, batch: batch, isSweep: true, isNew: false, hasBlocked: BlockedNodes(store).isAny)
      try collectUnreachable(&waves, manners)
      try end(&waves, now, &part)
    }
    result.add(part)
  }

  /// Deletes what is planned, with what follows from it. What goes by a rule may be all that kept more.
  func collectUnreachable(_ waves: inout Waves, _ manners: StepPolicy) throws {
    var before: Int
    repeat {
      before = waves.count.rows
      while try step(&waves, manners, { try $0.deleteUnreachable($1) }) {}
      try carryOut(&waves, manners)
    } while try waves.count.rows > before && UnreachedNodes.reopen(store)
  }

  /// The batch that was begun; nil if there is nothing to do, or if it has to wait.
  private func planUnreachable(
    _ now: Int64, _ result: inout SweepResult, _ part: inout SweepResult
  ) throws -> Int64? {
    let kinds = [SweepKind.unreachable]
    var byLease = false
    try UnreachedNodes.forget(store)
    defer { try? store.transaction { try UnreachedNodes.keepLeases(byLease, store) } }
    do {
      return try store.transaction(.repeatableRead) {
        var closure = try Closure(store, journal: nil)
        closure.collectsUnreachable = true
        try closure.complete()
        byLease = closure.isReachedByLease
        part.blocked += try closure.denials()
        if !part.blocked.isEmpty { part.outcome = .blocked }
        if try closure.countByCollection(includingFirst: true).isEmpty { return nil }
        let approved = try approve(closure, kinds, at: now)
        try BlockedNodes(store).beginUnreachable()
        try closure.keepUnreachable()
        let batch = try nextBatch()
        try db.runEach([beginBatch(kinds, batch, approved: approved)])
        return batch
      }
    } catch let held as HeldPlan {
      result.hold(held, kinds, plan: try persistPlan(held, file: kinds.planFile))
      return nil
    }
  }
}
