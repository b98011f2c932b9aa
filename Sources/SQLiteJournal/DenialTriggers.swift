internal import CascadeEngine
package import CascadeModel
internal import CascadeSQLite
package import SQLiteBinding
internal import SQLiteTables

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
  /// What is told where no row can be named.
  let refusal: String
  /// FROM and WHERE clauses that find what denies the deletion of a row, and what denies that the
  /// row OLD gets another key. `whenRenamed` is nil if a changed key does no harm.
  let whenDeleted: (_ row: String) -> String
  let whenRenamed: String?
  /// The same for what denies that the row OLD is marked; nil if it cannot be.
  var whenMarked: String?
  /// The error message, as SQL over the clauses that deny a row.
  let message: (_ row: String) -> String

  /// By a rule. `relationship` is its name, and `holder` the node that denies, as SQL over the clauses.
  init(
    denied: NodeTable, rule: Rules, relationship: String,
    whenDeleted: @escaping (_ row: String) -> String, whenRenamed: String?, holder: String
  ) {
    (self.denied, self.whenDeleted, self.whenRenamed) = (denied, whenDeleted, whenRenamed)
    refusal = "\(denied.collection): \(rule.names.joined())"
    message = { row in
      let why = DenialText.held(
        by: holder, relationship, literal(rule.names.joined()), words: { literal($0) })
      return DenialText.stays(denied.described(row), because: why, words: { literal($0) })
        .joined(separator: " || ")
    }
  }

  /// Of nodes that are protected.
  init(protected table: NodeTable) {
    func rows(_ row: String) -> String {
      """
      FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
          WHERE p.collection = \(table.id) AND p.key = +\(table.key(row))
      """
    }
    (denied, whenDeleted, whenRenamed, whenMarked) = (table, rows, rows("OLD"), rows("OLD"))
    refusal = "\(table.collection): a protected row"
    message = { row in
      func text(with root: String?) -> String {
        DenialText.protected(
          table.described(row), with: root, because: "t.reason", words: { literal($0) }
        ).joined(separator: " || ")
      }
      let isRoot = "t.collection = p.collection AND t.key = p.key"
      return "iif(\(isRoot), \(text(with: nil)), \(text(with: "t.node")))"
    }
  }

  func triggers(_ number: Int) -> [Trigger] {
    guard case .mapped(let table, let key, _) = denied.kind else { return [] }
    let name = "\(number)_\(denied.collection)"
    let refuse = Trigger(
      Trigger.denial + "delete_\(name)", "BEFORE DELETE", on: table,
      when: "EXISTS (SELECT 1 \(whenDeleted("OLD")))", body(whenDeleted("OLD")))
    guard let whenRenamed else { return [refuse] }
    // By then, the actions of foreign keys have updated the references that follow the key.
    let isOld = denied.isSame("o", "OLD", "=")
    let isGone = "NOT EXISTS (SELECT 1 FROM \(quoted(table.name)) AS o WHERE \(isOld))"
    let changes = key.map { "OLD.\(quoted($0.name)) IS NOT NEW.\(quoted($0.name))" }
      .joined(separator: " OR ")
    return [
      refuse,
      Trigger(
        Trigger.denial + "rename_\(name)", "AFTER UPDATE\(table.assignments(to: key))", on: table,
        when: "(\(changes)) AND \(isGone) AND EXISTS (SELECT 1 \(whenRenamed))",
        body(whenRenamed)),
    ]
  }

  /// What is gone for others anyway is not denied again, and does not deny.
  func markTriggers(_ number: Int, _ marked: MarkedTable?) -> [Trigger] {
    guard let marked, let whenMarked else { return [] }
    let isNew = "NOT \(marked.isMarked("OLD")) AND \(marked.isMarked("NEW"))"
    return [
      Trigger(
        "\(Trigger.denial)mark_\(number)_\(denied.collection)", "BEFORE \(marked.event)",
        on: marked.table, when: "\(isNew) AND EXISTS (SELECT 1 \(whenMarked))", body(whenMarked))
    ]
  }

  /// Before SQLite 3.47, RAISE takes only a literal, which cannot name a row. An error of
  /// json_extract contains its argument: "JSON path error near '…'". It ends the statement as RAISE
  /// would. The RAISE behind it does so in any case.
  private func body(_ rows: String) -> [String] {
    [
      "SELECT json_extract('{}', (SELECT \(message("OLD")) \(rows) LIMIT 1))",
      "SELECT RAISE(ABORT, \(literal(refusal)))",
    ]
  }

  /// For denied rows that REPLACE displaces by a UNIQUE value other than their key. Before a row is
  /// written, no trigger can tell whether it will displace the other row, be ignored, or become an
  /// update. So the denied rows are noted beforehand, and checked when the new row is there: a noted
  /// row that is gone by then was displaced.
  ///
  /// Notes that were not needed are deleted when a row of the table is written, when the noted row is
  /// deleted or gets another key, and when the daemon writes.
  func notingTriggers(_ number: Int) -> [Trigger] {
    guard let table = denied.table, case let keys = denied.otherKeys, !keys.isEmpty else {
      return []
    }
    let assigned = table.assignments(to: keys.flatMap(\.columns).compactMap(table.column))
    let events = [
      ("replace", "BEFORE INSERT", ["NEW"]),
      ("displace", "BEFORE UPDATE\(assigned)", ["NEW", "OLD"]),
    ]
    return events.map { what, event, same in
      let others = same.map { " AND NOT (\(denied.isSame("r", $0)))" }.joined()
      let rows = keys.map { key in
        "FROM \(quoted(table.name)) AS r WHERE \(key.isTaken("r", in: table))\(others) "
          + "AND EXISTS (SELECT 1 \(whenDeleted("r")))"
      }
      return Trigger(
        "\(Trigger.denial)\(what)_\(number)_\(denied.collection)", event, on: table,
        when: rows.map { "EXISTS (SELECT 1 \($0))" }.joined(separator: " OR "),
        rows.map {
          "INSERT INTO cascade_displaced SELECT \(denied.id), \(denied.key("r")), "
            + "(SELECT \(message("r")) \(whenDeleted("r")) LIMIT 1) \($0)"
        })
    }
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

  /// Unique keys other than the node's key, by which another node may displace a node.
  fileprivate var otherKeys: [Table.UniqueKey] {
    guard case .mapped(let table, let key, _) = kind else { return [] }
    return table.indexedKeys.filter { !$0.isMade(of: key.map(\.name)) }
  }

  /// Triggers that check the noted rows, whichever denial noted them.
  var displacedCheckTriggers: [Trigger] {
    guard case .mapped(let table, let key, _) = kind, !otherKeys.isEmpty else { return [] }
    let others = table.assignments(to: otherKeys.flatMap(\.columns).compactMap(table.column))
    let rows = """
      FROM cascade_displaced AS p
        WHERE p.collection = \(id) AND NOT (\(hasRowInTrigger(withKey: "p.key")))
      """
    let forget = "DELETE FROM cascade_displaced WHERE collection = \(id)"
    let forgetOne = ["\(forget) AND key IS \(self.key("OLD"))"]
    // See `DenialTriggers.body`.
    let check = [
      "SELECT json_extract('{}', (SELECT p.message \(rows) LIMIT 1))",
      "SELECT RAISE(ABORT, \(literal("\(collection): a denied row would be displaced"))) \(rows)",
      forget,
    ]
    let events = [
      ("replaced", "INSERT", check), ("displaced", "UPDATE\(others)", check),
      ("gone", "DELETE", forgetOne), ("renamed", "UPDATE\(table.assignments(to: key))", forgetOne),
    ]
    return events.map { what, event, body in
      Trigger(
        "\(Trigger.denial)\(what)_\(id)_\(collection)", "AFTER \(event)", on: table,
        when: "EXISTS (SELECT 1 FROM cascade_displaced)", body)
    }
  }
}

/// The denials that the model, and the edges of the store, require.
package struct RequiredDenials {
  package let binding: Binding
  /// The rules that some stored edge has, or once had.
  package let rulesSeen: Rules
  /// The collections of which rows are protected.
  package let protected: [Int64]

  package init(binding: Binding, rulesSeen: Rules, protected: [Int64]) {
    (self.binding, self.rulesSeen, self.protected) = (binding, rulesSeen, protected)
  }

  package var triggers: [Trigger] {
    let all =
      protected.compactMap(binding.collection).map(DenialTriggers.init(protected:))
      + binding.edgeRelations.flatMap(refusals) + stored
    let displaceable = all.filter { binding.model.watchesReplacedRows($0.denied.collection) }
    return all.enumerated().flatMap {
      $1.triggers($0) + $1.markTriggers($0, binding.marked[$1.denied.id])
    }
      + displaceable.enumerated().flatMap { $1.notingTriggers($0) }
      + displaceable.map(\.denied).unique.flatMap(\.displacedCheckTriggers)
  }

  private func refusals(_ relation: EdgeRelation) -> [DenialTriggers] {
    let deniesDestination = relation.rules.contains(.denyDestinationDeletion)
    let byDestination = relation.destination.isMapped && deniesDestination
    return
      (byDestination
      ? [whenMarked(relation.deniesDestination, .source, of: relation)] : [])
      + (relation.rules.contains(.denySourceDeletion)
        ? [whenMarked(relation.deniesSource, .destination, of: relation)] : [])
  }

  private func whenMarked(
    _ denial: DenialTriggers, _ end: EdgeEnd, of relation: EdgeRelation
  ) -> DenialTriggers {
    var denial = denial
    let isSeen = end == .source || !relation.namesDestinationByList
    let isThere = isSeen ? binding.isNotMarked(end.alias, of: relation[end]) : "1"
    denial.whenMarked = "\(denial.whenDeleted("OLD")) AND \(isThere)"
    return denial
  }

  private var stored: [DenialTriggers] {
    binding.collections.values.sorted { $0.id < $1.id }.flatMap { table in
      [Rules.denyDestinationDeletion, .denySourceDeletion].compactMap { rule in
        let isRequired =
          rulesSeen.contains(rule) || !possibleHolders(of: table.collection, rule).isEmpty
        return isRequired ? deniedByStoredEdges(table, rule) : nil
      }
    }
  }

  /// The collections that may hold a node of this one by the model's stored edges with this rule.
  private func possibleHolders(of collection: String, _ rule: Rules) -> [String] {
    let model = binding.model
    return model.relationships.filter { $0.edgeStorage == .stored && $0.rules.contains(rule) }
      .flatMap { relationship -> [String] in
        let from = model.collection(of: relationship.from)
        let to = relationship.to.collections.map(model.collection)
        if rule == .denySourceDeletion { return from == collection ? to : [] }
        return to.contains(collection) ? [from] : []
      }
  }

  /// A holder whose row is gone holds nothing. Only holders that the model names are checked,
  /// because the application cannot rebuild a table that a trigger names.
  private func deniedByStoredEdges(_ table: NodeTable, _ rule: Rules) -> DenialTriggers {
    let (own, other) =
      rule == .denySourceDeletion ? ("source", "destination") : ("destination", "source")
    let alive = possibleHolders(of: table.collection, rule).unique.sorted()
      .compactMap { binding.collections[$0] }.map { holder in
        """
         AND (o.collection <> \(holder.id) OR \(holder.hasRowInTrigger(withKey: "o.key")))
        """
      }
    func rows(_ row: String) -> String {
      """
      FROM cascade_node AS n CROSS JOIN cascade_edge AS e ON e.\(own) = n.id
          CROSS JOIN cascade_node AS o ON o.id = e.\(other)
          WHERE n.collection = \(table.id) AND n.key = +\(table.key(row))
          AND e.rules & \(rule.rawValue) AND o.id <> n.id\(alive.joined())
      """
    }
    return DenialTriggers(
      denied: table, rule: rule,
      relationship: "(SELECT name FROM cascade_name WHERE id = e.name)", whenDeleted: rows,
      whenRenamed: rows("OLD"),
      holder: "(SELECT name FROM cascade_collection WHERE id = o.collection) || '/' || "
        + NodeTable.shown("o.key"))
  }
}

extension EdgeRelation {
  fileprivate var deniesDestination: DenialTriggers {
    func rows(_ row: String) -> String {
      "\(sources) WHERE \(destination.isReference(reference, toRow: row))"
        + " AND \(isEdge) AND \(source.isNode("s")) AND \(leadsNowhereElseInTrigger)"
    }
    func isOther(_ row: String) -> String {
      source == destination ? " AND NOT (\(source.isSame("s", row)))" : ""
    }
    return DenialTriggers(
      denied: destination, rule: .denyDestinationDeletion, relationship: literal(name),
      whenDeleted: { rows($0) + isOther($0) }, whenRenamed: rows("OLD"),
      holder: source.described("s"))
  }

  /// The sources and their references, for a trigger.
  private var sources: String {
    guard let sourceReference, let table = referringTable else {
      return "FROM \(source.rowsInTrigger) AS s \(references)"
    }
    return "FROM \(quoted(table.name)) AS j CROSS JOIN \(source.rowsInTrigger) AS s "
      + "ON \(source.hasKey("s", sourceReference))"
  }

  /// A reference in the row itself moves to the new key with the row. One in a join table stays
  /// behind.
  fileprivate var deniesSource: DenialTriggers {
    func rows(_ row: String) -> String {
      let isOther = source == destination ? " AND NOT (\(destinationInTrigger.isSame(row)))" : ""
      return
        "\(sources)\(destinationInTrigger.join) WHERE \(source.isSame("s", row, "=")) AND \(isEdge)"
        + " AND \(destinationInTrigger.isThere)\(isOther)"
    }
    return DenialTriggers(
      denied: source, rule: .denySourceDeletion, relationship: literal(name), whenDeleted: rows,
      whenRenamed: joinRowsLeftBehind, holder: destinationInTrigger.name)
  }

  /// A list in one value says the key.
  fileprivate var namesDestinationByList: Bool {
    destination.isComposite && !reference.hasSeveralValues
  }

  private var joinRowsLeftBehind: String? {
    guard let sourceReference, let table = referringTable else { return nil }
    return "FROM \(quoted(table.name)) AS j\(destinationInTrigger.join) "
      + "WHERE \(source.isReference(sourceReference, toRow: "OLD"))"
      + " AND \(isEdge) AND \(destinationInTrigger.isThere)"
  }

  /// The destination, for a trigger: its row `d`, or what a list says of a composite key. Only
  /// Cascade's own function could take such a list apart for a join.
  private var destinationInTrigger:
    (join: String, isThere: String, name: String, isSame: (String) -> String)
  {
    if namesDestinationByList {
      let list = reference.value
      return (
        "", "(\(destination.hasRowInTrigger(withKey: list)))",
        destination.described(list: list), { destination.isSame($0, list: list) }
      )
    }
    let join =
      " CROSS JOIN \(destination.rowsInTrigger) AS d "
      + "ON \(destination.hasKey("d", reference))"
    return (join, "1", destination.described("d"), { destination.isSame("d", $0) })
  }
}
