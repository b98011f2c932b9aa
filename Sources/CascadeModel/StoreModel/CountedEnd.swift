/// Nodes that a counting rule keeps as long as they have an edge at this end, whatever its name.
package struct CountedEnd: Hashable, Sendable {
  package let collection: String
  package let end: EdgeEnd
  /// The types of the objects that are meant; nil: all of the collection.
  package let types: [String]?
  /// The types of the objects that are roots.
  package let rootTypes: [String]
}

extension StoreModel {
  /// The destinations of relationships with rule 32 and the sources of those with rule 16, without
  /// the roots.
  package var countedEnds: [CountedEnd] {
    RuleEffect.all(.deleteLast).flatMap { effect in
      relationships.filter { $0.rules.contains(effect.rule) }
        .flatMap { effect.affectedEnd == .source ? [$0.from] : $0.to.collections }
        .filter { !roots.contains($0) && !roots.contains(collection(of: $0)) }
        .map { countedEnd($0, effect.affectedEnd) }
    }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private func countedEnd(_ name: String, _ end: EdgeEnd) -> CountedEnd {
    let collection = collection(of: name)
    return CountedEnd(
      collection: collection, end: end, types: name == collection ? nil : types(called: name),
      rootTypes: roots.filter { typeNames[$0] == collection }.flatMap(types))
  }

  /// The types that a name other than the collection's stands for.
  package func types(called name: String) -> [String] {
    guard case .managed(let types) = collections[collection(of: name)] else { return [] }
    return types.filter { $0.value == name }.map(\.key).sorted()
  }
}
