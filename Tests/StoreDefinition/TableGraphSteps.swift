package import CascadeModel
internal import CascadeStore

/// A step in the words of the reference, of a change file, and of SQL.
extension PlacedGraph {
  /// By `name/from/to`, the relations of which the row of the source has the references.
  package var inRows: Set<String> {
    let inRows = relations.filter { [.column, .json, .property].contains($0.place) }
    return Set(
      inRows.flatMap { relation in
        PlacedGraph.collections.filter(relation.leads).map {
          "\(relation.name)/\(relation.from)/\($0)"
        }
      })
  }

  package func forReference(_ step: PlacedStep) -> Change {
    switch step {
    case .put(let node, let references):
      let edges = relations(of: node.collection).flatMap { relation in
        declared(relation, references)
      }
      return .put(node, type: nil, value: nil, edges: edges)
    case .delete(let node): return .delete(node)
    case .flush: return .flush
    case .link, .unlink, .deleteAll: return forAll(step)
    }
  }

  /// These are the same change for the reference and in a file.
  private func forAll(_ step: PlacedStep) -> Change {
    switch step {
    case .link(let relation, let from, let to):
      .link(name: relation.name, from: from, to: .node(to), rules: relation.rules)
    case .unlink(let relation, let from, let to):
      .unlink(name: relation.name, from: from, to: .node(to), as: .sourceDeleted)
    case .deleteAll(let collection): .deleteAll(collection: collection)
    case .put, .delete, .flush: .flush
    }
  }

  private func declared(_ relation: Relation, _ references: [String: [Node]]) -> [DeclaredEdge] {
    (references[relation.key] ?? []).filter { !relation.isNone($0) }.flatMap { node in
      relation.collections(of: node).map {
        DeclaredEdge(
          name: relation.name, destination: .node(Node($0, node.key)), rules: relation.rules)
      }
    }
  }

  package func forFile(_ step: PlacedStep) -> Change {
    switch step {
    case .put(let node, let references):
      let relations = relations(of: node.collection)
      let stored = relations.filter { $0.place == .stored }
      return .put(
        node, type: nil, value: JSONText(valid: value(relations, references).text),
        edges: stored.flatMap { declared($0, references) })
    case .delete(let node): return .delete(node)
    case .flush: return .flush
    case .link, .unlink, .deleteAll: return forAll(step)
    }
  }

  private func value(_ relations: [Relation], _ references: [String: [Node]]) -> JSON {
    var fields: [JSON.Field] = []
    for relation in relations where relation.place == .property {
      fields.append(property(relation, references))
    }
    for relation in relations where relation.place == .column {
      let node = references[relation.key]?.first
      for (column, part) in zip(columns(of: relation), parts(of: node, like: relation)) {
        fields.append(.init(column, part))
      }
      if relation.isTyped { fields.append(.init(relation.typeColumn, type(of: node))) }
    }
    let properties = relations.filter { $0.place == .json }
    if !properties.isEmpty { fields.append(.init("doc", document(properties, references))) }
    return .object(fields)
  }

  private func document(_ relations: [Relation], _ references: [String: [Node]]) -> JSON {
    .object(relations.map { property($0, references) })
  }

  private func property(_ relation: Relation, _ references: [String: [Node]]) -> JSON.Field {
    let keys = (references[relation.key] ?? []).map(\.key.json)
    if relation.isScalar { return .init(relation.name, keys.first ?? relation.nothing) }
    return .init(relation.name, .array(keys + (relation.none.map { [$0.json] } ?? [])))
  }

  /// The value of each column that refers to the node.
  private func parts(of node: Node?, like relation: Relation) -> [JSON] {
    guard let key = node?.key.json else {
      return columns(of: relation).map { _ in relation.nothing }
    }
    return key.array ?? [key]
  }

  private func type(of node: Node?) -> JSON {
    node.map { .string("of_\($0.collection)") } ?? .null
  }

  // MARK: - SQL

  package func sql(_ step: PlacedStep, replacing: Bool) -> [String] {
    switch step {
    case .put(let node, let references):
      return [upsert(node, references, replacing)] + joins(node, references)
    case .delete(let node):
      let isKey = zip(columns("id", to: node.collection), sql(node)).map { "\($0) = \($1)" }
      return [
        "DELETE FROM \"t \(node.collection)\" WHERE \(isKey.joined(separator: " AND "))"
      ]
    case .deleteAll, .flush, .link, .unlink: return []
    }
  }

  /// The parts of a key.
  private func sql(_ node: Node) -> [String] {
    (node.key.json.array ?? [node.key.json]).map(tables.literal)
  }

  private func literal(_ key: Key) -> String { tables.literal(key.json) }

  private func upsert(
    _ node: Node, _ references: [String: [Node]], _ replacing: Bool
  ) -> String {
    let relations = relations(of: node.collection)
    var columns = ["doc"]
    var values = ["'\(document(relations.filter { $0.place == .json }, references).text)'"]
    for relation in relations where relation.place == .column {
      let node = references[relation.key]?.first
      columns += self.columns(of: relation).map { "\"\($0)\"" }
      values +=
        node.map { sql($0) }
        ?? self.columns(of: relation).map { _ in relation.none.map(literal) ?? "NULL" }
      if !relation.isTyped { continue }
      columns.append(relation.typeColumn)
      values.append(node.map { "'of_\($0.collection)'" } ?? "NULL")
    }
    let keys = self.columns("id", to: node.collection)
    let head =
      "INTO \"t \(node.collection)\"(\((keys + columns).joined(separator: ", "))) "
      + "VALUES(\((sql(node) + values).joined(separator: ", ")))"
    if replacing && tables.canReplace { return "INSERT OR REPLACE \(head)" }
    let updates = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return "INSERT \(head) ON CONFLICT(\(keys.joined(separator: ", "))) DO UPDATE SET \(updates)"
  }

  /// Only what differs is written, as an application would.
  private func joins(_ node: Node, _ references: [String: [Node]]) -> [String] {
    relations(of: node.collection).filter { $0.place == .join }.flatMap { relation in
      let source = sql(node)
      let none = relation.none.map { [[literal($0)]] } ?? []
      let wanted = (references[relation.key] ?? []).map { sql($0) } + none
      let isOfNode = zip(columns("s", to: relation.from), source).map { "\($0) = \($1) AND " }
      let isWanted = wanted.map { destination in
        let parts = zip(columns("d", to: relation.to), destination).map { "\($0) = \($1)" }
        return " OR \(parts.joined(separator: " AND "))"
      }
      return [
        "DELETE FROM \(relation.table) WHERE \(isOfNode.joined())"
          + "NOT (1 = 0\(isWanted.joined()))"
      ]
        + wanted.map {
          tables.inserting(
            "VALUES(\((source + $0).joined(separator: ", ")))", unlessIn: relation.table)
        }
    }
  }
}

extension PlacedGraph.Relation {
  /// What is written where it refers to nothing.
  fileprivate var nothing: JSON { none?.json ?? .null }
}
