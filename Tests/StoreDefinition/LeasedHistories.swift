internal import CascadeModel
internal import CascadeStore
import Testing

/// When all leases are over, the store is as if there had been none: what they spared went later,
/// and nothing else.
package struct LeasedHistories {
  package let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  private static let late: Int64 = 90_000_000_000

  // MARK: - Managed

  package func compareManaged(_ seed: UInt64) throws {
    var random = Seeded(seed)
    let graph = script(&random)
    let deletion = ["!A", "!A !B", "!A !C !D"].randomElement(using: &random)!
    let leased = "ABCDEFGH".filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    let (plain, leasing) = (try makeStore(), try makeStore())
    try plain.run(graph)
    try plain.run(deletion)
    try leasing.run(graph)
    for letter in leased { try leasing.lease("'\(letter)'", in: "n", until: LeasedHistories.late) }
    try leasing.run(deletion)
    let asked = Set(deletion.filter(\.isLetter))
    let alive = try leasing.alive().filter { !$0.isWhitespace }
    #expect(leased.allSatisfy { asked.contains($0) || alive.contains($0) }, "seed \(seed)")
    try leasing.endLeases()
    _ = try leasing.writer.sweep([.cascade, .refcount], at: 1_000_000)
    #expect(
      try leasing.alive() == plain.alive() && leasing.graph() == plain.graph(),
      "seed \(seed): \(graph); \(deletion) with leases of \(leased)")
  }

  private func makeStore() throws -> any StoreUnderTest {
    try engine.makeStore(model: .lenient, schema: "")
  }

  /// Edges of a name have the same rules: who counts some of them only, and loses the others later,
  /// ends elsewhere, with leases and without.
  private func script(_ random: inout Seeded) -> String {
    let letters = "ABCDEFGH".map(String.init)
    let names = ["e", "x", "y"].map { name in
      (name, [0, 4, 8, 16, 32, 12, 24, 36, 48].randomElement(using: &random)!)
    }
    let edges = (0..<Int.random(in: 4...14, using: &random)).map { _ -> String in
      let (name, rules) = names.randomElement(using: &random)!
      let (from, to) = (
        letters.randomElement(using: &random)!, letters.randomElement(using: &random)!
      )
      return "\(from)-\(rules)\(name)>\(to)"
    }
    return (letters + edges).joined(separator: " ")
  }

  // MARK: - Rows

  package func comparePlaced(_ seed: UInt64, bySQL: Bool) throws {
    var random = Seeded(seed)
    let graph = PlacedGraph(engine.tables, bySQL: bySQL, &random)
    let history = (0..<6).map { _ in graph.steps(bySQL: bySQL, &random) }
    let deletion = (0..<Int.random(in: 1...2, using: &random)).map { _ in
      let collection = PlacedGraph.collections.randomElement(using: &random)!
      return PlacedStep.delete(graph.node(collection, Int.random(in: 0..<4, using: &random)))
    }
    let leases = PlacedGraph.collections.flatMap { collection in
      (0..<4).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }.map { (collection, $0) }
    }
    let leasesAll = Int.random(in: 0..<6, using: &random) == 0
    let schema = graph.schema(seed)
    let run = Run(
      engine: engine, graph: graph, schema: schema, bySQL: bySQL, history: history,
      deletion: deletion)
    guard let plain = try run.store(leasing: { _ in }) else { return }
    let leasing = try run.store { store in
      for (collection, number) in leases {
        let node = graph.node(collection, number)
        let key = node.key.managedText ?? node.key.json.text
        try store.lease("'\(key)'", in: collection, until: LeasedHistories.late)
      }
      if leasesAll { try store.lease("NULL", in: "b", until: LeasedHistories.late) }
    }
    // What stays may deny what goes.
    guard let leasing else { return }
    try leasing.endLeases()
    _ = try leasing.writer.sweep([.cascade, .refcount], at: 1_000_000)
    let (wanted, found) = (try Run.state(plain), try Run.state(leasing))
    #expect(
      wanted == found,
      """
      seed \(seed): \(found.symmetricDifference(wanted).sorted()) \(graph.model) \(history)
      \(deletion) \(leases) \(leasesAll)
      """)
  }

  private struct Run {
    let engine: any EngineUnderTest
    let graph: PlacedGraph
    let schema: String
    let bySQL: Bool
    let history: [[PlacedStep]]
    let deletion: [PlacedStep]

    /// Nil where the deletion is denied.
    func store(leasing: (any StoreUnderTest) throws -> Void) throws -> (any StoreUnderTest)? {
      let store = try engine.makeStore(model: StoreModel(graph.model), schema: schema)
      _ = try store.writer.sweep([.all], at: 0)
      for steps in history { _ = try apply(steps, store) }
      try leasing(store)
      return try apply(deletion, store) ? store : nil
    }

    private func apply(_ steps: [PlacedStep], _ store: any StoreUnderTest) throws -> Bool {
      if !bySQL { return try store.reasons(steps.map(graph.forFile)).isEmpty }
      let statements = steps.flatMap { graph.sql($0, replacing: false) }
      try store.bySQL("BEGIN; \(statements.joined(separator: "; ")); COMMIT")
      return try store.writer.sweep([.cascade, .refcount], at: 1).blocked.isEmpty
    }

    static func state(_ store: any StoreUnderTest) throws -> Set<String> {
      var state = Set(try store.edges().map(\.json.text))
      for collection in PlacedGraph.collections {
        state.formUnion(
          try store.reader.nodes(in: collection, after: nil, limit: 100).map { "\($0.node)" })
      }
      return state
    }
  }
}
