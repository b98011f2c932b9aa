internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// A denial (rules 128 and 256) as triggers that refuse at once what it denies.
///
/// What denies is in another table, so these triggers name that table. While they exist, the
/// application cannot rebuild it (create, copy, drop, rename) without detaching: the rename finds a
/// trigger that names a missing table. The journal's triggers, which every store has, name no other
/// table.
///
/// With `recursive_triggers` on, REPLACE deletes a row before it inserts the new one. If the row is
/// denied, this is refused, although the node would have stayed. No trigger can tell the two cases
/// apart.
struct DenialTriggers {
  /// The collection whose rows are denied.
  let denied: NodeTable
  let rule: Rules
  /// The name of the relationship, as SQL.
  let relationship: String
  /// FROM and WHERE clauses that find what denies the deletion of a row, and what denies that the
  /// row OLD gets another key. `whenRenamed` is nil if a changed key does no harm.
  let whenDeleted: (_ row: String) -> String
  let whenRenamed: String?
  /// The node that denies, as SQL over these clauses.
  let holder: String

  func triggers(_ number: Int) -> [Trigger] {
    guard case .mapped(let table, let key, _) = denied.kind else { return [] }
    let name = "\(number)_\(denied.collection)"
    let refuse = Trigger(
      Trigger.denial + "delete_\(name)", "BEFORE DELETE", on: table,
      when: "EXISTS (SELECT 1 \(whenDeleted("OLD")))", body(whenDeleted("OLD")))
    guard let whenRenamed else { return [refuse] }
    // By then, the actions of foreign keys have updated the references that follow the key.
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

  /// Before SQLite 3.47, RAISE takes only a literal, which cannot name a row. An error of
  /// json_extract contains its argument: "JSON path error near '…'". It ends the statement as RAISE
  /// would. The RAISE behind it does so in any case.
  private func body(_ rows: String) -> [String] {
    [
      "SELECT json_extract('{}', (SELECT \(message("OLD")) \(rows) LIMIT 1))",
      "SELECT RAISE(ABORT, \(literal("\(denied.collection): \(rule.names.joined())")))",
    ]
  }

  /// The error message, as SQL over the clauses that deny `row`.
  func message(_ row: String) -> String {
    "\(denied.described(row)) || ' must stay: ' || \(holder) || ' holds it by \"' || "
      + "\(relationship) || \(literal("\" (\(rule.names.joined()))"))"
  }
}

extension NodeTable {
  /// A node in its written form, as SQL. It is never null: that would erase the whole message.
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
  package func isSame(_ row: String, _ other: String, _ comparison: String = "IS") -> String {
    guard case .mapped(_, let key, _) = kind else { return "0" }
    return key.map { "\(row).\(quoted($0.name)) \(comparison) \(other).\(quoted($0.name))" }
      .joined(separator: " AND ")
  }
}
