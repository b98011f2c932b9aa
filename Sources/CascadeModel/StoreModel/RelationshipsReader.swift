/// Reads `relationships`, and checks each against the others.
struct RelationshipsReader {
  private let names: DeclaredNames

  init(_ names: DeclaredNames) { self.names = names }

  func read(_ entry: ModelValue) -> [Relationship] {
    let reader = RelationshipReader(names: names)
    let entries = entry.elements("a list of relationships") ?? []
    let pairs = InversePairs(entries.compactMap(reader.read))
    let relationships = pairs.drafts.indices.map { index in
      var value = pairs.drafts[index].value
      value.inverse = pairs.inverse(of: index)
      value.rules = RuleCombination(pairs, index).fold()
      if value.none.isEmpty { value.none = pairs.noneOfSharedJoin(index) }
      return value
    }
    judgeRepeated(pairs.drafts)
    return relationships
  }

  private func judgeRepeated(_ drafts: [RelationshipDraft]) {
    var places: [[AnyHashable]: String] = [:]
    for draft in drafts {
      let value = draft.value
      let same: [AnyHashable] = [value.name, value.from, value.to, value.edgeStorage]
      if let first = places[same] {
        draft.fields.entry.addProblem("\(draft.title) is already declared at \(first)")
      }
      places[same] = places[same] ?? draft.fields.entry.path
    }
  }
}
