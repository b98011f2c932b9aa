internal import CascadeModel
internal import CascadeSQLite
/// A denial (rules 128 and 256) as triggers that refuse at once what it denies.
///
/// What denies is in another table, so these triggers name one. While they are there, the
/// application cannot rebuild that other table (create, copy, drop, rename) without detaching: the
/// rename finds a trigger that names a table which is not there. The journal's triggers, which
/// everybody has, name none.
///
/// With `recursive_triggers` on, REPLACE deletes a row before it puts the new one: where the row is
/// denied, it is refused, although the node would have stayed. No trigger can tell the two apart.
struct Refusal {
  /// Whose rows are denied.
  let denied: NodeTable
  let rule: Rules
  /// The name of the relationship, as SQL.
  let relationship: String
  /// From what denies that a row is deleted, and what denies that the key of the row OLD becomes
  /// another: FROM and WHERE. Nil where a changed key is in nobody's way.
  let whenDeleted: (_ row: String) -> String
  let whenRenamed: String?
  /// The node that denies, as SQL, in the words of those.
  let holder: String

  func triggers(_ number: Int) -> [Trigger] {
    guard case .mapped(let table, let key, _) = denied.kind else { return [] }
    let name = "\(number)_\(denied.collection)"
    let refuse = Trigger(
      Trigger.denial + "delete_\(name)", "BEFORE DELETE", on: table,
      when: "EXISTS (SELECT 1 \(whenDeleted("OLD")))", body(whenDeleted("OLD")))
    guard let whenRenamed else { return [refuse] }
    // By then the actions of foreign keys have brought along what followed the key.
    let isGone = "NOT EXISTS (SELECT 1 FROM \(quoted(table.name)) AS o WHERE \(isOld("o")))"
    return [
      refuse,
      Trigger(
        Trigger.denial + "rename_\(name)", "AFTER UPDATE\(table.assignments(to: key))", on: table,
        when: "\(changes(key)) AND \(isGone) AND EXISTS (SELECT 1 \(whenRenamed))",
        body(whenRenamed)),
    ]
  }

  private func isOld(_ row: String) -> String { denied.isSame(row, "OLD", "=") }

  private func changes(_ key: [Table.Column]) -> String {
    let changes = key.map { "OLD.\(quoted($0.name)) IS NOT NEW.\(quoted($0.name))" }
    return "(\(changes.joined(separator: " OR ")))"
  }

  /// RAISE takes nothing but a literal before SQLite 3.47, which cannot name a row. An error of
  /// json_extract carries what it was given: "JSON path error near '…'". It ends the statement as
  /// RAISE would. Behind it stands one that does so in any case.
  private func body(_ rows: String) -> [String] {
    [
      "SELECT json_extract('{}', (SELECT \(message("OLD")) \(rows) LIMIT 1))",
      "SELECT RAISE(ABORT, \(literal("\(denied.collection): \(rule.names.joined())")))",
    ]
  }

  /// In the words of what denies the row.
  func message(_ row: String) -> String {
    "\(denied.described(row)) || ' must stay: ' || \(holder) || ' holds it by \"' || "
      + "\(relationship) || \(literal("\" (\(rule.names.joined()))"))"
  }
}

extension NodeTable {
  /// A node as people write it, in SQL; never null, which would leave nothing of a message.
  func described(_ row: String) -> String {
    if isComposite { return described(list: key(row)) }
    return "\(literal(collection + "/")) || \(NodeTable.shown(key(row)))"
  }

  func described(list: String) -> String {
    "\(literal("[\(JSON.string(collection).text),")) || \(list) || ']'"
  }

  static func shown(_ key: String) -> String {
    "iif(typeof(\(key)) = 'blob', 'x''' || hex(\(key)) || '''', coalesce(\(key), ''))"
  }

  /// Whether two rows have the same key.
  func isSame(_ row: String, _ other: String, _ comparison: String = "IS") -> String {
    guard case .mapped(_, let key, _) = kind else { return "0" }
    return key.map { "\(row).\(quoted($0.name)) \(comparison) \(other).\(quoted($0.name))" }
      .joined(separator: " AND ")
  }

  /// As `rows`, in a trigger: without the name of a schema, which may be another's tomorrow.
  var rowsInTrigger: String { table.map { quoted($0.name) } ?? "cascade_node" }
}
