/// The names of members in change files.
enum ChangeWord: String, Sendable {
  case put, patch, delete, deleteAll, link, unlink, flush
  case type, value, edges, set, unset, `as`
  case name, from, to, rules
  case file, root
  case id, author, changes, batch

  /// The verb that this member belongs to; nil if it is a verb itself.
  var verb: ChangeWord? {
    switch self {
    case .type, .value, .edges: .put
    case .set, .unset: .patch
    case .as: .unlink
    default: nil
    }
  }
}

extension WordSet where Value == ChangeWord {
  fileprivate init(_ words: ChangeWord...) { self.init(words.map { ($0.rawValue, $0) }) }

  static let change = WordSet(
    .put, .patch, .delete, .deleteAll, .link, .unlink, .flush, .type, .value, .edges, .set, .unset,
    .as)
  static let link = WordSet(.name, .from, .to, .rules)
  static let unlink = WordSet(.name, .from, .to)
  static let edge = WordSet(.name, .to, .rules)
  static let file = WordSet(.file, .root)
  static let document = WordSet(.id, .author, .changes)
  static let header = WordSet(.id, .author, .batch)
}

extension WordSet where Value == Rules {
  static let rules = WordSet(Rules.allNames.map { ($0, Rules(name: $0)!) })
}

extension WordSet where Value == Removal {
  static let removals = WordSet(Removal.allCases.map { ($0.rawValue, $0) })
}
