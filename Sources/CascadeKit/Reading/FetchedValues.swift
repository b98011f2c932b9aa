internal import CascadeModel

extension Snapshot {
  /// The values of a fetched property. A result is kept until any process commits to the store;
  /// `refresh` searches again.
  public func get<S: Model, T: Model>(
    _ property: FetchedFrom<S, T>, of source: S, refresh: Bool = false
  ) throws(ReadError) -> [T] {
    if let path = property.store {
      let other = Snapshot(try ReadConnection(path: path))
      return try other.find(property.query(of: source))
    }
    let sql = try property.query(of: source)
    if !isOwn { return try find(sql) }
    let version = try connection.dataVersion
    let known = refresh ? nil : connection.fetched.result(of: sql, T.self, asOf: version)
    if let known { return known }
    let found: [T] = try find(sql)
    connection.fetched.keep(found, of: sql, asOf: version)
    return found
  }

  private func find<M: Model>(_ sql: SQL) throws(ReadError) -> [M] {
    let rows = try rows(SQLStatement(sql), of: M.self)
    var result: [M] = []
    while try rows.next() { result.append(try M(row: rows.row)) }
    return result
  }
}

/// Results of fetched properties, valid for one state of the store.
struct FetchedCache {
  private struct Question: Hashable {
    let text: String
    let values: [SQLValue]
    let model: ObjectIdentifier
  }

  private var version: Int?
  private var results: [Question: any Sendable] = [:]

  private static let mostResults = 1_000

  func result<M: Model>(of sql: SQL, _ model: M.Type, asOf version: Int) -> [M]? {
    version == self.version ? results[question(sql, model)] as? [M] : nil
  }

  mutating func keep<M: Model>(_ result: [M], of sql: SQL, asOf version: Int) {
    if version != self.version || results.count >= FetchedCache.mostResults { results = [:] }
    self.version = version
    results[question(sql, M.self)] = result
  }

  private func question<M: Model>(_ sql: SQL, _ model: M.Type) -> Question {
    Question(text: sql.text, values: sql.values, model: ObjectIdentifier(model))
  }
}

extension FetchedFrom {
  /// The query, with values bound in place of `$source` and `$property`.
  fileprivate func query(of source: Source) throws(ReadError) -> SQL {
    let stored = source.stored.values
    let condition = try bound(self.condition, source, stored)
    // In the model file the name of the collection stands for the node.
    let t: SQL = "\(name: Target.label)"
    let conditions = [Target.sqlCondition(t), "(\(condition))"].compactMap(\.self)
    var sql: SQL =
      "SELECT \(Target.sqlColumns(t)) FROM \(Target.sqlTable(t)) WHERE \(conditions.joined(" AND "))"
    let key: SQL =
      Target.collection.table == nil ? "\(t).key" : "\(t).\(name: Target.collection.key)"
    let order = try self.order.map { (text) throws(ReadError) in
      "\(try bound(text, source, stored)), \(key)" as SQL
    }
    sql = "\(sql) ORDER BY \(order ?? key)"
    if let limit { sql = "\(sql) LIMIT \(value: .integer(Int64(limit)))" }
    return sql
  }

  private func bound(
    _ text: String, _ source: Source, _ stored: [SQLValue]
  ) throws(ReadError) -> SQL {
    guard let expression = try? SQLExpression(text) else {
      throw .impossible("\(name): \"\(text)\" is no expression")
    }
    var values: [SQLValue] = []
    var variables = expression.variables[...]
    let sql = expression.text { _ in
      values.append(value(of: variables.removeFirst(), source, stored))
      return "?"
    }
    return SQL(written: sql, values)
  }

  private func value(
    of variable: SQLExpression.Variable, _ source: Source, _ stored: [SQLValue]
  ) -> SQLValue {
    let member = variable.member ?? ""
    if variable.base == "property" { return settings[member] ?? .null }
    let index = Source.columns.all.firstIndex { $0.column == member || $0.name == member }
    if let index { return stored[index] }
    switch member {
    case "key": return source.id.sqlValue
    case "type": return Source.collection.type.map(SQLValue.text) ?? .null
    default: return .null
    }
  }
}
