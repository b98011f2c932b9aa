/// The names of members in change files.
enum ChangeWord: String, Sendable {
  case put, patch, delete, deleteAll, link, unlink, relink, flush, restore
  case type, value, edges, merge, set, unset, `as`, ifUnchanged, mayDeleteItself
  case kept, archive
  case name, from, to, rules
  case file, root
  case id, author, changes, batch

  /// The verbs that this member belongs to; a verb belongs to itself.
  var verbs: Verbs {
    switch self {
    case .put: .put
    case .patch: .patch
    case .delete: .delete
    case .deleteAll: .deleteAll
    case .link: .link
    case .unlink: .unlink
    case .relink: .relink
    case .flush: .flush
    case .restore: .restore
    case .type, .value: [.put, .restore]
    case .edges, .merge: .put
    case .kept: .restore
    case .set, .unset: .patch
    case .as: .unlink
    case .ifUnchanged: [.patch, .delete]
    case .mayDeleteItself: [.put, .patch, .link, .relink]
    default: []
    }
  }

  var isVerb: Bool {
    switch self {
    case .put, .patch, .delete, .deleteAll, .link, .unlink, .relink, .flush, .restore: true
    default: false
    }
  }

  /// A set of verbs.
  struct Verbs: OptionSet {
    let rawValue: Int

    static let put = Verbs(rawValue: 1)
    static let patch = Verbs(rawValue: 2)
    static let delete = Verbs(rawValue: 4)
    static let deleteAll = Verbs(rawValue: 8)
    static let link = Verbs(rawValue: 16)
    static let unlink = Verbs(rawValue: 32)
    static let relink = Verbs(rawValue: 64)
    static let flush = Verbs(rawValue: 128)
    static let restore = Verbs(rawValue: 256)
    static let all = Verbs(rawValue: 511)

    /// Without what only programs write.
    private static let words: [ChangeWord] = [
      .put, .patch, .delete, .deleteAll, .link, .unlink, .relink, .flush,
    ]

    /// For messages: `"patch" or "delete"`.
    var text: String {
      Verbs.words.filter { contains($0.verbs) }.map { "\"\($0)\"" }.joined(separator: " or ")
    }
  }
}

extension WordSet where Value == ChangeWord {
  fileprivate init(_ words: ChangeWord...) { self.init(words.map { ($0.rawValue, $0) }) }

  static let change = WordSet(
    .put, .patch, .delete, .deleteAll, .link, .unlink, .relink, .flush, .type, .value, .edges,
    .merge, .set, .unset, .as, .ifUnchanged, .mayDeleteItself, .restore, .kept)
  static let link = WordSet(.name, .from, .to, .rules)
  static let unlink = WordSet(.name, .from, .to)
  static let edge = WordSet(.name, .to, .rules)
  static let file = WordSet(.file, .root)
  static let document = WordSet(.id, .author, .changes, .mayDeleteItself)
  static let header = WordSet(.id, .author, .batch, .mayDeleteItself, .archive)
}

extension WordSet where Value == Rules {
  static let rules = WordSet(Rules.allNames.map { ($0, Rules(name: $0)!) })
}

extension WordSet where Value == Removal {
  static let removals = WordSet(Removal.allCases.map { ($0.rawValue, $0) })
}
