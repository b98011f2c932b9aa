extension StoreModel {
  /// What is legal in a model but not served yet. Judging a file passes it; running refuses it,
  /// because rules that are believed to hold and do not are worse than none.
  package var unsupported: [ModelProblem] {
    unservedCollections + unservedPlaces
  }

  private var unservedCollections: [ModelProblem] {
    collections.keys.sorted().compactMap { name in
      guard case .mapped = collections[name] else { return nil }
      return ModelProblem(
        path: Entry.path("collections", name) + ".table",
        message: "tables of the application are not served yet")
    }
  }

  private var unservedPlaces: [ModelProblem] {
    relationships.enumerated().compactMap { index, relationship in
      guard let (key, what) = relationship.place.unserved, !isServed(relationship) else {
        return nil
      }
      return ModelProblem(
        path: "relationships[\(index)].\(key)", message: "\(what) are not served yet")
    }
  }

  /// References in the values of managed objects.
  private func isServed(_ relationship: Relationship) -> Bool {
    switch relationship.place {
    case .property, .polymorphic: isManaged(relationship.from)
    case .stored, .column, .join: false
    }
  }
}

extension Relationship.Place {
  fileprivate var unserved: (key: String, what: String)? {
    switch self {
    case .stored: nil
    case .column: ("column", "references in columns")
    case .join: ("join", "join tables")
    case .property: ("property", "references in properties of a table's rows")
    case .polymorphic: ("typeColumn", "polymorphic references in tables")
    }
  }
}
