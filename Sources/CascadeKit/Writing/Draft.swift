internal import CascadeModel

/// A value that is being changed. What differs from the original is what is written.
@dynamicMemberLookup
public struct Draft<M: Model>: Sendable {
  /// The value as it was.
  public let original: M
  /// The value as it is now.
  public internal(set) var value: M

  /// Begins with a value as it is stored.
  public init(_ original: M) {
    self.original = original
    value = original
  }

  /// A property of the value.
  public subscript<V>(dynamicMember path: WritableKeyPath<M, V>) -> V {
    get { value[keyPath: path] }
    set { value[keyPath: path] = newValue }
  }

  /// The names of the properties that differ from the original. One that was changed back does not.
  public var changedProperties: [String] { changes.map { M.columns.all[$0].name } }

  /// Whether any property differs from the original.
  public var hasChanges: Bool { !changes.isEmpty }

  /// The places of the properties that differ.
  var changes: [Int] {
    let (old, new) = (original.stored.values, value.stored.values)
    return new.indices.filter { old[$0] != new[$0] }
  }
}

extension Model {
  /// A copy to change. The value itself stays as it is.
  public var draft: Draft<Self> { Draft(self) }
}
