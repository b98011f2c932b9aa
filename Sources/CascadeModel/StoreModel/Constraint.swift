/// How many nodes must and may be at the other end of a node's edges.
package struct Constraint: Hashable, Sendable {
  /// The relationship's name at the constrained end.
  package var name: String
  /// The name of the edges whose distinct destinations are counted…
  package var outgoing: String?
  /// …and of the edges whose distinct sources are counted.
  package var incoming: String?
  /// The collections at the other end; empty for files.
  package var others: [String]
  package var optional: Bool
  package var min: Int
  package var max: Int?
  /// Whether a node at the other end may have an edge with only one node here.
  package var unique: Bool

  /// What a count violates. An optional relationship may be empty, whatever its minimum is.
  package func violation(count: Int) -> Violation? {
    if count == 0 { return optional ? nil : .missingMandatory }
    if count < min { return .tooFew }
    if let max, count > max { return .tooMany }
    return nil
  }

  /// The counts that are too few, the first and the last. An optional relationship may be empty.
  package var tooFew: (first: Int, last: Int) { (optional ? 1 : 0, Swift.max(min, 1) - 1) }

  /// Whether too few edges violate it.
  package var hasMinimum: Bool { !optional || min > 1 }

  /// Whether some count of nodes violates it.
  package var isBounded: Bool { hasMinimum || max != nil }

  fileprivate var isTrivial: Bool { !isBounded && !unique }
}

package enum Violation: String, Hashable, Sendable, CaseIterable {
  case missingMandatory, tooFew, tooMany, notUnique, denied
}

extension StoreModel {
  /// What the model requires of a node in this collection and, if given, of this type.
  package func constraints(from collection: String, type: String? = nil) -> [Constraint] {
    let names = names(of: collection, type: type)
    let leaving = relationships.filter { names.contains($0.from) }.map { outgoing($0) }
    let arriving = relationships.filter { !names.isDisjoint(with: $0.to.collections) }
      .compactMap { incoming($0, at: names) }
    return (leaving + arriving).filter { !$0.isTrivial }
  }

  /// The constraint at the source. Edges that are written as the inverse count too, where the
  /// inverse is declared.
  private func outgoing(_ relationship: Relationship) -> Constraint {
    let inverse = relationship.inverse?.name
    let isDeclared = relationships.contains {
      $0.name == inverse && relationship.to.collections.contains($0.from)
    }
    return Constraint(
      name: relationship.name, outgoing: relationship.name, incoming: isDeclared ? inverse : nil,
      others: relationship.to.collections, optional: relationship.optional,
      min: relationship.min ?? 0, max: maximumCount(relationship),
      unique: relationship.unique)
  }

  /// The maximum. If several relationships have this name and source, a to-one has none, because
  /// the edges of all of them count. Nor has one that leads to several collections: each may have
  /// the key.
  private func maximumCount(_ relationship: Relationship) -> Int? {
    if relationship.toMany { return relationship.max }
    if relationship.to.isEither { return nil }
    let alike = relationships.filter {
      $0.name == relationship.name && $0.from == relationship.from
    }
    return alike.count > 1 ? nil : 1
  }

  /// The constraint at the destination. Nil if the inverse is declared as a relationship of its
  /// own, which then has the constraint. That no two sources share a destination is checked by
  /// `unique` alone, so that it is reported once.
  private func incoming(_ relationship: Relationship, at names: Set<String>) -> Constraint? {
    guard let inverse = relationship.inverse,
      !relationships.contains(where: { $0.name == inverse.name && names.contains($0.from) })
    else { return nil }
    return Constraint(
      name: inverse.name, incoming: relationship.name, others: [relationship.from],
      optional: inverse.optional, min: inverse.min ?? 0,
      max: inverse.toMany ? inverse.max : relationship.unique ? nil : 1, unique: false)
  }
}
