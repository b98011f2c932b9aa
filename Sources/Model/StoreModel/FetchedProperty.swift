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
