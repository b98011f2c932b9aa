/// What the model says of all the edges of one name from one collection.
package struct Relationship: Hashable, Sendable {
  package var name: String
  /// A collection, or the name of a type within one.
  package var from: String
  package var to: Target
  package var place: Place
  package var toMany: Bool
  package var optional: Bool
  package var min: Int?
  package var max: Int?
  /// No two sources have the same destination.
  package var unique: Bool
  /// With the words of `deleteRule` and of the inverse already among them.
  package var rules: Rules
  package var inverse: Inverse?

  package enum Target: Hashable, Sendable {
    case collection(String)
    /// Polymorphic: what the type column may say, and the collection it stands for.
    case types([String: String])
    case files(root: String)

    /// Every collection that an edge may lead to, sorted; none for files.
    package var collections: [String] {
      switch self {
      case .collection(let name): [name]
      case .types(let map): Set(map.values).sorted()
      case .files: []
      }
    }
  }

  /// Where the edges live (DESIGN 4).
  package enum Place: Hashable, Sendable {
    case stored
    case column(String)
    case join(table: String, source: String, destination: String)
    case property(String)
    /// In a managed collection the two are properties.
    case polymorphic(column: String, typeColumn: String)
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

/// Core Data's words for what a deletion does to the other end (DESIGN 2.1).
package enum DeleteRule: String, Hashable, Sendable, CaseIterable {
  case cascade, deny, nullify, noAction

  /// What the deletion of the source does to the destination.
  package var ofSource: Rules {
    switch self {
    case .cascade: .deleteDestinationIfSourceDeleted
    case .deny: .denySourceDeletion
    case .nullify, .noAction: []
    }
  }

  /// As an inverse's rule: what the deletion of the destination does to the source.
  package var ofDestination: Rules {
    switch self {
    case .cascade: .deleteSourceIfDestinationDeleted
    case .deny: .denyDestinationDeletion
    case .nullify: .nullifySourceIfDestinationDeleted
    case .noAction: []
    }
  }
}
