/// What a column's name may say about the table that it refers to.
struct ColumnName {
  /// One reading of the name: `album_id` is `album` with the key `id`.
  struct Reading: Hashable {
    let base: Words
    /// The word for the key; nil if the name has none.
    let key: String?
    /// Whether a word that only qualifies was left out: `old` of `old_status_id`.
    var isQualified = false
  }

  /// Without the prefix that all columns of the table share.
  let words: Words
  let readings: [Reading]

  /// `prefix` is a word with which all columns of the table begin. Only if it says something, as the
  /// name of a table does, the name is read with it, too.
  init(_ name: String, prefix: String? = nil, isPrefixTold: Bool = true) {
    let whole = Words(of: name)
    let isPrefixed = prefix != nil && whole.list.first == prefix && whole.list.count > 1
    words = isPrefixed ? whole.dropFirst() : whole
    let told = isPrefixed && isPrefixTold ? ColumnName.readings(of: whole) : []
    readings = ColumnName.readings(of: words) + told
  }

  /// `number` is no key: a track number is a place on a record. `ptr` is Django's word for the row
  /// that a row extends.
  static let keys: Set<String> = [
    "id", "ids", "uuid", "uuids", "guid", "guids", "key", "keys", "fk", "pk", "ref", "refs",
    "code", "url", "hash", "oid", "uid", "rowid", "ptr",
  ]

  /// Names of keys that say nothing about their table.
  static let plainKeys: Set<String> = keys.union([
    "name", "value", "title", "path", "type", "position", "date", "year", "time", "sort", "version",
    "email", "slug", "label", "number", "text", "data", "sequence", "seq", "rank", "index", "level",
    "order", "priority", "count", "weight",
  ])

  /// Words that tell several references to one table apart.
  private static let qualifiers: Set<String> = [
    "old", "new", "default", "previous", "prev", "next", "current", "last", "first", "original",
    "initial", "final", "fixed", "from", "to", "source", "target", "by", "parent", "child", "main",
    "primary", "secondary", "other",
  ]

  /// The two ends of what a row is about: alone, or as qualifiers.
  private static let ends: Set<String> = ["from", "to"]

  /// Names of columns that refer to a row of the same table.
  private static let parents: Set<String> = [
    "parent", "superior", "manager", "supervisor", "boss", "reportto", "replyto", "inreplyto",
    "previous", "prev", "next", "ancestor", "root", "original", "duplicateof", "replacedby",
    "supersededby", "forkof", "mergedinto", "ledby",
  ]

  /// With a preposition, names of columns that refer to a row of the same table: `inherited_from`.
  private static let origins: Set<String> = [
    "inherited", "copied", "copy", "cloned", "clone", "forked", "fork", "derived", "merged",
    "split", "duplicate", "translation", "variant", "reply", "superseded", "replaced",
  ]

  private static let prepositions: Set<String> = ["from", "of", "into", "to", "by"]

  /// Words for people, whose tables have many names.
  private static let roles: Set<String> = [
    "owner", "author", "creator", "sender", "recipient", "receiver", "assignee", "reporter",
    "editor", "reviewer", "approver", "uploader", "user", "rep", "agent", "createdby", "updatedby",
    "deletedby", "modifiedby", "assignedto", "member", "contact", "customer",
  ]

  static let people: Set<String> = [
    "user", "person", "account", "member", "employee", "staff", "profile", "contact",
  ]

  /// Words for whatever a table is about: `entity_id` of `item_attributes`.
  private static let subjects: Set<String> = [
    "entity", "object", "contentobject", "record", "row", "target", "item", "parent",
  ]

  var isOfParent: Bool {
    readings.contains { reading in
      let words = reading.base.list
      return ColumnName.parents.contains(reading.base.joined)
        || words.count == 2 && ColumnName.origins.contains(words[0])
          && ColumnName.prepositions.contains(words[1])
    }
  }

  /// Several of something, or their number.
  var isPlural: Bool { words.list.last.map { Words.singular($0) != $0 } ?? false }

  var isOfPerson: Bool {
    !isPlural
      && readings.contains { reading in
        let words = reading.base.list
        let name = reading.base.joined
        return ColumnName.roles.contains(name) || ColumnName.ends.contains(name)
          || words.last.map(ColumnName.roles.contains) == true
          || words.count > 1 && words.last == "by" || reading.key == "uid"
      }
  }

  var isOfSubject: Bool {
    readings.contains {
      let name = $0.base.joined
      return ColumnName.ends.contains(name) || $0.key != nil && ColumnName.subjects.contains(name)
    }
  }

  private static func readings(of words: Words) -> [Reading] {
    let plain = plainReadings(of: words)
    return plain + plain.flatMap(withoutQualifier)
  }

  private static func plainReadings(of words: Words) -> [Reading] {
    guard let last = words.list.last, let first = words.list.first else { return [] }
    var found: [Reading] = []
    func add(_ base: Words, _ key: String?) {
      if !base.isEmpty { found.append(Reading(base: base.singular, key: key)) }
    }
    if words.list.count > 1, keys.contains(last) { add(words.dropLast(), last) }
    if words.list.count > 2, keys.contains(last), keys.contains(words.list[words.list.count - 2]) {
      add(words.dropLast(2), last)
    }
    if words.list.count > 1, ["id", "fk", "ref"].contains(first) { add(words.dropFirst(), first) }
    for key in keys where last.hasSuffix(key) && last.count > key.count {
      add(Words(words.list.dropLast() + [String(last.dropLast(key.count))]), key)
    }
    if !keys.contains(last) { add(words, nil) }
    return found
  }

  private static func withoutQualifier(_ reading: Reading) -> [Reading] {
    let words = reading.base
    guard words.list.count > 1, let first = words.list.first, let last = words.list.last
    else { return [] }
    var bases: [Words] = []
    if qualifiers.contains(first) { bases.append(words.dropFirst()) }
    if ends.contains(last) { bases.append(words.dropLast()) }
    return bases.map { Reading(base: $0, key: reading.key, isQualified: true) }
  }
}

extension [String] {
  /// The word with which all of these names of columns begin.
  var sharedPrefix: String? {
    let names = map { Words(of: $0).list }
    guard count > 1, let first = names[0].first,
      names.allSatisfy({ $0.count > 1 && $0[0] == first })
    else { return nil }
    return first
  }
}
