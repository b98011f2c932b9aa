extension Model {
  /// All values.
  public static var all: Query<Self> { Query() }

  /// The values that meet a condition.
  public static func `where`(_ condition: Condition<Self>) -> Query<Self> {
    Query().where(condition)
  }
}

/// A question for values of a model. It is asked by ``Snapshot/all(_:)``, ``Snapshot/count(_:)`` and
/// others.
public struct Query<M: Model>: Sendable {
  private var conditions: [SQL] = []
  private var order: [SQL] = []
  private var bounds: (limit: Int?, offset: Int) = (nil, 0)
  /// Further tables.
  private let join: SQL?

  init(join: SQL? = nil) { self.join = join }

  /// The values that also meet this condition.
  public func `where`(_ condition: Condition<M>) -> Query { adding(condition.sql) }

  /// Sorts by a property, after those that were named before.
  public func order<V: ColumnValue>(by path: KeyPath<M, V>, descending: Bool = false) -> Query {
    ordered(by: descending ? "\(M.sql(path)) DESC" : M.sql(path))
  }

  /// At most so many values.
  public func limit(_ count: Int) -> Query {
    var query = self
    query.bounds.limit = count
    return query
  }

  /// Leaves out the first values.
  public func offset(_ count: Int) -> Query {
    var query = self
    query.bounds.offset = count
    return query
  }

  func adding(_ condition: SQL) -> Query {
    var query = self
    query.conditions.append(condition)
    return query
  }

  func ordered(by sql: SQL) -> Query {
    var query = self
    query.order.append(sql)
    return query
  }
}

extension Query {
  /// The statement for the values.
  @usableFromInline var statement: SQLStatement { SQLStatement(select(M.sqlColumns())) }

  /// The statement for their number. Nothing is loaded.
  var count: SQL {
    if bounds.limit == nil && bounds.offset == 0 { return select("count(*)", isOrdered: false) }
    return "SELECT count(*) FROM (\(select("1")))"
  }

  /// `columns` may have others before those of the model.
  func select(_ columns: SQL, isOrdered: Bool = true) -> SQL {
    var sql: SQL = "SELECT \(columns) FROM \(M.sqlTable())"
    if let join { sql = "\(sql), \(join)" }
    let conditions = (M.sqlCondition().map { [$0] } ?? []) + conditions
    if !conditions.isEmpty { sql = "\(sql) WHERE \(conditions.joined(" AND "))" }
    if isOrdered && !order.isEmpty { sql = "\(sql) ORDER BY \(order.joined(", "))" }
    if bounds.limit != nil || bounds.offset > 0 {
      sql =
        "\(sql) LIMIT \(value: .integer(Int64(bounds.limit ?? -1))) OFFSET \(value: .integer(Int64(bounds.offset)))"
    }
    return sql
  }
}

/// A statement with its values, for code that is compiled into other modules.
@usableFromInline
struct SQLStatement: Sendable {
  let sql: SQL
  init(_ sql: SQL) { self.sql = sql }
}
