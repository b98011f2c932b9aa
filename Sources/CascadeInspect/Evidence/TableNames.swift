/// The names by which columns may call the tables of a database.
struct TableNames {
  private var full: [String: Words] = [:]
  /// The same without a prefix that tables share: `moz_places` is `place`.
  private var short: [String: Words] = [:]

  init(_ tables: [String]) {
    for table in tables { full[table] = Words(of: table).singular }
    let heads = Dictionary(grouping: full.values.filter { $0.list.count > 1 }, by: { $0.list[0] })
    let alone = Set(full.values.filter { $0.list.count == 1 }.map(\.joined))
    for (table, words) in full {
      guard words.list.count > 1 else { continue }
      let head = words.list[0]
      let isShared = (heads[head]?.count ?? 0) > 1 && !alone.contains(head)
      if isShared || TableNames.marks.contains(head) { short[table] = words.dropFirst() }
    }
  }

  private static let marks: Set<String> = ["tbl", "tb", "t", "moz", "table"]

  func names(of table: String) -> [Words] {
    [full[table], short[table]].compactMap { $0 }
  }

  /// The table that a text names: a class, a type, a plural.
  func table(called text: String) -> String? {
    let name = text.split(whereSeparator: { ".\\/:".contains($0) }).last.map(String.init) ?? text
    let words = Words(of: name).singular.joined
    let found = full.keys.sorted().filter { names(of: $0).contains { $0.joined == words } }
    return found.first
  }
}

/// How strongly a column's name speaks for a table, from 0 to 3, and why.
struct NameEvidence: Comparable {
  var strength: Double
  var reason: String
  /// Whether the name has a word for a key.
  var hasKey: Bool

  static let none = NameEvidence(strength: 0, reason: "", hasKey: false)

  static func < (left: NameEvidence, right: NameEvidence) -> Bool {
    (left.strength, left.hasKey ? 1 : 0) < (right.strength, right.hasKey ? 1 : 0)
  }
}

extension TableNames {
  /// `table` is where the column is, `parent` what it may refer to.
  func evidence(
    _ column: ColumnName, of table: String, for parent: String
  ) -> NameEvidence {
    var best = NameEvidence.none
    for reading in column.readings {
      for name in names(of: parent) {
        best = max(best, evidence(reading, name, of: table, for: parent))
      }
    }
    best = max(best, special(column, of: table, for: parent))
    return best
  }

  private func evidence(
    _ reading: ColumnName.Reading, _ name: Words, of table: String, for parent: String
  ) -> NameEvidence {
    let hasKey = reading.key != nil
    var found = likeness(reading.base, name, hasKey, isOwn: table == parent)
    // A table of links names both of its ends.
    let own = full[table] ?? Words([])
    if table != parent, found.strength > 0, found.strength < 2.4,
      own.contains(reading.base) || own.contains(name)
    {
      found.strength += 0.8
    }
    found.hasKey = hasKey
    return found
  }

  private func likeness(
    _ base: Words, _ name: Words, _ hasKey: Bool, isOwn: Bool
  ) -> NameEvidence {
    func found(_ strength: Double, _ reason: String) -> NameEvidence {
      NameEvidence(strength: strength, reason: reason, hasKey: hasKey)
    }
    if base.joined == name.joined {
      return found(hasKey ? 3 : 2.5, hasKey ? "named after the table and a key" : "named after it")
    }
    if let last = base.list.last, last.count > 3, base.list.count > 1, name.list.count == 1,
      last != name.joined, name.joined.hasSuffix(last)
    {
      return found(isOwn ? 2 : 1.6, "its name ends like the table's")
    }
    if base.ends(with: name) { return found(hasKey ? 2.2 : 1.8, "its name ends like the table's") }
    // What follows is too weak for a reference to the same table.
    if isOwn { return .none }
    if name.ends(with: base) {
      return found(base.list.count > 1 ? 2.2 : 1.6, "named after the table's last word")
    }
    if name.begins(with: base) { return found(1.6, "named after the table's first word") }
    if base.joined.count > 3, name.joined.hasSuffix(base.joined) {
      return found(1.6, "the table's name ends so")
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
    if TableNames.abbreviations[word] == end { return true }
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

  private func special(
    _ column: ColumnName, of table: String, for parent: String
  ) -> NameEvidence {
    let hasKey = column.readings.contains { $0.key != nil }
    if table == parent, column.isOfParent {
      return NameEvidence(
        strength: hasKey ? 3 : column.words.joined == "parent" ? 2.9 : 2.5,
        reason: "named after a parent in its own table", hasKey: hasKey)
    }
    if column.isOfSubject, let own = full[table],
      names(of: parent).contains(where: { own.begins(with: $0) })
    {
      return NameEvidence(strength: 2.2, reason: "its table is named after it", hasKey: true)
    }
    if column.isOfPerson,
      names(of: parent).contains(where: { ColumnName.people.contains($0.joined) })
    {
      return NameEvidence(strength: 1.7, reason: "named after a role", hasKey: hasKey)
    }
    return .none
  }
}
