internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadePlanning

/// What a fetched property searches for, and where.
struct PropertySearch {
  let target: FetchedSearch
  var property: FetchedProperty { target.property }
  var searched: String { target.searched }

  typealias Question = FetchQuestion<Value>

  init(_ target: FetchedSearch) { self.target = target }

  // MARK: - Places

  /// Where the nodes of a collection are.
  enum Location {
    case table(String, key: [String])
    case managed(type: String?)
  }

  var placeInOwnStore: Location {
    if case .mapped(let table, let key, _) = target.model.collections[property.from] {
      return .table(table, key: key)
    }
    return .managed(type: target.type)
  }

  /// If the model has the collection as a table, the other store is taken to have the same table.
  /// Otherwise the name is looked up there.
  func place(inOtherStore db: borrowing Connection) throws -> Location {
    if case .table(let table, let key) = placeInOwnStore { return .table(table, key: key) }
    if try db.hasManaged(searched) { return .managed(type: target.type) }
    let key = try db.primaryKey(ofTable: searched)
    if !key.isEmpty { return .table(searched, key: key) }
    let store = property.store ?? ""
    throw FetchError.unusable(
      "\(target.title): \(store) has no collection and no table with a primary key called \"\(searched)\""
    )
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
