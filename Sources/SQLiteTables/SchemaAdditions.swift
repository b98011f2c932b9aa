/// What a store of layout 12 may lack.
extension Schema {
  static let addedColumns: [(table: StaticString, column: StaticString, type: StaticString)] = [
    ("cascade_plan", "owns", "INTEGER NOT NULL DEFAULT 0"),
    ("cascade_plan", "by_collection", "TEXT"),
    ("cascade_plan", "spent", "INTEGER NOT NULL DEFAULT 0"),
    ("cascade_plan", "is_open", "INTEGER NOT NULL DEFAULT 0"),
    ("cascade_plan", "own_end", "INTEGER"),
    ("cascade_plan", "ended", "INTEGER"),
    ("cascade_plan", "given_up", "INTEGER NOT NULL DEFAULT 0"),
    ("cascade_plan", "restored", "INTEGER NOT NULL DEFAULT 0"),
    ("cascade_plan", "at", "INTEGER"),
    ("cascade_candidate", "plan", "INTEGER"),
    ("cascade_job", "standing", "INTEGER"),
    ("cascade_ledger", "origin", "INTEGER"),
  ]

  /// Tables that were added, with their indexes.
  static let addedParts = [
    "TABLE IF NOT EXISTS cascade_part(", "TABLE IF NOT EXISTS cascade_plan_rows(",
    "TABLE IF NOT EXISTS cascade_plan_used(",
    "TABLE IF NOT EXISTS cascade_hold_window(", "TABLE IF NOT EXISTS cascade_given_up(",
    "INDEX IF NOT EXISTS cascade_given_up_via ", "TABLE IF NOT EXISTS cascade_job(",
    "TABLE IF NOT EXISTS cascade_protection(", "TABLE IF NOT EXISTS cascade_protected(",
    "TABLE IF NOT EXISTS cascade_deleted(", "TABLE IF NOT EXISTS cascade_deleted_part(",
    "INDEX IF NOT EXISTS cascade_deleted_part_batch ",
    "INDEX IF NOT EXISTS cascade_ledger_origin ",
    "TABLE IF NOT EXISTS cascade_mark(", "TABLE IF NOT EXISTS cascade_marked(",
    "INDEX IF NOT EXISTS cascade_marked_via ", "INDEX IF NOT EXISTS cascade_marked_batch ",
  ].map { "CREATE \($0)" }

  /// The statements that make them, each with the table of an index.
  static let additions = create.map { "\($0)" }
    .filter { addedParts.contains(where: $0.hasPrefix) }
    .map { (statement: $0, table: tableOfIndex($0)) }

  /// Nil if the statement makes no index.
  private static func tableOfIndex(_ statement: String) -> String? {
    let words = statement.split(whereSeparator: \.isWhitespace)
    guard words[1] == "INDEX", let on = words.firstIndex(of: "ON") else { return nil }
    return String(words[on + 1].prefix { $0 != "(" })
  }
}
