/// A collection or a relationship, as what decides whether it is one that is remembered.
///
/// Memory is by identity, and not by name. In the order of the evidence, it is the same
/// 1. where its place is, by what the engine knows the table and the columns by;
/// 2. where its table was made anew under its name, by the names of the place;
/// 3. where all names are the same;
/// 4. where `was` of the model says so.
///
/// What several may be is none of them: nothing is guessed.
package struct RememberedPart: Hashable, Sendable {
  package let name: String
  /// What else it has to have in common with a part: the ends of a relationship.
  package let context: [String]
  /// What the engine knows its place by; nil if it does not know it.
  package let place: String?
  /// What the model calls its place; nil if it has none.
  package let placeNames: String?
  /// Of a part of the model: what it was called.
  package let was: String?
  /// Of a part that is remembered: whether the table of its place is not there any more, or names decide.
  package let isPlaceGone: Bool

  package init(
    name: String, context: [String] = [], place: String?, placeNames: String?,
    was: String? = nil, isPlaceGone: Bool = false
  ) {
    (self.name, self.context, self.place) = (name, context, place)
    (self.placeNames, self.was, self.isPlaceGone) = (placeNames, was, isPlaceGone)
  }

  private typealias Evidence = @Sendable (_ wanted: RememberedPart, _ known: RememberedPart) -> Bool

  private static let evidence: [Evidence] = [
    { $0.isAt($1) && $0.name == $1.name && $0.placeNames == $1.placeNames },
    { $0.isAt($1) && $0.name == $1.name },
    { $0.isAt($1) },
    { $0.isCalledLike($1) && $0.name == $1.name },
    { $0.isCalledLike($1) },
    { $0.name == $1.name && ($0.placeNames == $1.placeNames || $0.context.isEmpty) },
    { $0.was == $1.name },
  ]

  private func isAt(_ known: RememberedPart) -> Bool { place != nil && place == known.place }

  private func isCalledLike(_ known: RememberedPart) -> Bool {
    placeNames != nil && placeNames == known.placeNames && known.isPlaceGone
  }

  /// For each part of a model, which of those that are known it is; nil if it is none.
  package static func pairs(
    of wanted: [RememberedPart], with known: [RememberedPart]
  ) -> [Int?] {
    var pairs: [Int?] = wanted.map { _ in nil }
    for isSame in evidence {
      let taken = Set(pairs.compactMap(\.self))
      let free = known.indices.filter { !taken.contains($0) }
      let open = wanted.indices.filter { pairs[$0] == nil }
      func isPair(_ one: Int, _ other: Int) -> Bool {
        wanted[one].context == known[other].context && isSame(wanted[one], known[other])
      }
      for one in open {
        let others = free.filter { isPair(one, $0) }
        guard let other = others.first, others.count == 1 else { continue }
        if open.filter({ isPair($0, other) }).count == 1 { pairs[one] = other }
      }
    }
    return pairs
  }
}
