/// Pairs of relationships that are each other's inverse. What both declare about the same end must
/// agree; what only one declares holds for both.
struct InversePairs {
  private(set) var drafts: [RelationshipDraft]

  init(_ drafts: [RelationshipDraft]) {
    self.drafts = drafts
    completeInverses()
    for index in drafts.indices { judge(index) }
  }

  /// The relationships that this one names as its inverse and that lead back to it.
  func halves(of index: Int) -> [RelationshipDraft] {
    named(by: drafts[index]).map { drafts[$0] }.filter {
      $0.collections.contains(drafts[index].value.from)
    }
  }

  func inverse(of index: Int) -> Relationship.Inverse? {
    guard let inverse = drafts[index].inverse else { return nil }
    var bounds = inverse.bounds
    if let half = halves(of: index).first { bounds = Bounds(half.value) }
    return Relationship.Inverse(
      name: inverse.name, toMany: bounds.toMany ?? !drafts[index].value.unique,
      optional: bounds.optional ?? true, min: bounds.min, max: bounds.max)
  }

  /// What the inverse relationship says of the rows of the join table that both read.
  func noneOfSharedJoin(_ index: Int) -> [Key] {
    guard case .join = drafts[index].value.edgeStorage else { return [] }
    return halves(of: index).first?.value.none ?? []
  }

  private func named(by draft: RelationshipDraft) -> [Int] {
    guard let name = draft.inverse?.name else { return [] }
    return drafts.indices.filter {
      drafts[$0].value.name == name && draft.collections.contains(drafts[$0].value.from)
    }
  }

  /// If only one relationship names the other as its inverse, sets the inverse of the other.
  private mutating func completeInverses() {
    for draft in drafts {
      for index in named(by: draft)
      where drafts[index].inverse == nil && !drafts[index].value.to.isEither
        && drafts[index].collections.contains(draft.value.from)
      {
        drafts[index].inverse = InverseDraft(
          entry: drafts[index].fields.entry, name: draft.value.name)
      }
    }
  }

  private static let ofEither = "a reference to one of several collections has no inverse"

  private func judge(_ index: Int) {
    let draft = drafts[index]
    guard let inverse = draft.inverse else { return }
    if case .files = draft.value.to { return inverse.entry.addProblem("a file has no inverse") }
    if draft.value.to.isEither { return inverse.entry.addProblem(InversePairs.ofEither) }
    checkUnique(draft, inverse.bounds, inverse)
    for half in named(by: draft) {
      let other = drafts[half]
      if other.value.to.isEither {
        inverse.entry.addProblem("\(other.title): \(InversePairs.ofEither)")
      } else if !other.collections.contains(draft.value.from) {
        inverse.entry.addProblem("\(other.title) does not lead back to \"\(draft.value.from)\"")
      } else if let name = other.inverse?.name, name != draft.value.name {
        inverse.entry.addProblem("the inverse of \(other.title) is \"\(name)\"")
      } else {
        checkUnique(draft, Bounds(other.value), inverse)
        checkAgreement(draft, inverse, other)
        if index < half { checkJoins(draft, other) }
      }
    }
  }

  private func checkUnique(
    _ draft: RelationshipDraft, _ bounds: Bounds, _ inverse: InverseDraft
  ) {
    guard draft.value.unique, bounds.toMany == true else { return }
    inverse.entry.addProblem("a unique relationship has a to-one inverse")
  }

  private func checkAgreement(
    _ draft: RelationshipDraft, _ inverse: InverseDraft, _ other: RelationshipDraft
  ) {
    let (mine, its) = (inverse.bounds, Bounds(other.value))
    func judge<Value: Equatable>(_ key: String, _ mine: Value?, _ its: Value?) {
      guard let mine, mine != its else { return }
      let said = its.map { "\($0)" } ?? "nothing"
      inverse.entry.addProblem("\(key) is \(mine) here, but \(said) in \(other.title)")
    }
    judge("toMany", mine.toMany, its.toMany)
    judge("optional", mine.optional, its.optional)
    judge("min", mine.min, its.min)
    judge("max", mine.max, its.max)
    guard let rule = other.deleteRule else { return }
    judge("deleteRule", inverse.deleteRule?.rawValue, rule.rawValue)
  }

  /// A many-to-many relationship has one join table, which is read in both directions.
  private func checkJoins(_ draft: RelationshipDraft, _ other: RelationshipDraft) {
    guard case .join(let table, let source, let destination) = draft.value.edgeStorage,
      case .join(let itsTable, let itsSource, let itsDestination) = other.value.edgeStorage
    else { return }
    if (table, source, destination) != (itsTable, itsDestination, itsSource) {
      other.fields["join"]?.addProblem("is not the reversed join of its inverse \(draft.title)")
    }
  }
}
