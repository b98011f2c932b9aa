/// What the model declares about all edges of one name from one collection.
package struct Relationship: Hashable, Sendable {
  package var name: String
  /// A collection, or the name of a type within one.
  package var from: String
  package var to: Target
  package var edgeStorage: EdgeStorage
  package var toMany: Bool
  package var optional: Bool
  package var min: Int?
  package var max: Int?
  /// Whether no two sources may have the same destination.
  package var unique: Bool
  /// Values that refer to nothing, beside null.
  package var none: [Key] = []
  /// Includes the rules that follow from `deleteRule` and from the inverse.
  package var rules: Rules
  package var inverse: Inverse?
  /// What it was called before.
  package var was: String?

  package enum Target: Hashable, Sendable {
    case collection(String)
    /// Polymorphic: maps the values of the type column to collections.
    case types([String: String])
    /// Any of these collections: those that have the key. No type says which.
    case either([String])
    case files(root: String)

    /// Every collection that an edge may lead to, sorted; empty for files.
    package var collections: [String] {
      switch self {
      case .collection(let name): [name]
      case .types(let map): Set(map.values).sorted()
      case .either(let names): names.sorted()
      case .files: []
      }
    }

    /// The root of files; nil if edges lead to nodes.
    package var root: String? { if case .files(let root) = self { root } else { nil } }

    package var isEither: Bool { if case .either = self { true } else { false } }
  }

  /// Where the edges are stored.
  package enum EdgeStorage: Hashable, Sendable {
    case stored
    /// Columns, in the order of the key that they refer to.
    case column([String])
    case join(table: String, source: [String], destination: [String])
    case property(String)
    /// In a managed collection, both are properties.
    case polymorphic(column: [String], typeColumn: String)

    package var isJoin: Bool { if case .join = self { true } else { false } }

    /// The columns of the reference in a row of the source.
    package var columns: [String] {
      switch self {
      case .column(let columns), .polymorphic(let columns, _): columns
      case .stored, .join, .property: []
      }
    }
  }

  /// The same edges, seen from their destination.
  package struct Inverse: Hashable, Sendable {
    package var name: String
    package var toMany: Bool
    package var optional: Bool
    package var min: Int?
    package var max: Int?
  }
}

/// Core Data's words for what a deletion does to the other end.
package enum DeleteRule: String, Hashable, Sendable, CaseIterable {
  case cascade, deny, nullify, noAction

  /// The rules for the destination when the source is deleted.
  package var ofSource: Rules {
    switch self {
    case .cascade: .deleteDestinationIfSourceDeleted
    case .deny: .denySourceDeletion
    case .nullify, .noAction: []
    }
  }

  /// The rules for the source when the destination is deleted, if this is the inverse's rule.
  package var ofDestination: Rules {
    switch self {
    case .cascade: .deleteSourceIfDestinationDeleted
    case .deny: .denyDestinationDeletion
    case .nullify: .nullifySourceIfDestinationDeleted
    case .noAction: []
    }
  }
}
