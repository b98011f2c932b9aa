internal import CascadeModel
internal import CascadeSQLite

/// What a fetched property searches for, and where.
struct PropertySearch {
  let name: String
  /// The collection of the node that has the property.
  package let collection: String
  let property: FetchedProperty
  let timeLimit: Duration
  private let model: StoreModel

  /// Everything that the answer depends on, except for the searched store. Nodes that agree in
  /// whatever the property asks of them share the answer.
  struct Question: Hashable {
    let collection: String
    let name: String
    /// The values of the variables, in the order of the text.
    let values: [Value]
  }

  init(
    _ name: String, of collection: String, in model: StoreModel, timeLimit: Duration
  ) throws(FetchError) {
    let known = model.fetched[collection] ?? [:]
    guard let property = known[name] else {
      let problem = unknown("fetched property", name, among: known.keys.sorted())
      throw .noSuchProperty("\(collection): \(problem)")
    }
    self.name = name
    self.collection = collection
    self.property = property
    self.timeLimit = timeLimit
    self.model = model
  }

  /// For messages.
  var title: String { "fetched property \"\(name)\" of \(collection)" }

  // MARK: - Variables

  func question(from source: FetchSource) throws -> Question {
    let (condition, order) = try property.expressions()
    let variables = condition.variables + (order?.variables ?? [])
    let values = try variables.map { try value(of: $0, source) }
    return Question(collection: collection, name: name, values: values)
  }

  private func value(
    of variable: SQLExpression.Variable, _ source: FetchSource
  ) throws -> Value {
    let member = variable.member ?? ""
    if variable.base == "property" { return property.settings[member].map(Value.init) ?? .null }
    switch source.value(of: member) {
    case .found(let value): return value
    case .unknown(let columns):
      let problem = unknown("column", member, among: columns)
      throw FetchError.unusable("\(title) asks for $source.\(member): \(problem)")
    }
  }

  // MARK: - Places

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

  /// The collection that is searched. The model may have named a type within it.
  var searched: String { model.collection(of: property.from) }

  private var type: String? {
    guard case .managed(let types) = model.collections[searched] else { return nil }
    return types.first { $0.value == property.from }?.key
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
