internal import CascadeModel
internal import CascadeSQLite

/// The statement of a search. Names come from the model and are quoted, the condition and order are
/// the model's, and everything else is bound: first the variables, then the values added here.
struct SearchQuery {
  private(set) var text = ""
  private(set) var values: [Value]
  private let condition: String
  private let order: String?

  init(_ search: PropertySearch, at place: PropertySearch.Location, _ variables: [Value]) throws {
    let (condition, order) = try search.property.expressions()
    var number = 0
    func next(_: SQLExpression.Variable) -> String {
      number += 1
      return "?\(number)"
    }
    self.condition = condition.text(replacing: next)
    self.order = order?.text(replacing: next)
    values = variables
    let alias = quoted(search.property.from)
    switch place {
    case .table(let table, let key): selectRows(of: table, key, alias)
    case .managed(let type): selectObjects(of: search.searched, type, alias)
    }
    text += " LIMIT \(bind(.integer(Int64(search.property.limit ?? -1))))"
  }

  private mutating func bind(_ value: Value) -> String {
    values.append(value)
    return "?\(values.count)"
  }

  /// Selects the key's columns, then all columns of the row. A row without a key is not a node.
  private mutating func selectRows(of table: String, _ key: [String], _ alias: String) {
    let key = key.map { "\(alias).\(quoted($0))" }
    let isNode = key.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    text = """
      SELECT \(key.joined(separator: ", ")), \(alias).* FROM main.\(quoted(table)) AS \(alias)
      WHERE \(isNode) AND (\(condition)) ORDER BY \(ordered(key))
      """
  }

  /// Selects key, type and value.
  private mutating func selectObjects(of collection: String, _ type: String?, _ alias: String) {
    let name = bind(.text(collection))
    let isOfType = type.map { " AND n.type = \(bind(.text($0)))" } ?? ""
    text = """
      SELECT \(alias).key, \(alias).type, \(alias).value
      FROM (
        SELECT n.key AS key, n.type AS type, n.value AS value FROM main.cascade_node AS n
        WHERE n.collection = (SELECT id FROM main.cascade_collection WHERE name = \(name))\(isOfType)
      ) AS \(alias)
      WHERE (\(condition)) ORDER BY \(ordered(["\(alias).key"]))
      """
  }

  /// Orders equal nodes by key, so that the same nodes always come in the same order.
  private func ordered(_ key: [String]) -> String {
    ((order.map { [$0] } ?? []) + key).joined(separator: ", ")
  }
}
