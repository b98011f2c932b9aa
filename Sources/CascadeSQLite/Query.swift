/// SQL text with the values that are bound to it.
///
/// A query is composed by interpolation: `\(bind: value)` writes a parameter and appends its value,
/// `\(query)` inserts another query with its values, and a plain text is inserted as SQL. So no
/// place counts parameters. Equal queries have equal texts, which is how statements are kept.
package struct Query: Hashable, Sendable {
  package private(set) var text: String
  package private(set) var values: [Value]

  package init(_ text: String, _ values: [Value] = []) { (self.text, self.values) = (text, values) }
}

extension Query: ExpressibleByStringInterpolation {
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var query = Query("")

    package init(literalCapacity: Int, interpolationCount: Int) {
      query.text.reserveCapacity(literalCapacity * 2)
    }

    package mutating func appendLiteral(_ literal: String) { query.text += literal }

    package mutating func appendInterpolation(_ sql: String) { query.text += sql }

    package mutating func appendInterpolation(_ number: some BinaryInteger) {
      query.text += String(number)
    }

    package mutating func appendInterpolation(_ other: Query) {
      query.text += other.text
      query.values += other.values
    }

    package mutating func appendInterpolation(bind value: Value) {
      query.text += "?"
      query.values.append(value)
    }

    package mutating func appendInterpolation(bind number: Int64) {
      appendInterpolation(bind: .integer(number))
    }
  }

  package init(stringLiteral text: String) { self.init(text) }

  package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.query }
}

extension Sequence<Query> {
  package func joined(separator: String) -> Query {
    let queries = Array(self)
    return Query(
      queries.map(\.text).joined(separator: separator), queries.flatMap(\.values))
  }
}

extension DefaultStringInterpolation {
  /// A text would lose the values of the query. Deprecated and not unavailable: the compiler would
  /// pass over a method that is unavailable, and take the general one.
  @available(*, deprecated, message: "interpolate a query into a query")
  package mutating func appendInterpolation(_ query: Query) {}
}

extension Connection {
  @_disfavoredOverload
  package func run(_ query: Query) throws(SQLiteError) {
    try run(generated: query.text, query.values)
  }

  @_disfavoredOverload
  package func all<T>(_ query: Query, as read: (Row) -> T) throws(SQLiteError) -> [T] {
    try all(generated: query.text, query.values, as: read)
  }

  @_disfavoredOverload
  package func integer(_ query: Query) throws(SQLiteError) -> Int64? {
    try integer(generated: query.text, query.values)
  }
}
