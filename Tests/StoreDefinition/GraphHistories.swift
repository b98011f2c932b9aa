package import CascadeModel
internal import CascadeStore
import Testing

/// The engine against the reference, over random transactions of objects.
package struct GraphHistories {
  package let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  private static let length = 60

  package func compare(_ seeds: some Sequence<UInt64>) throws {
    for seed in seeds {
      var generator = TransactionGenerator(seed: seed)
      let history = (0..<GraphHistories.length).map { _ in generator.transaction() }
      guard let difference = try difference(history) else { continue }
      let shrunk = try Histories.shrink(history, by: self.difference)
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
    let store = try engine.makeStore(model: .lenient, schema: "")
    var reference = Reference()
    for (index, transaction) in history.enumerated() {
      let expected = reference.apply(transaction)
      let actual = try store.outcome(transaction)
      if actual != expected { return "transaction \(index): \(actual), not \(expected)" }
      if index % 10 == 9 || index == history.count - 1 {
        if let state = try stateDifference(store, reference) {
          return "after transaction \(index): \(state)"
        }
      }
    }
    return nil
  }

  private func stateDifference(_ store: any StoreUnderTest, _ reference: Reference) throws
    -> String?
  {
    var nodes: [Node: String] = [:]
    for collection in TransactionGenerator.collections {
      for node in try store.reader.nodes(in: collection, after: nil, limit: 1_000) {
        nodes[node.node] = node.value?.text ?? ""
      }
    }
    if nodes != reference.nodes { return "nodes \(nodes), not \(reference.nodes)" }
    return try store.difference(from: reference)
  }
}

/// Few nodes and names, so that everything meets everything: cycles, self-edges, twins.
package struct TransactionGenerator {
  package static let collections = ["a", "b"]
  private var random: Seeded

  package init(seed: UInt64) { random = Seeded(seed) }

  package mutating func transaction() -> [Change] {
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
  package mutating func rules() -> Rules {
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
