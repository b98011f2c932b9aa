/// A weak, one-way relationship that is found by a query when somebody asks (DESIGN 11).
package struct FetchedProperty: Hashable, Sendable {
  /// The collection that is searched.
  package var from: String
  /// SQL. `$source.NAME` is a column or property of the node that has this property,
  /// `$property.NAME` one of `settings`; both are bound as values.
  package var condition: String
  package var order: String?
  package var limit: Int?
  package var settings: [String: Setting]
  /// Another store to search in; nil is the node's own.
  package var store: String?

  package enum Setting: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
  }
}

extension FetchedProperty {
  /// The condition, and the order if there is one, taken apart. They were legal when they were read.
  package func expressions() throws -> (condition: SQLExpression, order: SQLExpression?) {
    (try SQLExpression(condition), try order.map { text in try SQLExpression(text) })
  }
}
