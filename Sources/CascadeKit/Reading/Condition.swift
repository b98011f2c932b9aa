/// A condition on the values of a model, as SQL evaluates it: a comparison with NULL is neither true
/// nor false, except `== nil` and `!= nil`.
public struct Condition<M: Model>: Sendable {
  let sql: SQL

  init(_ sql: SQL) { self.sql = sql }

  /// Both.
  public static func && (one: Condition, other: Condition) -> Condition {
    Condition("(\(one.sql) AND \(other.sql))")
  }

  /// At least one.
  public static func || (one: Condition, other: Condition) -> Condition {
    Condition("(\(one.sql) OR \(other.sql))")
  }

  /// Not.
  public static prefix func ! (condition: Condition) -> Condition {
    Condition("(NOT \(condition.sql))")
  }

  fileprivate init(_ path: PartialKeyPath<M>, _ comparison: SQL, _ value: SQLValue) {
    self.init("\(M.sql(path)) \(comparison) \(value: value)")
  }
}

extension Condition: ExpressibleByBooleanLiteral {
  /// Always or never true.
  public init(booleanLiteral value: Bool) { self.init(value ? "1" : "0") }
}

// MARK: - Comparisons

/// The property has this value; with nil, it has none.
public func == <M: Model, V: ColumnValue>(path: KeyPath<M, V>, value: V) -> Condition<M> {
  Condition(path, value.sqlValue == .null ? "IS" : "=", value.sqlValue)
}

/// The property has another value; with nil, it has any.
public func != <M: Model, V: ColumnValue>(path: KeyPath<M, V>, value: V) -> Condition<M> {
  Condition(path, value.sqlValue == .null ? "IS NOT" : "<>", value.sqlValue)
}

/// The property is less.
public func < <M: Model, V: ColumnValue>(path: KeyPath<M, V>, value: V) -> Condition<M> {
  Condition(path, "<", value.sqlValue)
}

/// The property is less or equal.
public func <= <M: Model, V: ColumnValue>(path: KeyPath<M, V>, value: V) -> Condition<M> {
  Condition(path, "<=", value.sqlValue)
}

/// The property is greater.
public func > <M: Model, V: ColumnValue>(path: KeyPath<M, V>, value: V) -> Condition<M> {
  Condition(path, ">", value.sqlValue)
}

/// The property is greater or equal.
public func >= <M: Model, V: ColumnValue>(path: KeyPath<M, V>, value: V) -> Condition<M> {
  Condition(path, ">=", value.sqlValue)
}

extension KeyPath where Root: Model, Value: ColumnValue {
  /// The property has one of these values.
  public func isIn(_ values: some Sequence<Value>) -> Condition<Root> {
    Condition("\(Root.sql(self)) IN (\(list: values.map(\.sqlValue)))")
  }

  /// The property matches a pattern of SQL, in which `%` stands for any text and `_` for a letter.
  public func isLike(_ pattern: String) -> Condition<Root> {
    Condition("\(Root.sql(self)) LIKE \(value: .text(pattern))")
  }
}
