internal import CascadeStore
internal import CascadeModel
internal import CascadePlanning
internal import CascadeSQLite

/// What a fetched property searches for, and where.
struct PropertySearch {
  let target: FetchedSearch
  var property: FetchedProperty { target.property }
  var searched: String { target.searched }

  /// Everything that the answer depends on, except for the searched store. Nodes that agree in
  /// whatever the property asks of them share the answer.
  struct Question: Hashable {
    let collection: String
    let name: String
    /// The values of the variables, in the order of the text.
    let values: [Value]
  }

  init(_ target: FetchedSearch) { self.target = target }

  // MARK: - Variables

  func question(from source: FetchSource) throws -> Question {
    let (condition, order) = try property.expressions()
    let variables = condition.variables + (order?.variables ?? [])
    let values = try variables.map { try value(of: $0, source) }
    return Question(collection: target.collection, name: target.name, values: values)
  }

  private func value(
    of variable: SQLExpression.Variable, _ source: FetchSource
  ) throws -> Value {
    let member = variable.member ?? ""
    if variable.base == "property" { return property.settings[member].map(Value.init) ?? .null }
    switch source.value(of: member) {
    case .found(let value): return value
    case .unknown(let columns): throw target.askingFor(member, among: columns)
    }
  }

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
  fileprivate init(_ setting: FetchedProperty.Setting) {
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
