/// Reads changes from bytes in one pass, without a tree in between. Only valid changes leave the
/// parser. `value` and the members of `set` are checked and kept as their text.
///
/// Why a parser of our own: SQLite takes rows at some 100 MB/s of such lines, and a file must be
/// rejected as a whole, with the position and the reason. The figures are for lines of 169 bytes on
/// one core (deploy/benchmarks/parsers/run). Each reader gives strings of its language for what a
/// store needs:
///
///     this parser                        335 MB/s
///     FoundationEssentials, JSONDecoder   28 MB/s
///     jansson                             58 MB/s
///     simdjson 3.0, document             510 MB/s
///     simdjson 3.0, on demand            640 MB/s
///
/// jansson and JSONDecoder are slower than SQLite. simdjson is faster and would be fast enough. But
/// it accepts duplicate names, reports no line, column or path, does not check values that are not
/// read (on demand), and brings in C++. A `.json` file is read twice, see `ChangeDocument`: 160
/// MB/s.
struct ChangeParser {
  var scanner = Scanner()
  var collections = KnownNames()
  var edgeNames = KnownNames()

  /// An object that is being read. It remembers the names seen so far, to find a duplicate.
  struct OpenObject {
    /// The offset of its `{`: the position reported when a member is missing.
    let offset: Int
    /// The offset of the current member's name.
    fileprivate(set) var nameOffset = 0
    fileprivate var first = true
    fileprivate var seen: UInt32 = 0
  }

  mutating func open(_ bytes: Bytes) throws(Fault) -> OpenObject {
    let object = OpenObject(offset: scanner.at)
    try scanner.open("{", bytes)
    return object
  }

  /// Reads the next member's name and stops before its value; nil when the object has ended.
  mutating func member<Word>(
    _ object: inout OpenObject, _ words: WordSet<Word>, _ bytes: Bytes
  ) throws(Fault) -> Word? {
    guard let name = try scanner.nextName(&object.first, bytes) else { return nil }
    object.nameOffset = name.offset
    guard let index = find(name, words, bytes) else {
      let typed = scanner.text(name, bytes)
      throw Fault(name.offset, "unknown key \"\(shown(typed))\"" + words.hint(typed))
    }
    guard object.seen & (1 << UInt32(index)) == 0 else {
      throw Fault(name.offset, "duplicate key \"\(words.names[index])\"")
    }
    object.seen |= 1 << UInt32(index)
    return words[index]
  }

  /// Also finds a name that is written with escapes: `put` may be written `p\u0075t`.
  func find<Word>(_ name: StringToken, _ words: WordSet<Word>, _ bytes: Bytes) -> Int? {
    guard name.escaped else { return words.find(name.range, bytes) }
    let plain = scanner.dialect.unescaped(name, bytes)
    return words.find(plain.indices, plain.span)
  }

  /// The fault for a value of another kind than expected. The first byte decides the kind.
  func expected(_ what: String, _ bytes: Bytes) -> Fault {
    switch scanner.peek(bytes) {
    case UInt8(ascii: "{"): return Fault(scanner.at, "expected \(what), found an object")
    case UInt8(ascii: "["): return Fault(scanner.at, "expected \(what), found a list")
    case UInt8(ascii: "\""): return Fault(scanner.at, "expected \(what), found a string")
    default:
      var reader = scanner
      guard let value = try? reader.scalar(bytes) else { return scanner.unexpected(bytes, what) }
      return Fault(scanner.at, "expected \(what), found \(value.kind)")
    }
  }

  mutating func string(_ what: String, _ bytes: Bytes) throws(Fault) -> String {
    guard scanner.peek(bytes) == UInt8(ascii: "\"") else { throw expected(what, bytes) }
    return scanner.text(try scanner.string(bytes), bytes)
  }

  mutating func json(_ bytes: Bytes) throws(Fault) -> JSONText {
    JSONText(valid: Scanner.text(try scanner.skipValue(bytes), bytes))
  }
}

// MARK: - A change

extension ChangeParser {
  /// The members of a change, collected as they are read: the verb may come last.
  private struct Draft {
    let offset: Int
    var verb: ChangeWord?
    /// The last member read that does not belong to every verb, and the verbs that all of them
    /// belong to.
    var companion: ChangeWord?
    var verbs = ChangeWord.Verbs.all
    var collection = ""
    var node: Node?
    /// A link, an unlink or a relink; their members are read in one call.
    var whole: Change?
    var type: String?
    var value: JSONText?
    var edges: [DeclaredEdge]?
    var set: [Member]?
    var unset: [String]?
    var removal = Removal.sourceDeleted
    var merge = false
    var ifUnchanged: [Member]?
    var mayDeleteItself: Bool?
    var restored: RestoredThing.Subject?
    var kept: JSONText?
  }

  mutating func change(_ bytes: Bytes) throws(Fault) -> Change {
    guard scanner.peek(bytes) == UInt8(ascii: "{") else { throw expected("a change", bytes) }
    var object = try open(bytes)
    var draft = Draft(offset: object.offset)
    while let word = try member(&object, .change, bytes) {
      try check(word, at: object.nameOffset, &draft)
      try read(word, into: &draft, bytes)
    }
    return try change(&draft)
  }

  private func check(
    _ word: ChangeWord, at offset: Int, _ draft: inout Draft
  ) throws(Fault) {
    if word.isVerb, let other = draft.verb {
      throw Fault(offset, "\"\(other)\" and \"\(word)\" are two changes; write two objects")
    }
    if draft.verbs.isDisjoint(with: word.verbs) {
      let (companion, verbs) =
        word.isVerb ? (draft.companion ?? word, word.verbs) : (word, draft.verbs)
      throw Fault(
        offset,
        "\"\(companion)\" belongs to \(companion.verbs.text), but this is a \(verbs.text)")
    }
    draft.verbs.formIntersection(word.verbs)
    if word.isVerb { draft.verb = word } else { draft.companion = word }
  }

  private mutating func read(
    _ word: ChangeWord, into draft: inout Draft, _ bytes: Bytes
  ) throws(Fault) {
    switch word {
    case .link: draft.whole = try link(bytes)
    case .unlink: draft.whole = try unlink(bytes)
    case .relink: draft.whole = try relink(bytes)
    case .put, .patch, .delete: draft.node = try node(bytes)
    case .deleteAll: draft.collection = try collection(bytes)
    case .flush: try flush(bytes)
    case .restore: draft.restored = try restored(bytes)
    case .kept: draft.kept = try json(bytes)
    case .type: draft.type = try type(bytes)
    case .value: draft.value = try json(bytes)
    case .edges: draft.edges = try edges(bytes)
    case .set: draft.set = try members(bytes)
    case .unset: draft.unset = try names(bytes)
    case .as: draft.removal = try removal(bytes)
    case .merge: draft.merge = try flag(bytes)
    case .ifUnchanged: draft.ifUnchanged = try members(bytes)
    case .mayDeleteItself: draft.mayDeleteItself = try flag(bytes)
    default: preconditionFailure("\(word) is no member of a change")
    }
  }

  /// Parts are moved out of the draft, not copied: copying would be half of the work.
  private func change(_ draft: inout Draft) throws(Fault) -> Change {
    switch draft.verb {
    case .link, .relink:
      let whole = draft.whole.take()!
      return draft.mayDeleteItself.map(whole.mayDeleteItself) ?? whole
    case .put:
      return .put(
        draft.node.take()!, type: draft.type.take(), value: draft.value.take(),
        edges: draft.edges.take(), merge: draft.merge, mayDeleteItself: draft.mayDeleteItself)
    case .patch: return try patch(draft)
    case .delete: return .delete(draft.node!, ifUnchanged: draft.ifUnchanged)
    case .deleteAll: return .deleteAll(collection: draft.collection)
    case .unlink: return draft.whole.take()!.removing(as: draft.removal)
    case .flush: return .flush
    case .restore:
      return .restore(
        RestoredThing(
          draft.restored!, type: draft.type, value: draft.value, kept: draft.kept?.json))
    default: throw missingVerb(draft)
    }
  }

  private func missingVerb(_ draft: Draft) -> Fault {
    if let companion = draft.companion {
      return Fault(draft.offset, "\"\(companion)\" without \(companion.verbs.text)")
    }
    return Fault(
      draft.offset,
      "no change; expected one of put, patch, delete, deleteAll, link, unlink, relink, flush")
  }

  private func patch(_ draft: Draft) throws(Fault) -> Change {
    guard draft.set != nil || draft.unset != nil else {
      throw Fault(draft.offset, "a patch needs \"set\" or \"unset\"")
    }
    let set = draft.set ?? []
    let unset = draft.unset ?? []
    if let both = inBoth(set, unset) {
      throw Fault(draft.offset, "\"\(shown(both))\" is in \"set\" and in \"unset\"")
    }
    return .patch(
      draft.node!, set: set, unset: unset, ifUnchanged: draft.ifUnchanged,
      mayDeleteItself: draft.mayDeleteItself)
  }

  private func inBoth(_ set: [Member], _ unset: [String]) -> String? {
    guard !set.isEmpty, !unset.isEmpty else { return nil }
    let names = Set(set.map { Array($0.name.utf8) })
    return unset.first { names.contains(Array($0.utf8)) }
  }
}

extension Change {
  /// Sets what the removal of an unlink counts as, which is a member of its own.
  fileprivate func removing(as removal: Removal) -> Change {
    guard case .unlink(let name, let from, let to, _) = self else { return self }
    return .unlink(name: name, from: from, to: to, as: removal)
  }

  /// The same link or relink.
  fileprivate func mayDeleteItself(_ flag: Bool) -> Change {
    switch self {
    case .link(let name, let from, let to, let rules, _):
      .link(name: name, from: from, to: to, rules: rules, mayDeleteItself: flag)
    case .relink(let name, let from, let to, let rules, _):
      .relink(name: name, from: from, to: to, rules: rules, mayDeleteItself: flag)
    default: self
    }
  }
}
