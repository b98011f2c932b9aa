internal import Model
internal import SQLite

/// Edges as the rows of a query tell them.
extension Row {
  /// From the columns: name, source's collection and key, destination's collection and key,
  /// rules, origin.
  func edge(_ model: StoreModel) -> Edge {
    Edge(
      name: text(0), source: node(1, model), destination: destination(3, model),
      rules: Rules(rawValue: integer(5)), origin: Origin(rawValue: integer(6)) ?? .manual)
  }

  /// The end whose collection's name is in `column`, and whose key is in the next.
  func destination(_ column: Int32, _ model: StoreModel) -> Destination {
    let collection = text(column)
    if collection.hasPrefix(Destination.fileCollection) {
      return Destination(collection: collection, key: text(column + 1))
    }
    return .node(node(column, model))
  }

  /// From the columns: collection and key, name of the edge, other end's collection and key, rule.
  func step(_ model: StoreModel) -> Plan.Step {
    let rules = Rules(rawValue: integer(5))
    guard let name = optionalText(2), !isNull(3) else {
      return Plan.Step(node: node(0, model), edge: nil, rule: rules.names.first)
    }
    let goesWithSource = !rules.isDisjoint(with: .ofLostSource)
    let (end, other): (Int32, Int32) = goesWithSource ? (0, 3) : (3, 0)
    let edge = Edge(
      name: name, source: node(other, model), destination: destination(end, model), rules: rules,
      origin: .declared)
    return Plan.Step(node: node(0, model), edge: edge, rule: rules.names.first)
  }
}
