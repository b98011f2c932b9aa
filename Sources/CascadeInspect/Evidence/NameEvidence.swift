/// How strongly a column's name speaks for a table, from 0 to 3, and why.
struct NameEvidence: Comparable {
  var strength: Double
  var reason: String
  /// Whether the name has a word for a key.
  var hasKey: Bool
  /// Whether it is a word for a role, such as `parent`, that does not name a table.
  var isRole = false

  static let none = NameEvidence(strength: 0, reason: "", hasKey: false)

  /// The column has the very name of the table, with a word for a key or without.
  static let exactWithKey = 3.0
  static let exact = 2.5
  /// From here on the name says the table outright, by one of its names.
  static let outright = 2.35

  static func < (left: NameEvidence, right: NameEvidence) -> Bool {
    (left.strength, left.hasKey ? 1 : 0) < (right.strength, right.hasKey ? 1 : 0)
  }
}

extension TableNames {
  /// What a column's name says for a table. `table` is where the column is, `parent` what it may
  /// refer to.
  func evidence(
    _ column: ColumnName, of table: String, for parent: String
  ) -> NameEvidence {
    var best = NameEvidence.none
    for reading in column.readings {
      for name in names(of: parent) {
        best = max(best, evidence(reading, name, of: table, for: parent))
      }
      best = max(best, evidence(reading, ofClassesIn: parent, for: table))
      if table != parent, !reading.isQualified, nicknames[parent] == reading.base {
        best = max(best, reading.exact("named after the prefix of its columns"))
      }
    }
    best = max(best, special(column, of: table, for: parent))
    // A word for a role says that it is a reference, as a word for a key does.
    if column.isOfPerson, people.contains(parent) { best.hasKey = true }
    return best
  }

  private func evidence(
    _ reading: ColumnName.Reading, _ name: Words, of table: String, for parent: String
  ) -> NameEvidence {
    if let found = joined(reading, name, of: table, for: parent) { return found }
    let isFullName = full[parent] == name
    var found = reading.likeness(to: name, isOwn: table == parent, isFullName: isFullName) {
      isFullName && isOnlyOne(parent, endingIn: reading.base)
        && !isQualifiedByAnother(name, than: table)
    }
    // A table of links names both of its ends.
    let own = full[table] ?? Words([])
    let isWeak = found.strength > 0 && found.strength < NameEvidence.exact
    if table != parent, isWeak, own.contains(name) {
      found.strength += 0.8
    }
    // Where several tables have one name: the one whose full name it is, or that of this module.
    if found.strength >= NameEvidence.exact, !isFullName, !areOfOneModule(table, parent),
      !contains(table, parent)
    {
      found.strength -= 0.1
    }
    return found
  }

  /// `status_id` of `issues` is `issue_statuses`.
  private func joined(
    _ reading: ColumnName.Reading, _ name: Words, of table: String, for parent: String
  ) -> NameEvidence? {
    guard table != parent, !reading.isQualified,
      names(of: table).contains(where: { ($0.list + reading.base.list).joined() == name.joined })
    else { return nil }
    return reading.exact("named after it, with its own table's name")
  }

  private func evidence(
    _ reading: ColumnName.Reading, ofClassesIn parent: String, for table: String
  ) -> NameEvidence {
    let own = names(of: table)
    let isNamed = classes[parent]?.contains { words in
      words == reading.base || own.contains { $0.list + reading.base.list == words.list }
    }
    return isNamed == true && !reading.isQualified
      ? reading.exact("named after a class of its rows") : .none
  }

  private func isOnlyOne(_ table: String, endingIn base: Words) -> Bool {
    !full.contains { $0.key != table && $0.value.joined.hasSuffix(base.joined) }
  }

  /// Whether a name says that the table belongs to a third one: `issue_categories` to `issues`.
  private func isQualifiedByAnother(_ name: Words, than table: String) -> Bool {
    let own = full[table] ?? Words([])
    return full.contains { other in
      name.begins(with: other.value) && own != other.value && !own.begins(with: other.value)
    }
  }

  private func special(
    _ column: ColumnName, of table: String, for parent: String
  ) -> NameEvidence {
    let hasKey = column.readings.contains { $0.key != nil }
    if table == parent, column.isOfParent {
      return NameEvidence(
        strength: hasKey ? 3 : column.words.joined == "parent" ? 2.9 : NameEvidence.exact,
        reason: "named after a parent in its own table", hasKey: hasKey, isRole: true)
    }
    if column.isOfSubject, table != parent, isNamed(table, after: parent) {
      return NameEvidence(strength: 2.2, reason: "its table is named after it", hasKey: true)
    }
    if column.isOfPerson, people.contains(parent) {
      return NameEvidence(strength: 1.7, reason: "named after a role", hasKey: true)
    }
    return .none
  }
}
