import Model
import Store
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// The same graph in columns, join tables, JSON lists, values of objects and stored edges comes to
/// what the reference says, whoever writes it.
@Suite("Random graphs in the application's tables")
struct RandomPlaces {
  static let isLong = unsafe getenv("CASCADE_LONG") != nil
  static let histories: UInt64 = isLong ? 2_000 : 240
  static let length = 30

  @Test("Change files do what the reference does", arguments: 0..<2)
  func files(part: UInt64) throws { try compare(bySQL: false, part) }

  @Test("SQL and sweeps do what the reference does", arguments: 0..<2)
  func sweeps(part: UInt64) throws { try compare(bySQL: true, part) }

  private func compare(bySQL: Bool, _ part: UInt64) throws {
    for run in 0..<(RandomPlaces.histories / 2) {
      let seed = run * 2 + part
      var random = Seeded(seed)
      let graph = PlacedGraph(bySQL: bySQL, &random)
      let history = (0..<RandomPlaces.length).map { _ in graph.steps(bySQL: bySQL, &random) }
      let comparison = Comparison(graph: graph, bySQL: bySQL, seed: seed)
      guard let difference = try comparison.difference(history) else { continue }
      let shrunk = try shrink(history) { try comparison.difference($0) != nil }
      Issue.record(
        """
        seed \(seed): \(difference)
        shrunk to: \(try comparison.difference(shrunk) ?? "")
        \(graph.model)
        \(graph.schema)
        \(shrunk.map { "\($0)" }.joined(separator: "\n"))
        """)
      return
    }
  }

  /// The shortest history that still fails, by leaving out one thing at a time.
  private func shrink(
    _ history: [[PlacedStep]], fails: ([[PlacedStep]]) throws -> Bool
  ) throws -> [[PlacedStep]] {
    var best = history
    for index in history.indices.reversed() {
      var candidate = best
      candidate.remove(at: index)
      if try fails(candidate) { best = candidate }
    }
    for transaction in best.indices {
      for step in best[transaction].indices.reversed() {
        var candidate = best
        candidate[transaction].remove(at: step)
        if try fails(candidate) { best = candidate }
      }
    }
    return best
  }
}

/// One history, told to the store and to the reference.
struct Comparison {
  let graph: PlacedGraph
  let bySQL: Bool
  let seed: UInt64

  func difference(_ history: [[PlacedStep]]) throws -> String? {
    let store = try TestStore(model: StoreModel(graph.model), schema: graph.schema)
    _ = try store.writer.sweep([.all], at: 0)
    var reference = Reference()
    for (index, steps) in history.enumerated() {
      let expected = reference.apply(steps.map(graph.forReference))
      let actual = try bySQL ? sweep(store, steps, index) : apply(store, steps)
      if !bySQL && actual != expected { return "transaction \(index): \(actual), not \(expected)" }
      if let state = try difference(store, reference) { return "after \(index): \(state)" }
    }
    return nil
  }

  private func apply(_ store: TestStore, _ steps: [PlacedStep]) throws -> Reference.Result {
    do {
      return Reference.Result(deleted: Set(try store.apply(steps.map(graph.forFile)).deleted))
    } catch let rejection as Rejection {
      return Reference.Result(denied: Set(rejection.reasons.compactMap(\.node)))
    }
  }

  /// Some with INSERT OR REPLACE, some with upserts.
  private func sweep(
    _ store: TestStore, _ steps: [PlacedStep], _ index: Int
  ) throws -> Reference.Result {
    let statements = steps.enumerated().flatMap { place, step in
      graph.sql(step, replacing: (seed &+ UInt64(index + place)).isMultiple(of: 2))
    }
    try store.bySQL("BEGIN; \(statements.joined(separator: "; ")); COMMIT")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.blocked.isEmpty)
    return Reference.Result()
  }

  private func difference(_ store: TestStore, _ reference: Reference) throws -> String? {
    var nodes: Set<Node> = []
    for collection in PlacedGraph.collections {
      nodes.formUnion(try store.reader.nodes(in: collection, after: nil, limit: 100).map(\.node))
    }
    let wanted = Set(reference.nodes.keys)
    if nodes != wanted {
      return "nodes \(nodes.subtracting(wanted)) too many, \(wanted.subtracting(nodes)) missing"
    }
    let edges = Set(try store.edges().map(\.json.text))
    let expected = Set(reference.edges.map { Edge($0.key, $0.value).json.text })
    if edges != expected {
      return "edges \(edges.subtracting(expected)) too many, "
        + "\(expected.subtracting(edges)) missing"
    }
    return noticeDifference(
      try store.reader.notices(after: 0, limit: 100_000).map(Reference.Told.init),
      reference.notices)
  }

  private func noticeDifference(
    _ told: [Reference.Told], _ expected: [Reference.Told]
  ) -> String? {
    let counts = Dictionary(grouping: told, by: \.self).mapValues(\.count)
    let wanted = Dictionary(grouping: expected, by: \.self).mapValues(\.count)
    if counts == wanted { return nil }
    return "notices \(counts.filter { wanted[$0.key] != $0.value }), "
      + "not \(wanted.filter { counts[$0.key] != $0.value })"
  }
}
