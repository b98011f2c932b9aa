extension ColumnName.Reading {
  /// Another name of the table's: a little less than its own.
  func exact(_ reason: String) -> NameEvidence {
    let strength = key == nil ? NameEvidence.exact : NameEvidence.exactWithKey
    return NameEvidence(strength: strength - 0.1, reason: reason, hasKey: key != nil)
  }

  /// How a column's name is like that of a table. `isOwn`: it is the column's own. `isFullName`: it
  /// is not a short one. `isOnlyOne`: no other table's name ends so.
  func likeness(
    to name: Words, isOwn: Bool, isFullName: Bool, isOnlyOne: () -> Bool
  ) -> NameEvidence {
    func found(_ strength: Double, _ reason: String) -> NameEvidence {
      NameEvidence(
        strength: strength - (isQualified && strength >= NameEvidence.exact ? 0.3 : 0),
        reason: reason, hasKey: key != nil)
    }
    let hasKey = key != nil
    if base.joined == name.joined {
      if isOwn && !isFullName { return .none }
      return found(
        hasKey ? NameEvidence.exactWithKey : NameEvidence.exact,
        hasKey ? "named after the table and a key" : "named after it")
    }
    if let last = base.list.last, last.count > 3, base.list.count > 1, name.list.count == 1,
      last != name.joined, name.joined.hasSuffix(last), !base.endsJoined(with: name)
    {
      return found(isOwn ? 2 : 1.6, "its name ends like the table's")
    }
    if base.endsJoined(with: name) {
      return found(hasKey ? 2.2 : 1.8, "its name ends like the table's")
    }
    // What follows is too weak for a reference to the same table.
    return isOwn ? .none : weakLikeness(to: name, isOnlyOne: isOnlyOne, found)
  }

  private func weakLikeness(
    to name: Words, isOnlyOne: () -> Bool, _ found: (Double, String) -> NameEvidence
  ) -> NameEvidence {
    if name.ends(with: base) {
      let isLong = base.list.count > 1
      return found(
        isLong ? 2.2 : isOnlyOne() ? 1.85 : 1.6, "named after the table's last word")
    }
    if name.begins(with: base) { return found(1.6, "named after the table's first word") }
    if base.joined.count > 3, name.joined.hasSuffix(base.joined) {
      return found(isOnlyOne() ? 1.85 : 1.6, "the table's name ends so")
    }
    if let last = base.list.last, let end = name.list.last, abbreviates(last, end, name) {
      return found(base.list.count == 1 ? 1.3 : 1.2, "its name may be short for the table's")
    }
    return .none
  }

  private static let abbreviations = [
    "tx": "transaction", "txn": "transaction", "trans": "transaction", "acc": "account",
    "acct": "account", "act": "account", "cat": "category", "msg": "message", "img": "image",
    "dept": "department", "addr": "address", "pic": "picture", "attr": "attribute",
    "org": "organization", "orig": "original", "curr": "currency", "cur": "currency",
  ]

  private func abbreviates(_ word: String, _ end: String, _ name: Words) -> Bool {
    if ColumnName.Reading.abbreviations[word] == end { return true }
    if word.count > 2 && end.hasPrefix(word) { return true }
    if word.count == 1 { return name.joined.hasPrefix(word) }
    return word == String(name.list.compactMap(\.first)) || isSkeleton(word, of: name.joined)
  }

  /// Whether the letters are in the name, in this order, and begin like it: `nt` of `notetype`.
  private func isSkeleton(_ word: String, of name: String) -> Bool {
    guard word.count < 4, word.first == name.first else { return false }
    var rest = name[...]
    for letter in word {
      guard let index = rest.firstIndex(of: letter) else { return false }
      rest = rest[rest.index(after: index)...]
    }
    return true
  }
}
