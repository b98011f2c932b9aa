/// Combines the rules that a relationship's `rules`, `deleteRule` and inverse give its edges.
struct RuleCombination {
  /// Rules, and the words of the file that give them.
  private struct DeclaredRules {
    let rules: Rules
    let text: String
  }

  private let draft: RelationshipDraft
  private let halves: [RelationshipDraft]

  init(_ pairs: InversePairs, _ index: Int) {
    draft = pairs.drafts[index]
    halves = pairs.halves(of: index)
  }

  func fold() -> Rules {
    let said = declaredRules()
    let rules = said.reduce(into: draft.rules) { $0.formUnion($1.rules) }
    judgeFiles(rules)
    judgeConflicts(rules, said)
    return rules
  }

  private func declaredRules() -> [DeclaredRules] {
    var said: [DeclaredRules] = []
    if let rule = draft.deleteRule {
      said.append(DeclaredRules(rules: rule.ofSource, text: "deleteRule \"\(rule.rawValue)\""))
    } else if let rule = agreedDeleteRule(\.inverse?.deleteRule) {
      said.append(DeclaredRules(rules: rule.ofSource, text: "inverse.deleteRule \(ofHalf(rule))"))
    }
    if let rule = draft.inverse?.deleteRule {
      said.append(
        DeclaredRules(rules: rule.ofDestination, text: "inverse.deleteRule \"\(rule.rawValue)\""))
    } else if let rule = agreedDeleteRule(\.deleteRule) {
      said.append(DeclaredRules(rules: rule.ofDestination, text: "deleteRule \(ofHalf(rule))"))
    }
    return said
  }

  private func ofHalf(_ rule: DeleteRule) -> String {
    "\"\(rule.rawValue)\" of its inverse \"\(draft.inverse?.name ?? "")\""
  }

  /// The delete rule that all inverses agree on. If edges lead to several collections, each may
  /// have an inverse. But the edges have one set of rules, and one inverse's rule must not delete
  /// what another's keeps.
  private func agreedDeleteRule(_ word: (RelationshipDraft) -> DeleteRule?) -> DeleteRule? {
    let words = draft.collections.flatMap { collection in
      let halves = halves.filter { $0.value.from == collection }
      return halves.isEmpty ? [nil] : halves.map(word)
    }
    guard let first = words.first else { return nil }
    if !words.allSatisfy({ $0 == first }) {
      draft.fields.entry.addProblem("the inverses of \(draft.title) differ in their delete rules")
    }
    return first
  }

  private func judgeFiles(_ rules: Rules) {
    let illegal = rules.subtracting(.forFiles)
    guard case .files = draft.value.to, !illegal.isEmpty else { return }
    place.addProblem(
      "an edge to a file takes only \(Rules.forFiles.names.joined(separator: " or ")), "
        + "not \(illegal.names.joined(separator: ", "))")
  }

  private func judgeConflicts(_ rules: Rules, _ said: [DeclaredRules]) {
    var left = rules
    while let names = left.conflict {
      let clash = Rules(names.compactMap(Rules.init(name:)))
      let texts = clash.intersection(draft.rules).names
      let words = said.filter { !$0.rules.isDisjoint(with: clash) }
        .map { "\($0.text) (\($0.rules.names.joined()))" }
      place.addProblem(
        "answer the same event in two ways: " + (texts + words).joined(separator: ", "))
      left.subtract(clash)
    }
  }

  private var place: ModelValue { draft.fields["rules"] ?? draft.fields.entry }
}
