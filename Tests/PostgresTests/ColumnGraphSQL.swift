import CascadeModel

/// The steps of a history as an application writes them.
extension ColumnGraph {
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
    for relation in relations where relation.from == node.collection {
      let nodes = references[relation.column] ?? []
      for member in members(relation, nodes) {
        names.append(member.name)
        values.append(relation.place == .array ? array(relation, nodes) : sql(member.value))
      }
    }
    let updates = names.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return """
      INSERT INTO "t \(node.collection)"(\(names.joined(separator: ", ")))
      VALUES(\(values.joined(separator: ", ")))
      ON CONFLICT(\(key.joined(separator: ", "))) DO UPDATE SET \(updates)
      """
  }

  private func sql(_ value: JSON) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .string(let text): "'\(text)'"
    default: "'\(value.text)'"
    }
  }

  private func array(_ relation: Relation, _ nodes: [Node]) -> String {
    let keys = nodes.map(\.key) + (relation.none.map { [$0] } ?? [])
    return keys.isEmpty ? "NULL" : "'{\(keys.map { $0.managedText! }.joined(separator: ",")),NULL}'"
  }

  /// Only what differs is written, as an application would.
  private func joins(_ relation: Relation, _ source: Node, _ wanted: [Node]) -> [String] {
    let from = columns("s", to: relation.from).joined(separator: ", ")
    let to = columns("d", to: relation.to).joined(separator: ", ")
    let source = values(source).joined(separator: ", ")
    let none = relation.none.map { [Node(relation.to, $0)] } ?? []
    let destinations = (wanted + none).map { "(\(values($0).joined(separator: ", ")))" }
    let others =
      destinations.isEmpty ? "" : " AND (\(to)) NOT IN (\(destinations.joined(separator: ", ")))"
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
