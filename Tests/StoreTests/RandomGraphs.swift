import Model
import Store
import Testing

/// The engine against the reference, over random transactions.
@Suite("Random graphs")
struct RandomGraphs {
  /// 2,000 histories of 60 transactions: 120,000 in all.
  static let histories = 2_000
  static let length = 60

  @Test("The store does what the reference does", arguments: 0..<4)
  func agreement(part: UInt64) throws {
    for run in 0..<UInt64(RandomGraphs.histories / 4) {
      let seed = run * 4 + part
      var generator = TransactionGenerator(seed: seed)
      let history = (0..<RandomGraphs.length).map { _ in generator.transaction() }
      guard let difference = try difference(history) else { continue }
      let shrunk = try shrink(history)
      Issue.record(
        """
        seed \(seed): \(difference)
        shrunk to: \(try self.difference(shrunk) ?? "")
        \(shrunk.map { "\($0)" }.joined(separator: "\n"))
        """)
      return
    }
  }

  /// What the two disagree about, if they do.
  private func difference(_ history: [[Change]]) throws -> String? {
    let store = try TestStore()
    var reference = Reference()
    for (index, transaction) in history.enumerated() {
      let expected = reference.apply(transaction)
      let actual = try outcome(store, transaction)
      if actual != expected { return "transaction \(index): \(actual), not \(expected)" }
      if index % 10 == 9 || index == history.count - 1 {
        if let state = try stateDifference(store, reference) {
          return "after transaction \(index): \(state)"
        }
      }
    }
    return nil
  }

  private func outcome(_ store: TestStore, _ changes: [Change]) throws -> Reference.Result {
    do {
      let receipt = try store.apply(changes)
      let deleted = Set(receipt.deleted)
      #expect(receipt.deletedCount == receipt.deleted.count || deleted.count < 3)
      return Reference.Result(deleted: deleted)
    } catch let rejection as Rejection {
      return Reference.Result(denied: Set(rejection.reasons.compactMap(\.node)))
    }
  }

  private func stateDifference(_ store: TestStore, _ reference: Reference) throws -> String? {
    var nodes: [Node: String] = [:]
    for collection in TransactionGenerator.collections {
      for node in try store.reader.nodes(in: collection, after: nil, limit: 1_000) {
        nodes[node.node] = node.value?.text ?? ""
      }
    }
    if nodes != reference.nodes { return "nodes \(nodes), not \(reference.nodes)" }
    let edges = Set(try store.edges())
    let expected = Set(reference.edges.map { Edge($0.key, $0.value) })
    if edges != expected {
      return "edges \(edges.subtracting(expected)), not \(expected.subtracting(edges))"
    }
    let told = try store.reader.notices(after: 0, limit: 100_000).map(Reference.Told.init)
    let toldCounts = Dictionary(grouping: told, by: \.self).mapValues(\.count)
    let expectedCounts = Dictionary(grouping: reference.notices, by: \.self).mapValues(\.count)
    return toldCounts == expectedCounts ? nil : "notices \(toldCounts), not \(expectedCounts)"
  }

  /// The shortest history that still fails, by leaving out one thing at a time.
  private func shrink(_ history: [[Change]]) throws -> [[Change]] {
    var best = history
    var index = best.count - 1
    while index >= 0 {
      var candidate = best
      candidate.remove(at: index)
      if try difference(candidate) != nil { best = candidate }
      index -= 1
    }
    for transaction in best.indices {
      for change in best[transaction].indices.reversed() {
        var candidate = best
        candidate[transaction].remove(at: change)
        if try difference(candidate) != nil { best = candidate }
      }
    }
    return best
  }
}

extension Edge {
  init(_ id: Reference.EdgeID, _ rules: Rules) {
    self.init(
      name: id.name, source: id.source, destination: .node(id.destination), rules: rules,
      origin: id.origin)
  }
}

extension Reference.Told {
  init(_ notice: Notice) {
    guard case .node(let to) = notice.edge.destination else { fatalError("no files here") }
    self.init(
      receiver: notice.node,
      edge: Reference.EdgeID(
        name: notice.edge.name, source: notice.edge.source, destination: to,
        origin: notice.edge.origin),
      reason: notice.reason)
  }
}

/// Few nodes and names, so that everything meets everything: cycles, self-edges, twins.
struct TransactionGenerator {
  static let collections = ["a", "b"]
  private var random: Seeded

  init(seed: UInt64) { random = Seeded(seed) }

  mutating func transaction() -> [Change] {
    (0..<Int.random(in: 1...8, using: &random)).map { _ in change() }
  }

  private mutating func change() -> Change {
    switch Int.random(in: 0..<100, using: &random) {
    case ..<30: .put(node(), type: nil, value: value(), edges: nil)
    case ..<50: .put(node(), type: nil, value: value(), edges: declared())
    case ..<66: .delete(node())
    case ..<67:
      .deleteAll(collection: TransactionGenerator.collections.randomElement(using: &random)!)
    case ..<85: .link(name: name(), from: node(), to: .node(node()), rules: rules())
    case ..<95: .unlink(name: name(), from: node(), to: .node(node()), as: removal())
    default: .flush
    }
  }

  private mutating func node() -> Node {
    Node(
      TransactionGenerator.collections.randomElement(using: &random)!,
      .text(String(Int.random(in: 0..<5, using: &random))))
  }

  private mutating func name() -> String { ["x", "y"].randomElement(using: &random)! }

  private mutating func value() -> JSONText {
    JSONText(valid: String(Int.random(in: 0..<10, using: &random)))
  }

  private mutating func removal() -> Removal { Removal.allCases.randomElement(using: &random)! }

  private mutating func declared() -> [DeclaredEdge] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in
      DeclaredEdge(name: name(), destination: .node(node()), rules: rules())
    }
  }

  /// Any legal set: one answer at most for each end, and notices with anything. Denials are rare,
  /// or nearly every transaction would be refused.
  private mutating func rules() -> Rules {
    var rules: Rules = []
    if Bool.random(using: &random) {
      rules.insert(pick(rare: .denyDestinationDeletion, [4, 16, 64]))
    }
    if Bool.random(using: &random) { rules.insert(pick(rare: .denySourceDeletion, [8, 32])) }
    if Int.random(in: 0..<3, using: &random) == 0 { rules.insert(.notifyIfSourceDeleted) }
    if Int.random(in: 0..<3, using: &random) == 0 { rules.insert(.notifyIfDestinationDeleted) }
    return rules
  }

  private mutating func pick(rare: Rules, _ bits: [Int64]) -> Rules {
    if Int.random(in: 0..<12, using: &random) == 0 { return rare }
    return Rules(rawValue: bits.randomElement(using: &random)!)
  }
}
