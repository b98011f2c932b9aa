import CascadeModel
import StoreDefinition

/// Two tables whose rows refer to each other and to themselves, in columns, join tables and lists. The
/// key of the second may have two columns.
struct ColumnGraph {
  enum Place: CaseIterable { case column, join, array, json }

  struct Relation {
    let name: String
    let from: String
    let to: String
    /// The first referring column, or the table.
    let column: String
    let place: Place
    let rules: Rules

    var isList: Bool { place == .array || place == .json }
    var table: String { "j_\(from)_\(column)" }
    var most: Int { place == .column ? 1 : 3 }
    /// As the reference calls it.
    var path: String { "\(name)/\(from)/\(to)" }
  }

  enum Step {
    case put(Node, [String: [Node]])
    case delete(Node)
  }

  let relations: [Relation]
  let hasPairs: Bool
  static let collections = ["a", "b"]
  private static let nodes = 4

  init(denies: Bool, _ random: inout Seeded) {
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
    // A name from one collection has one meaning for each destination.
    self.relations = relations.reduce(into: []) { kept, relation in
      if !kept.contains(where: { $0.path == relation.path }) { kept.append(relation) }
    }
    let isListed = self.relations.contains { $0.isList && $0.to == "b" }
    hasPairs = !isListed && Bool.random(using: &random)
  }

  private static func rules(denies: Bool, _ random: inout Seeded) -> Rules {
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
      $0.place != .join
        && $0.rules.isDisjoint(with: [
          .deleteSourceIfDestinationDeleted, .nullifySourceIfDestinationDeleted,
        ])
    }
  }

  // MARK: - Tables

  private func columns(_ first: String, to collection: String) -> [String] {
    hasPairs && collection == "b" ? [first, "\(first)_of"] : [first]
  }

  var model: String {
    let collections = ColumnGraph.collections.map {
      "\($0): { table: 't \($0)', key: \(list(columns("id", to: $0))) }"
    }
    return """
      { collections: { \(collections.joined(separator: ", ")) },
        relationships: [\(relations.map(describe).joined(separator: ", "))] }
      """
  }

  private func describe(_ relation: Relation) -> String {
    let rules = relation.rules.names.map { "'\($0)'" }.joined(separator: ", ")
    let place =
      switch relation.place {
      case .column: "column: \(list(columns(relation.column, to: relation.to)))"
      case .join:
        "join: { table: '\(relation.table)', source: \(list(columns("s", to: relation.from))), "
          + "destination: \(list(columns("d", to: relation.to))) }"
      case .array, .json: "property: '\(relation.column)', toMany: true"
      }
    return "{ name: '\(relation.name)', from: '\(relation.from)', to: '\(relation.to)', "
      + "\(place), rules: [\(rules)] }"
  }

  private func list(_ columns: [String]) -> String {
    "[\(columns.map { "'\($0)'" }.joined(separator: ", "))]"
  }

  var schema: String {
    let tables = ColumnGraph.collections.map { collection in
      let relations = relations.filter { $0.from == collection }
      let columns = relations.filter { $0.place == .column }.flatMap {
        self.columns($0.column, to: $0.to)
      }
      let key = self.columns("id", to: collection)
      let all =
        (key + columns).map { "\($0) \($0.hasSuffix("_of") ? "int" : "varchar(9)")" }
        + relations.filter(\.isList).map {
          "\($0.column) \($0.place == .json ? "jsonb" : "text[]")"
        }
      return "CREATE TABLE \"t \(collection)\"(\(all.joined(separator: ", ")), "
        + "PRIMARY KEY(\(key.joined(separator: ", "))))"
    }
    let joins = relations.filter { $0.place == .join }.map { relation in
      let ends = columns("s", to: relation.from) + columns("d", to: relation.to)
      let all = ends.map { "\($0) \($0.hasSuffix("_of") ? "bigint" : "text")" }
      let key = relation.column == "c1" ? ", UNIQUE(\(ends.joined(separator: ", ")))" : ""
      return "CREATE TABLE \(relation.table)(\(all.joined(separator: ", "))\(key))"
    }
    return (tables + joins).joined(separator: ";\n")
  }

  // MARK: - Steps

  func steps(_ random: inout Seeded) -> [Step] {
    var written: Set<Node> = []
    return (0..<Int.random(in: 1...6, using: &random)).compactMap { _ in
      let node = node(ColumnGraph.collections.randomElement(using: &random)!, &random)
      if Int.random(in: 0..<10, using: &random) >= 6 { return .delete(node) }
      if !written.insert(node).inserted { return nil }
      var references: [String: [Node]] = [:]
      for relation in relations where relation.from == node.collection {
        references[relation.column] =
          (0..<Int.random(in: 0...relation.most, using: &random)).map { _ in
            self.node(relation.to, &random)
          }
      }
      return .put(node, references)
    }
  }

  private func node(_ collection: String, _ random: inout Seeded) -> Node {
    let number = Int.random(in: 0..<ColumnGraph.nodes, using: &random)
    let text = Key.text("k\(number)")
    let isPair = hasPairs && collection == "b"
    return Node(collection, isPair ? .composite([text, .integer(Int64(number % 2))]) : text)
  }

  func change(_ step: Step) -> Change {
    switch step {
    case .delete(let node): return .delete(node)
    case .put(let node, let references):
      let edges = relations.filter { $0.from == node.collection }.flatMap { relation in
        (references[relation.column] ?? []).map {
          DeclaredEdge(name: relation.name, destination: .node($0), rules: relation.rules)
        }
      }
      return .put(node, type: nil, value: nil, edges: edges)
    }
  }

  // MARK: - SQL

  func sql(_ step: Step) -> [String] {
    switch step {
    case .delete(let node):
      let isKey = zip(columns("id", to: node.collection), values(node)).map { "\($0) = \($1)" }
      return ["DELETE FROM \"t \(node.collection)\" WHERE \(isKey.joined(separator: " AND "))"]
    case .put(let node, let references):
      return [upsert(node, references)]
        + relations.filter { $0.from == node.collection && $0.place == .join }.flatMap {
          joins($0, node, references[$0.column] ?? [])
        }
    }
  }

  private func values(_ node: Node) -> [String] {
    (node.key.json.array ?? [node.key.json]).map { $0.string.map { "'\($0)'" } ?? $0.text }
  }

  private func upsert(_ node: Node, _ references: [String: [Node]]) -> String {
    let key = columns("id", to: node.collection)
    var (names, values) = (key, values(node))
    for relation in relations where relation.from == node.collection && relation.isList {
      names.append(relation.column)
      values.append(list(references[relation.column] ?? [], as: relation.place))
    }
    for relation in relations where relation.from == node.collection && relation.place == .column {
      let columns = columns(relation.column, to: relation.to)
      names += columns
      values +=
        (references[relation.column] ?? []).first.map { self.values($0) }
        ?? columns.map { _ in "NULL" }
    }
    let updates = names.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return """
      INSERT INTO "t \(node.collection)"(\(names.joined(separator: ", ")))
      VALUES(\(values.joined(separator: ", ")))
      ON CONFLICT(\(key.joined(separator: ", "))) DO UPDATE SET \(updates)
      """
  }

  private func list(_ nodes: [Node], as place: Place) -> String {
    if nodes.isEmpty { return place == .json ? "'{}'" : "NULL" }
    let items = nodes.map { "\"\($0.key.managedText!)\"" }.joined(separator: ",")
    return place == .json ? "'[\(items),7]'" : "'{\(items),NULL}'"
  }

  /// Only what differs is written, as an application would.
  private func joins(_ relation: Relation, _ source: Node, _ wanted: [Node]) -> [String] {
    let from = columns("s", to: relation.from).joined(separator: ", ")
    let to = columns("d", to: relation.to).joined(separator: ", ")
    let source = values(source).joined(separator: ", ")
    let destinations = wanted.map { "(\(values($0).joined(separator: ", ")))" }
    let others =
      wanted.isEmpty ? "" : " AND (\(to)) NOT IN (\(destinations.joined(separator: ", ")))"
    let isOfSource = "(\(from)) = (\(source))"
    return ["DELETE FROM \(relation.table) WHERE \(isOfSource)\(others)"]
      + destinations.map { destination in
        """
        INSERT INTO \(relation.table) SELECT \(source), \(destination.dropFirst().dropLast())
        WHERE NOT EXISTS (SELECT FROM \(relation.table)
          WHERE \(isOfSource) AND (\(to)) = \(destination))
        """
      }
  }
}

extension ColumnGraph.Step {
  var isDelete: Bool { if case .delete = self { true } else { false } }
}
