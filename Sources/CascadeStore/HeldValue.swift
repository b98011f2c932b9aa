package import CascadeModel

/// References of one relationship to one missing node, found by a scan, that no trigger saw go.
/// Their value may mean "none" in the application, so nothing follows from them without an
/// approval.
package struct HeldValue: Hashable, Sendable {
  /// The name of the relationship.
  package let name: String
  package let from: String
  /// Whether rows of a join table lack their source, and not their destination.
  package let lacksSource: Bool
  /// No row has this key.
  package let missing: Node
  /// How many references have the value.
  package var count: Int
  /// The nodes that would be deleted.
  package var byCollection: [String: Int] = [:]

  package init(name: String, from: String, lacksSource: Bool, missing: Node, count: Int) {
    (self.name, self.from, self.lacksSource) = (name, from, lacksSource)
    (self.missing, self.count) = (missing, count)
  }

  /// A value that so many references share looks like "none", whatever it is.
  package static let shared = 10

  package var deletedCount: Int { byCollection.values.reduce(0, +) }

  /// Identifies it among all of a store, also when it is found again.
  package var identity: JSON {
    [.string(name), .string(from), .bool(lacksSource), missing.json]
  }

  package init?(identity: JSON, count: Int) {
    guard let parts = identity.array, parts.count == 4, let name = parts[0].string,
      let from = parts[1].string, case .bool(let lacksSource) = parts[2],
      let missing = Node(json: parts[3])
    else { return nil }
    self.init(name: name, from: from, lacksSource: lacksSource, missing: missing, count: count)
  }

  /// What it is, and what settles it.
  package var sentence: String {
    let value = missing.key.json.text
    let what = lacksSource ? "join rows of" : "references of"
    return "\(count.counted("value", "values")) \(value) in \(what) \"\(name)\" of \"\(from)\": "
      + "no row of \"\(missing.collection)\" has this key, and none was seen to go. "
      + missing.key.whatSettlesNone
  }
}

/// A held value that has a plan.
package struct HeldValuePlan: Sendable {
  package let number: Int64
  package let value: HeldValue
  /// How many nodes its approval would delete, as the plan says.
  package let deletedCount: Int
  package let isApproved: Bool
  /// Its references are given up, and nothing is asked of them again.
  package let isRejected: Bool

  package init(
    number: Int64, value: HeldValue, deletedCount: Int, isApproved: Bool, isRejected: Bool = false
  ) {
    (self.number, self.value) = (number, value)
    (self.deletedCount, self.isApproved) = (deletedCount, isApproved)
    self.isRejected = isRejected
  }
}

extension [HeldValuePlan] {
  /// Whether approvals cover all these references, which are all to one missing node: its deletion
  /// cannot follow one relationship and leave out another.
  package func approve(_ found: [HeldValue]) -> Bool {
    found.allSatisfy { value in
      contains {
        $0.isApproved && $0.value.identity == value.identity && $0.value.count >= value.count
      }
    }
  }
}

extension Key {
  fileprivate var whatSettlesNone: String {
    "If it means \"none\", say so in the model, and it is no reference: none: [\(json.text)]"
  }

  /// What to do if the key is one that applications write for "none".
  package var hintOfNone: String? { looksLikeNone ? whatSettlesNone : nil }
}
