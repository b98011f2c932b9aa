package import CascadeModel
package import CascadeStore

/// What a fetched property searches for.
package struct FetchedSearch {
  package let name: String
  /// The collection of the node that has the property.
  package let collection: String
  package let property: FetchedProperty
  package let timeLimit: Duration
  package let model: StoreModel

  package init(
    _ name: String, of collection: String, in model: StoreModel, timeLimit: Duration
  ) throws(FetchError) {
    let known = model.fetched[collection] ?? [:]
    guard let property = known[name] else {
      let problem = unknown("fetched property", name, among: known.keys.sorted())
      throw .noSuchProperty("\(collection): \(problem)")
    }
    (self.name, self.collection, self.property) = (name, collection, property)
    (self.timeLimit, self.model) = (timeLimit, model)
  }

  /// For messages.
  package var title: String { "fetched property \"\(name)\" of \(collection)" }

  /// The collection that is searched. The model may have named a type within it.
  package var searched: String { model.collection(of: property.from) }

  /// The type that is searched; nil: all of the collection.
  package var type: String? {
    guard case .managed(let types) = model.collections[searched] else { return nil }
    return types.first { $0.value == property.from }?.key
  }

  // MARK: - What it asks

  /// `setting` makes a value of a setting of the property.
  package func question<Value: Hashable>(
    from source: FetchSource<Value>, null: Value, setting: (FetchedProperty.Setting) -> Value
  ) throws -> FetchQuestion<Value> {
    let (condition, order) = try property.expressions()
    let values = try (condition.variables + (order?.variables ?? [])).map { variable in
      let name = variable.member ?? ""
      if variable.base == "property" { return property.settings[name].map(setting) ?? null }
      return try source.value(of: name) ?? source.valueOfNone(named: name, null, self)
    }
    return FetchQuestion(collection: collection, name: self.name, values: values)
  }

  // MARK: - What goes wrong

  package func askingFor(_ column: String, among columns: [String]) -> FetchError {
    .unusable("\(title) asks for $source.\(column): \(unknown("column", column, among: columns))")
  }

  package func tooLong(in place: String = "") -> FetchError {
    .unavailable("\(title) took longer than \(timeLimit)\(place)")
  }

  package func wrong(_ message: String, in place: String = "") -> FetchError {
    .unusable("\(title) cannot be evaluated\(place): \(message)")
  }

  package var findsTooMuch: FetchError {
    .unusable("\(title) finds too much to keep in memory: give it a \"limit\"")
  }
}

/// The node that has the property. It answers `$source.NAME`.
package struct FetchSource<Value> {
  private let members: [(name: String, value: Value)]
  /// Values that every node has, used if no member has the name.
  private let own: [String: Value]
  /// A row has a fixed set of columns; an object may have any member.
  private let isRow: Bool

  package init(_ members: [(name: String, value: Value)], own: [String: Value], isRow: Bool) {
    (self.members, self.own, self.isRow) = (members, own, isRow)
  }

  fileprivate func value(of name: String) -> Value? {
    let member = members.first { isRow ? $0.name.folded == name.folded : $0.name == name }
    return member?.value ?? own[name]
  }

  fileprivate func valueOfNone(
    named name: String, _ null: Value, _ search: FetchedSearch
  ) throws -> Value {
    if isRow { throw search.askingFor(name, among: members.map(\.name)) }
    return null
  }
}

/// Everything that the answer depends on, except for the searched store. Nodes that agree in
/// whatever the property asks of them share the answer.
package struct FetchQuestion<Value: Hashable>: Hashable {
  let collection: String
  let name: String
  /// The values of the variables, in the order of the text.
  package let values: [Value]
}
