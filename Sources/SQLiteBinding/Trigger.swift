internal import CascadeModel
internal import CascadeSQLite

/// A persistent trigger of Cascade's. The text is byte for byte what SQLite stores, so that a
/// changed trigger is found by comparison.
package struct Trigger: Hashable, Sendable {
  package let name: String
  package let sql: String

  package init(name: String, sql: String) { (self.name, self.sql) = (name, sql) }

  /// SQLite stores the text without the schema name. Without it here, CREATE TRIGGER would choose a
  /// temporary table of Cascade's, if one had the same name.
  package var creation: String { "CREATE TRIGGER main.\(sql.dropFirst("CREATE TRIGGER ".count))" }

  /// `condition` is checked first, because it is seldom true. Whether the daemon itself writes is
  /// checked last; what it marks is told like the marks of others.
  package init(
    _ name: String, _ event: String, on table: Table, when condition: String?, _ body: [String]
  ) {
    self.name = name
    let isDenial = name.hasPrefix(Trigger.denial)
    let isQuiet = isDenial ? "" : " WHERE id = \(Muting.all)"
    let quiet =
      name.hasPrefix(Trigger.mark) ? nil : "NOT EXISTS (SELECT 1 FROM cascade_muted\(isQuiet))"
    let conditions = [condition.map { "(\($0))" }, quiet].compactMap(\.self)
    sql = """
      CREATE TRIGGER \(quoted(name)) \(event) ON \(quoted(table.name))
      WHEN \(conditions.joined(separator: " AND "))
      BEGIN
      \(body.map { "  \($0);\n" }.joined())END
      """
  }

  package static let denial = "cascade_deny_"

  /// What the names of Cascade's triggers are like. Other names with the same prefix belong to the
  /// application.
  package static let patterns =
    ([
      "delete", "update", "arrive", "arrive_key", "replace", "replaced", "displace", "displaced",
      "list", "relist", "mark",
    ]
    + denials.map { "deny_\($0)" })
    .flatMap { ["cascade_\($0)_[0-9]*_*", "cascade_\($0)_join_[0-9]*_*"] }

  /// Whether a row of the schema is a trigger of Cascade's, as SQL.
  package static let isOurs = patterns.map { "name GLOB '\($0)'" }.joined(separator: " OR ")

  static let denials = [
    "delete", "rename", "replace", "displace", "replaced", "displaced", "gone", "renamed",
    "mark",
  ]

  /// Whether the trigger writes the journal. The other triggers leave nothing to be read.
  package var isWatch: Bool {
    ![Trigger.denial, Trigger.list, Trigger.listUpdate, Trigger.mark].contains(
      where: name.hasPrefix)
  }

  package static let mark = "cascade_mark_"

  package static let list = "cascade_list_"

  package static let listUpdate = "cascade_relist_"
}

extension Array where Element: Hashable {
  /// The elements without duplicates, in the order of their first occurrence.
  package var unique: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
