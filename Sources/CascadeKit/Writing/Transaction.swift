package import CascadeModel

/// The changes of one write: all of them take effect, or none. They apply in the order in which they
/// are made, and the rules run at the end.
public struct Transaction: Sendable {
  /// The id of the change file. A write that is sent again under the same id takes effect once.
  public let id: UUIDv7
  private(set) var changes: [JSON] = []
  /// What to call when the changes have taken effect.
  private(set) var hooks: [@Sendable (Receipt) -> Void] = []
  /// The nodes that a change names.
  public private(set) var nodes: [NodeName] = []

  /// Begins a transaction. ``Store/write(by:timeout:_:)`` does this by itself.
  public init(id: UUIDv7 = UUIDv7()) { self.id = id }

  /// With changes that were written as JSON.
  package init(written changes: [JSON]) {
    id = UUIDv7()
    self.changes = changes
  }

  /// Whether there are no changes.
  public var isEmpty: Bool { changes.isEmpty }

  private mutating func add(_ change: JSON, _ node: NodeName? = nil) {
    changes.append(change)
    if let node { nodes.append(node) }
  }
}

// MARK: - Values

extension Transaction {
  /// Inserts a value, or replaces the one with its identity. It may name values that are put later.
  public mutating func put<M: Model>(_ model: M) throws {
    var model = model
    try model.willWrite(.put)
    let node = M.node(model.id)
    var change = [JSON.Field("put", node.json)]
    if let type = M.collection.type { change.append(JSON.Field("type", .string(type))) }
    change.append(JSON.Field("value", .object(model.members)))
    if model.edges != Edge.undeclared {
      change.append(JSON.Field("edges", .array(model.edges.map(\.json))))
    }
    add(.object(change), node)
    hooks.append { [model] in model.didWrite(.put, $0) }
  }

  /// Changes a value by a draft of it, and returns the result. Only what `body` changed is written,
  /// so what others changed meanwhile stays.
  @discardableResult
  public mutating func edit<M: Model>(
    _ model: M, _ body: (inout Draft<M>) throws -> Void
  ) throws -> M {
    var draft = model.draft
    try body(&draft)
    return try patch(draft)
  }

  /// Writes what a draft changed, and returns the result. A draft without changes writes nothing.
  @discardableResult
  public mutating func patch<M: Model>(_ draft: Draft<M>) throws -> M {
    var draft = draft
    if !draft.hasChanges { return draft.value }
    try draft.value.willWrite(.patch)
    guard let change = draft.patch else { return draft.value }
    add(change, M.node(draft.original.id))
    hooks.append { [value = draft.value] in value.didWrite(.patch, $0) }
    return draft.value
  }

  /// Deletes a value. Its hooks are called.
  public mutating func delete<M: Model>(_ model: M) throws {
    var model = model
    try model.willWrite(.delete)
    delete(model.id)
    hooks.append { [model] in model.didWrite(.delete, $0) }
  }

  /// Deletes the value with an identity. If there is none, the receipt counts that.
  public mutating func delete<M: Model>(_ id: ID<M>) {
    add(["delete": M.node(id).json], M.node(id))
  }

  /// Deletes all values of a collection, whatever their type.
  public mutating func deleteAll<M: Model>(_ model: M.Type) {
    add(["deleteAll": .string(M.collection.name)])
  }
}

extension Model {
  /// The members of a change. The key is not among them, and an object has no member that is NULL.
  fileprivate var members: [JSON.Field] {
    let row = stored
    return row.values.indices.compactMap { index in
      let column = Self.columns.all[index].column
      if column == Self.collection.key { return nil }
      if Self.collection.table == nil && row.values[index] == .null { return nil }
      return JSON.Field(column, row.json(index))
    }
  }
}

extension RowValues {
  fileprivate func json(_ index: Int) -> JSON {
    if isJSON(index), case .text(let text) = values[index], let json = try? JSON.parse(text) {
      return json
    }
    return values[index].json
  }
}

extension Draft {
  /// The change; nil if nothing differs. An object loses a property that is nil now.
  fileprivate var patch: JSON? {
    let row = value.stored
    let changes = changes
    if changes.isEmpty { return nil }
    let isObject = M.collection.table == nil
    let unset = changes.filter { isObject && row.values[$0] == .null }
    let set = changes.filter { !unset.contains($0) }
      .map { JSON.Field(M.columns.all[$0].column, row.json($0)) }
    var change = [JSON.Field("patch", M.node(original.id).json), JSON.Field("set", .object(set))]
    if !unset.isEmpty {
      let names = unset.map { JSON.string(M.columns.all[$0].column) }
      change.append(JSON.Field("unset", .array(names)))
    }
    return .object(change)
  }
}

// MARK: - Edges

/// What an edge that is removed by hand counts as.
public enum EdgeRemoval: String, Hashable, Sendable {
  /// As if the source had been deleted.
  case sourceDeleted
  /// As if the destination had been deleted.
  case destinationDeleted
  /// No rule runs.
  case edgeDeleted
}

extension Transaction {
  /// Adds an edge by hand. The same edge again replaces its rules.
  ///
  /// - Parameters:
  ///   - relationship: The relationship, which gives the edge its name.
  ///   - source: The node that the edge begins at.
  ///   - destination: The node that it leads to.
  ///   - rules: The rules; those of the relationship if there are none.
  public mutating func link<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, [D]>, from source: ID<S>, to destination: ID<D>,
    rules: Rules? = nil
  ) {
    var fields = relationship.edge(source, destination)
    fields.append(JSON.Field("rules", (rules ?? relationship.rules).json))
    add(["link": .object(fields)])
  }

  /// Removes an edge that was added by hand. If there is none, the receipt counts that.
  ///
  /// - Parameters:
  ///   - relationship: The relationship, which gives the edge its name.
  ///   - source: The node that the edge begins at.
  ///   - destination: The node that it leads to.
  ///   - removal: Which rules run.
  public mutating func unlink<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, [D]>, from source: ID<S>, to destination: ID<D>,
    as removal: EdgeRemoval = .sourceDeleted
  ) {
    let edge = JSON.object(relationship.edge(source, destination))
    add(["unlink": edge, "as": .string(removal.rawValue)])
  }

  /// Runs the rules now, and not only at the end.
  public mutating func flush() { add(["flush": true]) }
}

extension RelationshipFrom {
  fileprivate func edge<D: Model>(_ source: ID<Source>, _ destination: ID<D>) -> [JSON.Field]
  where Target == [D] {
    [
      JSON.Field("name", .string(name)), JSON.Field("from", Source.node(source).json),
      JSON.Field("to", D.node(destination).json),
    ]
  }
}

// MARK: - As a file

extension Transaction {
  /// The change file. The same transaction has the same bytes each time.
  package func file(author: String?) -> [UInt8] {
    var fields = [JSON.Field("id", .string(id.description))]
    if let author { fields.append(JSON.Field("author", .string(author))) }
    fields.append(JSON.Field("changes", .array(changes)))
    return JSON.object(fields).utf8
  }
}
