package import CascadeModel
internal import CascadeStore
import Testing

/// The same random histories, but what an object declares stands in lists within its value, and the
/// model says the rules.
package struct PropertyHistories {
  package let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  private static let length = 60

  package func compare(_ seeds: some Sequence<UInt64>) throws {
    for seed in seeds {
      var generator = PropertyGenerator(seed: seed)
      let rules = generator.rules
      let history = (0..<PropertyHistories.length).map { _ in generator.transaction() }
      guard let difference = try difference(history, rules) else { continue }
      let shrunk = try Histories.shrink(history) { try self.difference($0, rules) }
      Issue.record(
        """
        seed \(seed): \(difference)
        shrunk to: \(try self.difference(shrunk, rules) ?? "")
        \(rules)
        \(shrunk.map { "\($0)" }.joined(separator: "\n"))
        """)
      return
    }
  }

  private func difference(
    _ history: [[Change]], _ rules: [String: Rules]
  ) throws -> String? {
    let store = try engine.makeStore(model: .properties(rules), schema: "")
    var reference = Reference()
    reference.propertyRules = rules
    for (index, transaction) in history.enumerated() {
      let expected = reference.apply(transaction)
      let actual = try store.outcome(transaction.map(\.withProperties))
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
    let nodes = try TransactionGenerator.collections.flatMap {
      try store.reader.nodes(in: $0, after: nil, limit: 1_000)
    }
    let values = Dictionary(uniqueKeysWithValues: nodes.map { ($0.node, $0.value!.json) })
    let actual = values.mapValues { ($0["v"] ?? .null).text }
    if actual != reference.nodes { return "nodes \(actual), not \(reference.nodes)" }
    for (node, value) in values {
      if let list = listDifference(node, value, reference) { return list }
    }
    return try store.difference(from: reference)
  }

  /// A list names every destination; and under rule 64 nothing else.
  private func listDifference(
    _ node: Node, _ value: JSON, _ reference: Reference
  ) -> String? {
    for (path, rules) in reference.propertyRules {
      let parts = path.split(separator: "/").map(String.init)
      guard parts[1] == node.collection else { continue }
      let listed = Set((value["\(parts[0])_\(parts[2])"]?.array ?? []).compactMap(\.string))
      let ends = Set(
        reference.edges.keys.filter {
          $0.source == node && $0.origin == .declared && $0.name == parts[0]
            && $0.destination.collection == parts[2]
        }.compactMap(\.destination.key.managedText))
      if !ends.isSubset(of: listed) || (rules.contains(64) && ends != listed) {
        return "\(node) lists \(listed) by \(path), and its edges lead to \(ends)"
      }
    }
    return nil
  }
}

/// Histories of `TransactionGenerator` under rules that a model gives, with patches among the puts.
package struct PropertyGenerator {
  package private(set) var rules: [String: Rules] = [:]
  private var changes: TransactionGenerator
  private var random: Seeded

  package init(seed: UInt64) {
    changes = TransactionGenerator(seed: seed)
    random = Seeded(~seed)
    for name in ["x", "y"] {
      for from in TransactionGenerator.collections {
        for to in TransactionGenerator.collections {
          rules["\(name)/\(from)/\(to)"] = changes.rules()
        }
      }
    }
  }

  package mutating func transaction() -> [Change] { changes.transaction().map { ruled($0) } }

  private mutating func ruled(_ change: Change) -> Change {
    guard case .put(let node, let type, let value, let edges, _, _) = change else {
      return change.withNameOfManualEdges
    }
    let ruled = (edges ?? []).map { edge in
      var edge = edge
      edge.rules = rules["\(edge.name)/\(node.collection)/\(edge.destination.node!.collection)"]
      return edge
    }
    guard Int.random(in: 0..<5, using: &random) == 0, let name = ruled.first?.property else {
      return .put(node, type: type, value: value, edges: ruled)
    }
    let list = ruled.filter { $0.property == name }.map(\.reference)
    return .patch(node, set: [Member(name: name, value: JSONText(.array(list)))], unset: [])
  }
}

extension DeclaredEdge {
  fileprivate var property: String { "\(name)_\(destination.node!.collection)" }

  fileprivate var reference: JSON { destination.node!.key.json }
}

extension Change {
  /// The model places the other names in properties.
  fileprivate var withNameOfManualEdges: Change {
    switch self {
    case .link(let name, let from, let to, let rules, _):
      .link(name: "by hand: \(name)", from: from, to: to, rules: rules)
    case .unlink(let name, let from, let to, let removal):
      .unlink(name: "by hand: \(name)", from: from, to: to, as: removal)
    default: self
    }
  }

  /// A put whose declared list stands in the properties of its value.
  fileprivate var withProperties: Change {
    guard case .put(let node, let type, let value, let edges, _, _) = self else { return self }
    let lists = Dictionary(grouping: edges ?? [], by: \.property)
    let members = lists.sorted { $0.key < $1.key }.map { property, edges in
      Member(name: property, value: JSONText(.array(edges.map(\.reference))))
    }
    let object = JSONText(object: [Member(name: "v", value: value!)] + members)
    return .put(node, type: type, value: object, edges: nil)
  }
}

extension StoreModel {
  fileprivate static func properties(_ rules: [String: Rules]) throws -> StoreModel {
    let relationships = rules.sorted { $0.key < $1.key }.map { path, rules in
      let parts = path.split(separator: "/")
      return """
        name: '\(parts[0])', from: '\(parts[1])', to: '\(parts[2])', toMany: true, \
        property: '\(parts[0])_\(parts[2])', rules: \(rules.list)
        """
    }
    return try StoreModel(relationships: relationships, collections: ", a: {}, b: {}")
  }
}
