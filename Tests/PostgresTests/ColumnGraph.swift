import CascadeModel
import StoreDefinition

/// Two tables whose rows refer to each other and to themselves, in columns, join tables, lists and
/// documents. The key of the second may be a number, or have two columns. Join rows may be nodes of a
/// collection of their own, and refer to others.
struct ColumnGraph {
  enum Place: CaseIterable {
    case column, join, array, json
    /// A join table whose rows are nodes.
    case node
    /// Beside a column that says to which table it leads.
    case typed
    /// To either table, whichever has the key.
    case either
    /// A list in a document of `jsonb`; in place of it one key; a list in a text.
    case document, single, text
  }

  enum Keys: CaseIterable { case texts, numbers, pairs }

  struct Relation {
    let name: String
    let from: String
    let to: String
    /// The first referring column, or the table.
    let column: String
    let place: Place
    let rules: Rules
    /// A value that refers to nothing.
    var none: Key?
    /// Whether it ties a join row to an end.
    var isTie = false

    var isList: Bool { [.array, .json, .document, .single, .text].contains(place) }
    var leadsToBoth: Bool { place == .typed || place == .either }
    var table: String { "j_\(from)_\(column)" }
    var most: Int {
      switch place {
      case .node: 0
      case .column, .typed, .either, .single: 1
      default: 3
      }
    }
    var destinations: [String] {
      leadsToBoth ? [to] + ColumnGraph.collections.filter { $0 != to } : [to]
    }
    /// As the reference calls them.
    var paths: [String] { destinations.map { "\(name)/\(from)/\($0)" } }

    func isNone(_ node: Node) -> Bool { none == node.key }
  }

  enum Step {
    case put(Node, [String: [Node]])
    case delete(Node)
  }

  let relations: [Relation]
  let keys: Keys
  static let collections = ["a", "b"]
  /// Also those of join rows.
  let allCollections: [String]
  /// Whether the tables have partitions.
  let isPartitioned: Bool
  private static let nodes = 4

  /// `denies`: some rules deny. `either`: some references may lead to either table.
  init(denies: Bool, either: Bool = true, _ random: inout Seeded) {
    var relations: [Relation] = []
    for from in ColumnGraph.collections {
      for (column, name) in [("c1", "x"), ("c2", Bool.random(using: &random) ? "x" : "y")] {
        relations.append(
          Relation(
            name: name, from: from, to: ColumnGraph.collections.randomElement(using: &random)!,
            column: column, place: Place.allCases.randomElement(using: &random)!,
            rules: ColumnGraph.rules(denies: denies, &random)))
      }
    }
    // A reference to either that may stay could come back to life in another table.
    relations.removeAll {
      $0.place == .either && (!either || $0.rules.contains(.denyDestinationDeletion))
    }
    relations = ColumnGraph.consistent(relations)
    let joins = relations.filter { $0.place == .node }
    relations += joins.flatMap { ColumnGraph.relations(ofRowsOf: $0, denies: denies, &random) }
    let isSingle = relations.contains { $0.leadsToBoth || $0.isList && $0.to == "b" }
    let keys = Keys.allCases.filter { !isSingle || $0 != .pairs }.randomElement(using: &random)!
    for index in relations.indices {
      relations[index].none = ColumnGraph.none(relations[index], keys, &random)
    }
    (self.relations, self.keys) = (relations, keys)
    allCollections = ColumnGraph.collections + joins.map(\.table)
    isPartitioned = Int.random(in: 0..<4, using: &random) == 0
  }

  /// The ends of join rows that are nodes, and what else they refer to.
  private static func relations(
    ofRowsOf join: Relation, denies: Bool, _ random: inout Seeded
  ) -> [Relation] {
    let ties = [("s", join.from), ("d", join.to)].map { column, to in
      Relation(
        name: "\(join.name) \(column)", from: join.table, to: to, column: column, place: .column,
        rules: .deleteSourceIfDestinationDeleted, isTie: true)
    }
    let places = Place.allCases.filter { ![.join, .node, .either].contains($0) }
    let own = Relation(
      name: "x", from: join.table, to: collections.randomElement(using: &random)!, column: "c1",
      place: places.randomElement(using: &random)!, rules: rules(denies: denies, &random))
    return ties + [own]
  }

  /// A name from one collection has one meaning for each destination; a reference to either is alone.
  private static func consistent(_ relations: [Relation]) -> [Relation] {
    relations.reduce(into: []) { kept, relation in
      let isTaken = kept.contains { other in
        other.name == relation.name && other.from == relation.from
          && (other.place == .either || relation.place == .either
            || !Set(other.paths).isDisjoint(with: relation.paths))
      }
      if !isTaken { kept.append(relation) }
    }
  }

  /// Also a key that some row has: then nothing refers to that row.
  private static func none(
    _ relation: Relation, _ keys: Keys, _ random: inout Seeded
  ) -> Key? {
    let isNumber = relation.to == "b" && keys == .numbers
    if relation.isTie || relation.place == .node { return nil }
    if relation.to == "b" && keys == .pairs { return nil }
    return [nil, nil, isNumber ? .integer(0) : .text("none"), isNumber ? .integer(3) : .text("k3")]
      .randomElement(using: &random)!
  }

  static func rules(denies: Bool, _ random: inout Seeded) -> Rules {
    var rules: Rules = [
      .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
      .nullifySourceIfDestinationDeleted, .nullifySourceIfDestinationDeleted,
    ].randomElement(using: &random)!
    if denies && Int.random(in: 0..<4, using: &random) == 0 { rules = .denyDestinationDeletion }
    let ofSource: [Rules] = [
      [], .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
      denies ? .denySourceDeletion : [],
    ]
    rules.formUnion(ofSource.randomElement(using: &random)!)
    for notice: Rules in [.notifyIfSourceDeleted, .notifyIfDestinationDeleted]
    where Int.random(in: 0..<3, using: &random) == 0 {
      rules.insert(notice)
    }
    return rules
  }

  /// Relations whose references to nothing may stay as they are.
  var dangling: [Relation] {
    relations.filter {
      ![.join, .node, .either].contains($0.place)
        && $0.rules.isDisjoint(with: [
          .deleteSourceIfDestinationDeleted, .nullifySourceIfDestinationDeleted,
        ])
    }
  }

  /// Relations whose references are in the rows of their sources.
  var inRows: [Relation] { relations.filter { ![.join, .node].contains($0.place) } }

  /// The collections of references to either, as the reference is told.
  var alternatives: [String: [String]] {
    let either = relations.filter { $0.place == .either }
    return Dictionary(
      uniqueKeysWithValues: either.map { ("\($0.name)/\($0.from)", $0.destinations) })
  }

  /// Join rows that are nodes, as the reference is told.
  var joined: [String: Reference.Joined] {
    let joins = relations.filter { $0.place == .node }
    return Dictionary(
      uniqueKeysWithValues: joins.map { join in
        let ends = ["s", "d"].map { "\(join.name) \($0)" }
        return (join.table, Reference.Joined(name: join.name, ends: ends, rules: join.rules))
      })
  }

  // MARK: - Tables

  func columns(_ first: String, to collection: String) -> [String] {
    keys == .pairs && collection == "b" ? [first, "\(first)_of"] : [first]
  }

  func columns(of relation: Relation) -> [String] {
    columns(relation.column, to: relation.to)
  }

  var model: String {
    let collections = allCollections.map {
      "\($0): { table: 't \($0)', key: \(list(columns("id", to: $0))) }"
    }
    return """
      { collections: { \(collections.joined(separator: ", ")) },
        relationships: [\(relations.filter { !$0.isTie }.map(describe).joined(separator: ", "))] }
      """
  }

  private func describe(_ relation: Relation) -> String {
    let rules = relation.rules.names.map { "'\($0)'" }.joined(separator: ", ")
    let place =
      switch relation.place {
      case .column, .either: "column: \(list(columns(of: relation)))"
      case .typed: "column: '\(relation.column)', typeColumn: '\(relation.column)_type'"
      case .join, .node:
        "join: { table: '\(relation.place == .node ? "t " : "")\(relation.table)', source: \(list(columns("s", to: relation.from))), "
          + "destination: \(list(columns("d", to: relation.to))) }"
      case .array, .json, .text: "property: '\(relation.column)', toMany: true"
      case .document: "property: '\(relation.column).in.list', toMany: true"
      case .single: "property: '\(relation.column).in.list'"
      }
    let to =
      switch relation.place {
      case .typed: "{ of_a: 'a', of_b: 'b' }"
      case .either: list(relation.destinations)
      default: "'\(relation.to)'"
      }
    let none = relation.none.map { "none: [\($0.json.text)]," } ?? ""
    return "{ name: '\(relation.name)', from: '\(relation.from)', to: \(to), "
      + "\(place), \(none) rules: [\(rules)] }"
  }

  private func list(_ columns: [String]) -> String {
    "[\(columns.map { "'\($0)'" }.joined(separator: ", "))]"
  }

  // MARK: - Steps

  func steps(_ random: inout Seeded) -> [Step] {
    var written: Set<Node> = []
    return (0..<Int.random(in: 1...6, using: &random)).compactMap { _ in
      let node = node(allCollections.randomElement(using: &random)!, &random)
      if Int.random(in: 0..<10, using: &random) >= 6 { return .delete(node) }
      if !written.insert(node).inserted { return nil }
      var references: [String: [Node]] = [:]
      for relation in relations where relation.from == node.collection {
        references[relation.column] =
          (0..<Int.random(in: 0...relation.most, using: &random)).map { _ in
            self.node(relation.destinations.randomElement(using: &random)!, &random)
          }
      }
      return .put(node, references)
    }
  }

  func node(_ collection: String, _ random: inout Seeded) -> Node {
    node(collection, Int64.random(in: 0..<Int64(ColumnGraph.nodes), using: &random))
  }

  /// All that may be in a collection.
  func nodes(of collection: String) -> [Node] {
    (0..<Int64(ColumnGraph.nodes)).map { node(collection, $0) }
  }

  private func node(_ collection: String, _ number: Int64) -> Node {
    let text = Key.text("k\(number)")
    if collection == "o" { return Node(collection, text) }
    if !ColumnGraph.collections.contains(collection) { return Node(collection, .integer(number)) }
    if collection == "a" || keys == .texts { return Node(collection, text) }
    let isNumber = keys == .numbers
    return Node(
      collection, isNumber ? .integer(number + 1) : .composite([text, .integer(number % 2)]))
  }

  /// As the reference is told.
  func change(_ step: Step) -> Change {
    switch step {
    case .delete(let node): return .delete(node)
    case .put(let node, let references):
      let edges = relations.filter { $0.from == node.collection }.flatMap { relation in
        (references[relation.column] ?? []).filter { !relation.isNone($0) }.flatMap { node in
          (relation.place == .either ? relation.destinations : [node.collection]).map {
            DeclaredEdge(
              name: relation.name, destination: .node(Node($0, node.key)), rules: relation.rules)
          }
        }
      }
      return .put(node, type: nil, value: nil, edges: edges)
    }
  }

  /// To which a step refers by references to either table.
  func destinationsOfEither(_ step: Step) -> [Node] {
    guard case .put(let node, let references) = step else { return [] }
    return relations.filter { $0.from == node.collection && $0.place == .either }.flatMap {
      relation in
      (references[relation.column] ?? []).flatMap { node in
        relation.destinations.map { Node($0, node.key) }
      }
    }
  }

  // MARK: - Change files

  /// Whether a change file can say it: join rows are no nodes.
  func isOfFile(_ step: Step) -> Bool {
    guard case .put(let node, _) = step else { return true }
    return !relations.contains { $0.from == node.collection && $0.place == .join }
  }

  func changeOfRow(_ step: Step) -> Change {
    guard case .put(let node, let references) = step else { return change(step) }
    let fields = relations.filter { $0.from == node.collection }.flatMap {
      members($0, references[$0.column] ?? [])
    }
    return .put(node, type: nil, value: JSONText(.object(fields)), edges: nil)
  }

  func members(_ relation: Relation, _ nodes: [Node]) -> [JSON.Field] {
    let node = nodes.first
    switch relation.place {
    case .join, .node: return []
    case .column, .typed, .either:
      let parts = node.map { $0.key.json.array ?? [$0.key.json] }
      let columns = columns(of: relation)
      let values = zip(columns, parts ?? columns.map { _ in relation.none?.json ?? .null })
      let type = node.map { JSON.string("of_\($0.collection)") } ?? .null
      return values.map { JSON.Field($0, $1) }
        + (relation.place == .typed ? [JSON.Field("\(relation.column)_type", type)] : [])
    case .array, .json, .document, .single, .text:
      return [JSON.Field(relation.column, value(relation, nodes))]
    }
  }

  /// A list, or the document that has it.
  private func value(_ relation: Relation, _ nodes: [Node]) -> JSON {
    let none = relation.none.map { [$0.json] } ?? []
    let list = JSON.array(nodes.map(\.key.json) + none)
    let isEmpty = nodes.isEmpty && none.isEmpty
    switch relation.place {
    case .json: return isEmpty ? .object([]) : .array((list.array ?? []) + [.bool(true)])
    case .text: return isEmpty && relation.column == "c2" ? .string("no JSON") : list
    case .document: return document(list)
    case .single: return document(nodes.first?.key.json ?? none.first ?? .null)
    default: return list
    }
  }

  private func document(_ value: JSON) -> JSON {
    .object([
      JSON.Field("in", .object([JSON.Field("list", value)])), JSON.Field("list", .array([])),
    ])
  }
}

extension ColumnGraph.Step {
  var node: Node {
    switch self {
    case .put(let node, _), .delete(let node): node
    }
  }

  /// The node that it puts.
  var put: Node? { if case .put(let node, _) = self { node } else { nil } }
}
