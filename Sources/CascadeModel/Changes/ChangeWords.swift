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

extension Words where Value == ChangeWord {
  fileprivate init(_ words: ChangeWord...) { self.init(words.map { ($0.rawValue, $0) }) }

  static let change = Words(
    .put, .patch, .delete, .deleteAll, .link, .unlink, .flush, .type, .value, .edges, .set, .unset,
    .as)
  static let link = Words(.name, .from, .to, .rules)
  static let unlink = Words(.name, .from, .to)
  static let edge = Words(.name, .to, .rules)
  static let file = Words(.file, .root)
  static let document = Words(.id, .author, .changes)
  static let header = Words(.id, .author, .batch)
}

extension Words where Value == Rules {
  static let rules = Words(Rules.allNames.map { ($0, Rules(name: $0)!) })
}

extension Words where Value == Removal {
  static let removals = Words(Removal.allCases.map { ($0.rawValue, $0) })
}
