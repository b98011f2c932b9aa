/// A weak, one-way relationship that a query finds on request.
package struct FetchedProperty: Hashable, Sendable {
  /// The collection that is searched.
  package var from: String
  /// An SQL condition. `$source.NAME` is a column or property of the node that has this property,
  /// `$property.NAME` is one of `settings`. Both are bound as values.
  package var condition: String
  package var order: String?
  package var limit: Int?
  package var settings: [String: Setting]
  /// Another store to search; nil is the node's own store.
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
  /// The parsed condition and, if there is one, order. They were checked when the model was read.
  package func expressions() throws -> (condition: SQLExpression, order: SQLExpression?) {
    (try SQLExpression(condition), try order.map { text in try SQLExpression(text) })
  }
}
