internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// Triggers for denied rows that REPLACE displaces by a UNIQUE value other than their key. Before a
/// row is written, no trigger can tell whether it will displace the other row, be ignored, or
/// become an update. So the denied rows are noted beforehand, and checked when the new row is
/// there: a noted row that is gone by then was displaced.
///
/// Notes that were not needed are deleted when a row of the table is written, when the noted row is
/// deleted or gets another key, and when the daemon writes.
extension DenialTriggers {
  func notingTriggers(_ number: Int) -> [Trigger] {
    guard let table = denied.table else { return [] }
    let keys = denied.otherKeys
    if keys.isEmpty { return [] }
    let name = "\(number)_\(denied.collection)"
    let columns = keys.flatMap(\.columns).compactMap(table.column)
    return [
      note("replace_\(name)", "BEFORE INSERT", on: table, keys, unless: "NEW"),
      note(
        "displace_\(name)", "BEFORE UPDATE\(table.assignments(to: columns))", on: table, keys,
        unless: "NEW", "OLD"),
    ]
  }

  private func note(
    _ name: String, _ event: String, on table: Table, _ keys: [Table.UniqueKey],
    unless same: String...
  ) -> Trigger {
    let others = same.map { " AND NOT (\(denied.isSame("r", $0)))" }.joined()
    let rows = keys.map { key in
      "FROM \(quoted(table.name)) AS r WHERE \(key.isTaken("r", in: table))\(others) "
        + "AND EXISTS (SELECT 1 \(whenDeleted("r")))"
    }
    return Trigger(
      Trigger.denial + name, event, on: table,
      when: rows.map { "EXISTS (SELECT 1 \($0))" }.joined(separator: " OR "),
      rows.map {
        "INSERT INTO cascade_displaced SELECT \(denied.id), \(denied.key("r")), "
          + "(SELECT \(message("r")) \(whenDeleted("r")) LIMIT 1) \($0)"
      })
  }
}

extension NodeTable {
  /// Unique keys other than the node's key, by which another node may displace a node.
  fileprivate var otherKeys: [Table.UniqueKey] {
    guard case .mapped(let table, let key, _) = kind else { return [] }
    return table.indexedKeys.filter { !$0.isMade(of: key.map(\.name)) }
  }

  /// Triggers that check the noted rows, whichever denial noted them.
  var displacedCheckTriggers: [Trigger] {
    guard case .mapped(let table, let key, _) = kind, !otherKeys.isEmpty else { return [] }
    let others = table.assignments(to: otherKeys.flatMap(\.columns).compactMap(table.column))
    let forget = "DELETE FROM cascade_displaced WHERE collection = \(id)"
    let forgetOne = "\(forget) AND key IS \(self.key("OLD"))"
    return [
      trigger("replaced", "INSERT", on: table, displacedDenialStatements + [forget]),
      trigger("displaced", "UPDATE\(others)", on: table, displacedDenialStatements + [forget]),
      trigger("gone", "DELETE", on: table, [forgetOne]),
      trigger("renamed", "UPDATE\(table.assignments(to: key))", on: table, [forgetOne]),
    ]
  }

  private func trigger(
    _ what: String, _ event: String, on table: Table, _ body: [String]
  ) -> Trigger {
    Trigger(
      "\(Trigger.denial)\(what)_\(id)_\(collection)", "AFTER \(event)", on: table,
      when: "EXISTS (SELECT 1 FROM cascade_displaced)", body)
  }

  /// See `DenialTriggers.body`.
  private var displacedDenialStatements: [String] {
    let rows = """
      FROM cascade_displaced AS p
        WHERE p.collection = \(id) AND NOT (\(hasRowInTrigger(withKey: "p.key")))
      """
    return [
      "SELECT json_extract('{}', (SELECT p.message \(rows) LIMIT 1))",
      "SELECT RAISE(ABORT, \(literal("\(collection): a denied row would be displaced"))) \(rows)",
    ]
  }
}
