/// What a column's name may say about the table that it refers to.
struct ColumnName {
  /// One reading of the name: `album_id` is `album` with the key `id`.
  struct Reading: Hashable {
    let base: Words
    /// The word for the key; nil if the name has none.
    let key: String?
  }

  let words: Words
  let readings: [Reading]

  init(_ name: String) {
    words = Words(of: name)
    readings = ColumnName.readings(of: words)
  }

  /// `number` is no key: a track number is a place on a record.
  static let keys: Set<String> = [
    "id", "ids", "uuid", "uuids", "guid", "guids", "key", "keys", "fk", "pk", "ref", "refs",
    "code", "url", "hash", "oid", "uid", "rowid",
  ]

  /// Names of keys that say nothing about their table.
  static let plainKeys: Set<String> = keys.union([
    "name", "value", "title", "path", "type", "position", "date", "year", "time", "sort", "version",
    "email", "slug", "label", "number", "text", "data",
  ])

  /// Names of columns that refer to a row of the same table.
  private static let parents: Set<String> = [
    "parent", "superior", "manager", "supervisor", "boss", "reportto", "replyto", "inreplyto",
    "previous", "prev", "next", "ancestor", "root", "original", "duplicateof", "replacedby",
    "supersededby", "forkof", "mergedinto", "ledby",
  ]

  /// Words for people, whose tables have many names.
  private static let roles: Set<String> = [
    "owner", "author", "creator", "sender", "recipient", "receiver", "assignee", "reporter",
    "editor", "reviewer", "approver", "uploader", "user", "rep", "agent", "createdby", "updatedby",
    "deletedby", "modifiedby", "member", "contact", "customer",
  ]

  static let people: Set<String> = [
    "user", "person", "account", "member", "employee", "staff", "profile", "contact",
  ]

  /// Words for whatever a table is about: `entity_id` of `item_attributes`.
  private static let subjects: Set<String> = ["entity", "object", "record", "row", "target"]

  var isOfParent: Bool {
    readings.contains { ColumnName.parents.contains($0.base.joined) }
  }

  var isOfPerson: Bool {
    readings.contains {
      ColumnName.roles.contains($0.base.joined)
        || $0.base.list.last.map(ColumnName.roles.contains) == true
    }
  }

  var isOfSubject: Bool {
    readings.contains { $0.key != nil && ColumnName.subjects.contains($0.base.joined) }
  }

  private static func readings(of words: Words) -> [Reading] {
    guard let last = words.list.last, let first = words.list.first else { return [] }
    var found: [Reading] = []
    func add(_ base: Words, _ key: String?) {
      if !base.isEmpty { found.append(Reading(base: base.singular, key: key)) }
    }
    if words.list.count > 1, keys.contains(last) { add(words.dropLast(), last) }
    if words.list.count > 1, ["id", "fk", "ref"].contains(first) { add(words.dropFirst(), first) }
    for key in keys where last.hasSuffix(key) && last.count > key.count {
      add(Words(words.list.dropLast() + [String(last.dropLast(key.count))]), key)
    }
    if !keys.contains(last) { add(words, nil) }
    return found
  }
}
