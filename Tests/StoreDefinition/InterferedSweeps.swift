internal import CascadeModel
internal import CascadeStore
import Testing

/// Others write at random between the steps of sweeps over random graphs. Whatever goes in a step,
/// a sweep in one step would have deleted too, had it begun there; afterwards nothing is left to
/// do, nothing is lost for ever, whatever went had a reason, and what one step would have deleted
/// behind the last write is gone.
package struct InterferedSweeps {
  package let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package func compare(_ seeds: some Sequence<UInt64>) throws {
    for seed in seeds {
      let world = try World(engine, seed)
      for round in 0..<3 {
        guard let problem = try world.problem() else { continue }
        Issue.record(
          """
          seed \(seed), round \(round): \(problem)
          \(world.graph.model)
          \(world.schema)
          \(world.log.joined(separator: "\n"))
          """)
        return
      }
      #expect(try world.undoAll() == nil, "seed \(seed)")
    }
  }
}

private struct Unplanned: Error, CustomStringConvertible { let description: String }

/// A store, and what the application last said of each node.
private final class World {
  let graph: PlacedGraph
  let schema: String
  private let store: any StoreUnderTest
  private var random: Seeded
  private var said: [Node: PlacedStep] = [:]
  private(set) var log: [String] = []
  /// What a sweep would delete behind the last write; unless a node came meanwhile, of whose key
  /// the journal knows what another one lost.
  private var expected: Set<Node> = []
  private var hasNewcomers = false

  init(_ engine: any EngineUnderTest, _ seed: UInt64) throws {
    random = Seeded(seed)
    var graph = PlacedGraph(engine.tables, bySQL: true, &random)
    graph.nodes = 8
    self.graph = graph
    schema = graph.schema(seed)
    let roots = Bool.random(using: &random) ? ", roots: ['a']" : ""
    store = try engine.makeStore(
      model: StoreModel(graph.model.replacingLastBrace(with: "\(roots) }")), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: Int64.random(in: 1...3, using: &random))
  }

  func problem() throws -> String? {
    do { return try round() } catch let unplanned as Unplanned { return "\(unplanned)" }
  }

  /// What is wrong after some writes, a sweep among others, and one more without.
  private func round() throws -> String? {
    log.append("-- round")
    for _ in 0..<4 { try write() }
    hasNewcomers = false
    try sweep { [self] in
      let writes = Int.random(in: 0..<3, using: &random) == 0
      if writes { try write() }
      return writes
    }
    let gone = hasNewcomers ? [] : expected
    log.append("-- alone")
    try sweep { false }
    let last = try store.writer.sweep([.all], at: 1)
    if last.outcome != .nothing { return "one more sweep: \(last)" }
    let findings = try store.reader.checkReferences(limit: 1_000)
    if findings.total > 0 { return "\(findings.list)" }
    if let left = try gone.first(where: store.exists) { return "\(left) was to go, and stayed" }
    return try unexplained()
  }

  /// `others` says whether they wrote.
  private func sweep(_ others: @escaping () throws -> Bool) throws {
    var before = try there()
    expected = before.planned
    let manners = StepPolicy { [self] _ in
      try expectOnlyPlanned(before)
      let wrote = try others()
      before = try there()
      if wrote { expected = before.planned }
    }
    let result = try store.writer.sweep([.all], at: 1, manners: manners)
    try expectOnlyPlanned(before)
    #expect(result.blocked.isEmpty || result.isCutShort)
  }

  /// What is there, and what a sweep would delete of it.
  private func there() throws -> (nodes: Set<Node>, planned: Set<Node>) {
    let planned = try store.reader.planSweep([.all], at: 1).steps.map(\.node)
    return (Set(try said.keys.filter(store.exists)), Set(planned))
  }

  private func expectOnlyPlanned(_ before: (nodes: Set<Node>, planned: Set<Node>)) throws {
    let gone = Set(try before.nodes.filter { try !store.exists($0) })
    let unplanned = gone.subtracting(before.planned)
    guard let node = unplanned.first else { return }
    throw Unplanned(description: "\(node) went in a step: \(try store.reader.why(.node(node)))")
  }

  private func write() throws {
    let steps = graph.steps(bySQL: true, &random).filter { !$0.isOfFiles }
    let replaces = Bool.random(using: &random)
    for step in steps {
      if case .put(let node, _) = step {
        if try !store.exists(node) { hasNewcomers = true }
        said[node] = step
      }
      if case .delete(let node) = step { said[node] = step }
    }
    let sql = steps.flatMap { graph.sql($0, replacing: replaces) }
    log += ["-- \(steps)"]
    try store.bySQL("BEGIN; \(sql.joined(separator: "; ")); COMMIT")
  }

  /// A node that the application put last, and that is not there, was deleted for a reason that can
  /// be told, whose first cause is not there either.
  private func unexplained() throws -> String? {
    for (node, step) in said {
      guard case .put = step, try !store.exists(node) else { continue }
      guard case .deleted(let deletion) = try store.reader.why(.node(node)) else {
        return "nobody knows why \(node) is not there"
      }
      let chain = deletion.chain
      let isTold = try chain.first?.rule != nil || store.isRowInTrash(node)
      if chain.first?.node != node || !isTold {
        return "\(node) went without a cause: \(chain)"
      }
      if let broken = try chain.first(where: { try isBroken($0) }) {
        return "\(node) went because of \(chain), but \(broken)"
      }
    }
    return nil
  }

  /// Such an edge is not in the model.
  private func isBroken(_ step: Plan.Step) throws -> Bool {
    guard let edge = step.edge, case .node(let to) = edge.destination else { return false }
    return !graph.relations.contains {
      $0.name == edge.name && $0.from == edge.source.collection
        && $0.leads(to: to.collection) && $0.rules.names.contains(step.rule ?? "")
    }
  }

  /// Everything that the application wrote and did not delete itself comes back.
  func undoAll() throws -> String? {
    for batch in try store.reader.batches(after: 0, limit: 1_000).reversed() {
      _ = try? store.writer.undo(batch.batch, by: "me", at: 2)
    }
    for (node, step) in said {
      if case .put = step, try !store.exists(node) { return "\(node) does not come back" }
    }
    return nil
  }
}
