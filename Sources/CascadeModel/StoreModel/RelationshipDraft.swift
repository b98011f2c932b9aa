/// One relationship as it is written. Its rules are not combined and its inverse is not checked
/// yet.
struct RelationshipDraft {
  let fields: Fields
  var value: Relationship
  /// The rules listed in `rules`.
  var rules: Rules
  var deleteRule: DeleteRule?
  var inverse: InverseDraft?

  var collections: [String] { value.to.collections }

  /// How messages name it.
  var title: String { "\"\(value.name)\" of \"\(value.from)\"" }
}

struct InverseDraft {
  let entry: ModelValue
  let name: String
  var deleteRule: DeleteRule?
  var bounds = Bounds()
}

/// How many edges there may be. Nil means that it was not written.
struct Bounds {
  var toMany: Bool?
  var optional: Bool?
  var min: Int?
  var max: Int?

  init() {}

  init(_ fields: Fields) {
    toMany = fields["toMany"]?.bool()
    optional = fields["optional"]?.bool()
    min = fields["min"]?.integer(atLeast: 0)
    max = fields["max"]?.integer(atLeast: 1)
    if let min, let max, min > max {
      fields["min"]?.addProblem("min \(min) is more than max \(max)")
    }
  }

  init(_ relationship: Relationship) {
    toMany = relationship.toMany
    optional = relationship.optional
    min = relationship.min
    max = relationship.max
  }

  /// Refuses bounds that a to-one relationship cannot have. Call it only for one.
  func checkToOne(_ fields: Fields) {
    for (key, bound) in [("min", min), ("max", max)] {
      guard let bound, bound > 1 else { continue }
      fields[key]?.addProblem("a to-one relationship has no \(key) of \(bound); is toMany missing?")
    }
  }
}
