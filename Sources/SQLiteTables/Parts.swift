package import CascadeSQLite
internal import SQLiteBinding

/// What in a database is Cascade's: types of objects in its schema, and patterns of their names.
///
/// A store has the list of the version that made its tables in `cascade_part`. So every later and every
/// earlier version knows what to drop, and that nothing else is Cascade's.
extension Schema {
  package static let tables = names(of: "TABLE")

  fileprivate static let parts: [(type: String, pattern: String)] =
    (tables + formerTables).map { ("table", $0) } + names(of: "VIEW").map { ("view", $0) }
    + Trigger.patterns.map { ("trigger", $0) } + [("index", "cascade_index_*(*)")]

  /// Tables that layouts had before there was a list.
  private static let formerTables = ["cascade_loose", "cascade_quiet", "cascade_written"]

  private static func names(of type: String) -> [String] {
    create.compactMap { statement in
      let words = "\(statement)".split(separator: "(")[0].split(separator: " ")
      return words[1] == type ? String(words.last!) : nil
    }
  }
}

extension Connection {
  borrowing func recordParts() throws(SQLiteError) {
    for part in Schema.parts {
      try run(
        "INSERT OR IGNORE INTO cascade_part VALUES(?, ?)", .text(part.type), .text(part.pattern))
    }
  }

  /// The names of Cascade's objects of a type, whichever version made them.
  package borrowing func ownParts(_ type: String) throws(SQLiteError) -> [String] {
    let known = Schema.parts.filter { $0.type == type }.map(\.pattern)
    let patterns = try known + recordedPatterns(of: type)
    let isOwn = patterns.map { "name GLOB \(literal($0))" }.joined(separator: " OR ")
    return try all(
      generated: "SELECT name FROM main.sqlite_schema WHERE type = ?1 AND (\(isOwn))", [.text(type)]
    ) { $0.text(0) }
  }

  private borrowing func recordedPatterns(of type: String) throws(SQLiteError) -> [String] {
    if try !hasTable("cascade_part") { return [] }
    return try all(
      "SELECT pattern FROM cascade_part WHERE type = ? AND pattern GLOB 'cascade_*'", .text(type)
    ) { $0.text(0) }
  }
}
