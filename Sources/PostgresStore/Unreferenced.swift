internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// The sweep of unreferenced nodes. What is being built is not referred to yet, so what it finds
/// waits for approval, except in collections that need none.
extension PostgresWriter {
  func sweepUnreferenced(
    _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws {
    // What went may have been the last to refer to something.
    repeat {
      while try sweepUnreferenced(isFree: true, now, manners, &result) {}
    } while try sweepUnreferenced(isFree: false, now, manners, &result)
  }

  /// Whether anything went.
  private func sweepUnreferenced(
    isFree: Bool, _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws -> Bool {
    let nodes = try store.unreferencedNodes(isFree: isFree)
    guard let batch = try planUnreferenced(nodes, needsApproval: !isFree, now, &result) else {
      return false
    }
    var waves = try Waves(
      store, batch: batch, isSweep: true, isNew: false, hasBlocked: BlockedNodes(store).isAny)
    for nodes in nodes {
      while try step(&waves, manners, { try $0.deleteUnreferenced(nodes, $1) }) {}
    }
    try carryOut(&waves, manners)
    var part = SweepResult(kinds: result.kinds, outcome: .nothing)
    try end(&waves, now, &part)
    result.add(part)
    return part.deletedCount > 0
  }

  /// The batch that was begun; nil if there is nothing to do, or if it has to wait.
  private func planUnreferenced(
    _ nodes: [UnreferencedNodes], needsApproval: Bool, _ now: Int64, _ result: inout SweepResult
  ) throws -> Int64? {
    let kinds = [SweepKind.unreferenced]
    do {
      return try store.transaction(.repeatableRead) {
        var closure = try Closure(store, journal: nil)
        try store.readingWholeTables {
          for nodes in nodes { try closure.begin(with: nodes) }
        }
        try closure.complete()
        if try closure.countByCollection(includingFirst: true).isEmpty { return nil }
        let approved = try approve(
          closure, kinds, Hold.Deletion([:], needsApproval: needsApproval), at: now)
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

extension PostgresReader {
  package func countUnreferenced() throws -> [(collection: String, count: Int)] {
    try ask { store in
      try store.readingWholeTables {
        let counts = try store.unreferencedNodes().map { nodes in
          let count = try store.db.run(
            "SELECT count(*) FROM \(nodes.table.name) \(nodes.row) WHERE \(nodes.condition)")
          return (collection: nodes.table.collection, count: Int(count.integer ?? 0))
        }
        return counts.filter { $0.count > 0 }
      }
    }
  }
}
