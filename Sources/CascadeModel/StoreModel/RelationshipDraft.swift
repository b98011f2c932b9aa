/// One relationship as it was written: its rules are not folded yet, nor its inverse judged.
struct RelationshipDraft {
  let fields: Fields
  var value: Relationship
  /// The names in `rules`.
  var rules: Rules
  var deleteRule: DeleteRule?
  var inverse: InverseDraft?

  var collections: [String] { value.to.collections }

  /// How messages call it.
  var title: String { "\"\(value.name)\" of \"\(value.from)\"" }
}

struct InverseDraft {
  let entry: Entry
  let name: String
  var deleteRule: DeleteRule?
  var bounds = Bounds()
}

/// How many there may be. What was not written is nil.
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
      fields["min"]?.refuse("min \(min) is more than max \(max)")
    }
  }

  init(_ relationship: Relationship) {
    toMany = relationship.toMany
    optional = relationship.optional
    min = relationship.min
    max = relationship.max
  }

  /// To be called where the relationship is known to be to-one.
  func judgeToOne(_ fields: Fields) {
    for (key, bound) in [("min", min), ("max", max)] {
      guard let bound, bound > 1 else { continue }
      fields[key]?.refuse("a to-one relationship has no \(key) of \(bound); is toMany missing?")
    }
  }
}
