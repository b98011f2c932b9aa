internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine

/// Where a fetched property searches, and with which statement.
extension FetchedSearch {
  /// Where the nodes of a collection are.
  enum Location {
    case table(String, key: [String])
    case managed(type: String?)
  }

  var placeInOwnStore: Location {
    if case .mapped(let table, let key, _) = model.collections[property.from] {
      return .table(table, key: key)
    }
    return .managed(type: type)
  }

  /// If the model has the collection as a table, the other store is taken to have the same table.
  /// Otherwise the name is looked up there.
  func place(inOtherStore db: borrowing Connection) throws -> Location {
    if case .table(let table, let key) = placeInOwnStore { return .table(table, key: key) }
    if try db.hasManaged(searched) { return .managed(type: type) }
    let key = try db.primaryKey(ofTable: searched)
    if !key.isEmpty { return .table(searched, key: key) }
    let store = property.store ?? ""
    throw FetchError.unusable(
      "\(title): \(store) has no collection and no table with a primary key called \"\(searched)\"")
  }

  /// Names come from the model and are quoted, the condition and order are the model's, and
  /// everything else is bound: first the variables, then the values added here.
  ///
  /// Of a table, it selects the key's columns, then all columns of the row: a row without a key is
  /// not a node. Of managed nodes, it selects key, type and value.
  func query(at place: Location, _ variables: [Value]) throws -> Query {
    let (condition, order) = try property.expressions()
    var number = 0
    func next(_: SQLExpression.Variable) -> String {
      number += 1
      return "?\(number)"
    }
    let isFound = condition.text(replacing: next)
    let ordered = order.map { [$0.text(replacing: next)] } ?? []
    var values = variables
    func bind(_ value: Value) -> String {
      values.append(value)
      return "?\(values.count)"
    }
    let alias = quoted(property.from)
    let (rows, key, columns): (String, [String], String)
    switch place {
    case .table(let table, let names):
      (rows, columns) = ("main.\(quoted(table))", "*")
      key = names.map { "\(alias).\(quoted($0))" }
    case .managed(let type):
      let isOfType = type.map { " AND n.type = \(bind(.text($0)))" } ?? ""
      rows = """
        (SELECT n.key AS key, n.type AS type, n.value AS value FROM main.cascade_node AS n
          WHERE n.collection = (
            SELECT id FROM main.cascade_collection WHERE name = \(bind(.text(searched))))\(isOfType))
        """
      (key, columns) = (["\(alias).key"], "type, \(alias).value")
    }
    // Equal nodes come in the order of their keys, so that they always come in the same order.
    return Query(
      """
      SELECT \(key.joined(separator: ", ")), \(alias).\(columns) FROM \(rows) AS \(alias)
      WHERE \(key.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) AND (\(isFound))
      ORDER BY \((ordered + key).joined(separator: ", "))
      LIMIT \(bind(.integer(Int64(property.limit ?? -1))))
      """, values)
  }
}

extension Value {
  init(_ setting: FetchedProperty.Setting) {
    switch setting {
    case .null: self = .null
    case .bool(let value): self = .integer(value ? 1 : 0)
    case .integer(let value): self = .integer(value)
    case .number(let value): self = .real(value)
    case .text(let value): self = .text(value)
    }
  }
}

extension Connection {
  fileprivate func hasManaged(_ collection: String) throws(SQLiteError) -> Bool {
    let table = try integer("SELECT 1 FROM sqlite_schema WHERE name = 'cascade_collection'")
    if table == nil { return false }
    return try integer("SELECT 1 FROM cascade_collection WHERE name = ?", .text(collection)) != nil
  }

  /// The key's columns in their order; empty if there is no such table, or no primary key.
  fileprivate func primaryKey(ofTable table: String) throws(SQLiteError) -> [String] {
    try all("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", .text(table)) {
      $0.text(0)
    }
  }
}
