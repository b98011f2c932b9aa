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
  /// What to look up in the store before the changes are sent.
  private var lookups: [Lookup] = []
  /// Whether nodes may be deleted by the very change that writes them, where it does not say so.
  private var mayDeleteItself = false

  /// Begins a transaction. ``Store/write(by:timeout:_:)`` does this by itself.
  public init(id: UUIDv7 = UUIDv7()) { self.id = id }

  /// With changes that were written as JSON.
  package init(written changes: [JSON]) {
    id = UUIDv7()
    self.changes = changes
    mayDeleteItself = true
  }

  /// Whether there are no changes.
  public var isEmpty: Bool { changes.isEmpty }

  mutating func add(_ fields: [JSON.Field], _ node: NodeName? = nil, mayDeleteItself: Bool = false)
  {
    let allowed = mayDeleteItself ? [JSON.Field("mayDeleteItself", true)] : []
    changes.append(.object(fields + allowed))
    if let node { nodes.append(node) }
  }
}

// MARK: - What is stored now

/// Completes a change by what the store has of its node.
struct Lookup: Sendable {
  /// Which change it is.
  let index: Int
  let complete: @Sendable (JSON, borrowing Snapshot) throws -> JSON
}

extension Transaction {
  var needsLookup: Bool { !lookups.isEmpty }

  /// The same changes, completed by one state of the store.
  func completed(by snapshot: borrowing Snapshot) throws -> Transaction {
    var transaction = self
    for lookup in lookups {
      transaction.changes[lookup.index] = try lookup.complete(changes[lookup.index], snapshot)
    }
    transaction.lookups = []
    return transaction
  }

  /// Completes the last change later.
  private mutating func lookUp(
    _ complete: @escaping @Sendable (JSON, borrowing Snapshot) throws -> JSON
  ) {
    lookups.append(Lookup(index: changes.count - 1, complete: complete))
  }
}

// MARK: - Values

extension Transaction {
  /// Inserts a value, or replaces the one with its identity, and returns it as
  /// ``Model/willWrite(_:)`` made it. It may name values that are put later.
  ///
  /// Of a row that is there, only columns are written that have another value; those that the model
  /// does not have stay as they are.
  ///
  /// - Parameters:
  ///   - model: The value.
  ///   - mayDeleteItself: Whether the value may be deleted at once, by the rule of a reference of its
  ///     own that leads nowhere. Otherwise that throws ``WriteError/deletesItself(_:)``.
  @discardableResult
  public mutating func put<M: Model>(_ model: M, mayDeleteItself: Bool = false) throws -> M {
    var model = model
    try model.willWrite(.put)
    let node = M.node(model.id)
    var change = [JSON.Field("put", node.json)]
    if let type = M.collection.type { change.append(JSON.Field("type", .string(type))) }
    change.append(JSON.Field("value", .object(model.members)))
    if M.collection.table != nil { change.append(JSON.Field("merge", true)) }
    if model.edges != Edge.undeclared {
      change.append(JSON.Field("edges", .array(model.edges.map(\.json))))
    }
    add(change, node, mayDeleteItself: mayDeleteItself)
    if M.mayReadOtherwise { lookUp { [model] in model.asStored($0, $1) } }
    hooks.append { [model] in model.didWrite(.put, $0) }
    return model
  }

  /// Changes a value by a draft of it, and returns the result. Only what `body` changed is written,
  /// so what others changed meanwhile stays.
  ///
  /// - Parameters:
  ///   - model: The value as it was read.
  ///   - ifUnchanged: Whether it must still be stored so. Otherwise the write throws
  ///     ``WriteError/changed(_:)``, and nothing of it takes effect.
  ///   - mayDeleteItself: As for ``put(_:mayDeleteItself:)``.
  ///   - body: Makes the changes.
  @discardableResult
  public mutating func edit<M: Model>(
    _ model: M, ifUnchanged: Bool = false, mayDeleteItself: Bool = false,
    _ body: (inout Draft<M>) throws -> Void
  ) throws -> M {
    var draft = model.draft
    try body(&draft)
    return try patch(draft, ifUnchanged: ifUnchanged, mayDeleteItself: mayDeleteItself)
  }

  /// Writes what a draft changed, and returns the result. A draft without changes writes nothing.
  ///
  /// - Parameters:
  ///   - draft: The changed value, and the value as it was read.
  ///   - ifUnchanged: As for ``edit(_:ifUnchanged:mayDeleteItself:_:)``.
  ///   - mayDeleteItself: As for ``put(_:mayDeleteItself:)``.
  @discardableResult
  public mutating func patch<M: Model>(
    _ draft: Draft<M>, ifUnchanged: Bool = false, mayDeleteItself: Bool = false
  ) throws -> M {
    var draft = draft
    if !draft.hasChanges { return draft.value }
    try draft.value.willWrite(.patch)
    guard let change = draft.patch else { return draft.value }
    let expected = ifUnchanged ? [draft.original.expected] : []
    add(change + expected, M.node(draft.original.id), mayDeleteItself: mayDeleteItself)
    if ifUnchanged { lookUp { [model = draft.original] in try model.asRead($0, $1) } }
    hooks.append { [value = draft.value] in value.didWrite(.patch, $0) }
    return draft.value
  }

  /// Deletes a value. Its hooks are called.
  ///
  /// - Parameters:
  ///   - model: The value as it was read.
  ///   - ifUnchanged: As for ``edit(_:ifUnchanged:mayDeleteItself:_:)``.
  public mutating func delete<M: Model>(_ model: M, ifUnchanged: Bool = false) throws {
    var written = model
    try written.willWrite(.delete)
    let expected = ifUnchanged ? [model.expected] : []
    add([JSON.Field("delete", M.node(model.id).json)] + expected, M.node(model.id))
    if ifUnchanged { lookUp { try model.asRead($0, $1) } }
    hooks.append { [written] in written.didWrite(.delete, $0) }
  }

  /// Deletes the value with an identity. If there is none, the receipt counts that.
  public mutating func delete<M: Model>(_ id: ID<M>) {
    add([JSON.Field("delete", M.node(id).json)], M.node(id))
  }

  /// Deletes all values of a collection, whatever their type.
  public mutating func deleteAll<M: Model>(_ model: M.Type) {
    add([JSON.Field("deleteAll", .string(M.collection.name))])
  }
}

extension Draft {
  /// The change; nil if nothing differs. An object loses a property that is nil now.
  fileprivate var patch: [JSON.Field]? {
    let row = value.stored
    let changes = changes
    if changes.isEmpty { return nil }
    let isObject = M.collection.table == nil
    let unset = changes.filter { isObject && row.values[$0] == .null }
    let set = changes.filter { !unset.contains($0) }
      .map { JSON.Field(M.columns.all[$0].column, row.json($0, of: M.self)) }
    var change = [JSON.Field("patch", M.node(original.id).json), JSON.Field("set", .object(set))]
    if !unset.isEmpty {
      let names = unset.map { JSON.string(M.columns.all[$0].column) }
      change.append(JSON.Field("unset", .array(names)))
    }
    return change
  }
}

// MARK: - As a file

extension Transaction {
  /// The change file. The same transaction has the same bytes each time.
  package func file(author: String?) -> [UInt8] {
    var fields = [JSON.Field("id", .string(id.description))]
    if let author { fields.append(JSON.Field("author", .string(author))) }
    if !mayDeleteItself { fields.append(JSON.Field("mayDeleteItself", false)) }
    fields.append(JSON.Field("changes", .array(changes)))
    return JSON.object(fields).utf8
  }
}
