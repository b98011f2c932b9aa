/// Reads `relationships`, and checks each against the others.
struct RelationshipsReader {
  private let names: DeclaredNames

  init(_ names: DeclaredNames) { self.names = names }

  func read(_ entry: Entry) -> [Relationship] {
    let reader = RelationshipReader(names: names)
    let entries = entry.elements("a list of relationships") ?? []
    let pairs = InversePairs(entries.compactMap(reader.read))
    let relationships = pairs.drafts.indices.map { index in
      var value = pairs.drafts[index].value
      value.inverse = pairs.inverse(of: index)
      value.rules = RuleFolding(pairs, index).fold()
      return value
    }
    judgeRepeated(pairs.drafts)
    return relationships
  }

  private func judgeRepeated(_ drafts: [RelationshipDraft]) {
    var places: [[AnyHashable]: String] = [:]
    for draft in drafts {
      let value = draft.value
      let same: [AnyHashable] = [value.name, value.from, value.to, value.place]
      if let first = places[same] {
        draft.fields.entry.refuse("\(draft.title) is declared at \(first) already")
      }
      places[same] = places[same] ?? draft.fields.entry.path
    }
  }
}
