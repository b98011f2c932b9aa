package import CascadeSQLite

/// How the nodes of a collection are numbered within a transaction.
///
/// 1. A managed node, and every node that a stored edge names, has the id of its row in
///    `cascade_node`.
/// 2. A node that was named by its key, or that has no rowid, is in `temp.known`, with a number
///    above all of those.
/// 3. Any other row of the application is identified by its position: its number is the `base` of
///    its table plus its rowid, and negative. So a cascade over a million rows stores no keys.
package enum NumberForm: CaseIterable { case byKey, byRowid }

/// Which tables have rows of each kind, as far as a flush needs to know.
package struct NumberedTables: Sendable {
  /// Tables whose rows may be numbered by position.
  package var byRowid: Set<Int64> = []
  /// The last rowid in each of these tables.
  package var lastRowids: [Int64: Int64] = [:]
  /// Tables with rows that have a number in `temp.known`.
  var tablesInKnown: Set<Int64> = []
  /// Tables with rows that have a number in `cascade_node`.
  package var tablesInNodes: Set<Int64> = []
  /// Tables in which every row has a complete key, so that all rows are nodes.
  var tablesWithCompleteKeys: Set<Int64> = []

  /// Whether the JSON lists that refer to nodes that go are known.
  package var hasLists = false

  /// Lists for which `temp.list_references` has all rows that refer to nodes that go, including
  /// rows written since the plan.
  package var notedLists: Set<String> = []

  /// Whether references that wait since an earlier sweep are left to the next one
  /// (`WaitingReferences.swift`).
  package var leavesWaiting = false

  package init() {}

  package var gone: EdgeRelation.StartingNodes {
    EdgeRelation.StartingNodes(rows: "temp.gone AS g", id: "g.id", hasLists: hasLists)
  }

  /// Finds those references of a relation that exist now.
  package func existingReferences(
    _ relation: EdgeRelation, _ driver: EdgeRelation.StartingNodes = .gone
  ) -> EdgeRelation.StartingNodes {
    EdgeRelation.StartingNodes(
      rows: driver.rows, id: driver.id, hasLists: notedLists.contains(relation.listedName))
  }

  /// Whether all rows of the table are numbered by position.
  package func isEachByRow(in table: NodeTable) -> Bool {
    byRowid.contains(table.id) && !tablesInKnown.contains(table.id)
      && !tablesInNodes.contains(table.id)
  }

  package func forms(of table: NodeTable) -> [NumberForm] {
    byRowid.contains(table.id) ? [.byKey, .byRowid] : [.byKey]
  }
}

extension NodeTable {
  /// What is added to the rowid; nil if the rows cannot be numbered by position.
  package var numberBase: Int64? {
    if table?.rowid == nil || id >= NumberRange.mostTables || id <= -NumberRange.mostTables {
      return nil
    }
    let slot = id >= 0 ? id : NumberRange.mostTables - id
    return -(slot + 1) * NumberRange.rowsOfATable
  }

  /// The collection of such a number, whichever its table is, as SQL.
  package static func collection(ofRow number: String) -> String {
    let slot = "((-\(number) - 1) / \(NumberRange.rowsOfATable))"
    return "iif(\(slot) < \(NumberRange.mostTables), \(slot), \(NumberRange.mostTables) - \(slot))"
  }

  /// Whether a number belongs to one of its rows.
  package func hasRow(_ number: String) -> String {
    guard let numberBase else { return "0" }
    // The `+` leaves the choice of the index to the condition of the slice.
    return "+\(number) BETWEEN \(numberBase) AND \(numberBase + NumberRange.rowsOfATable - 1)"
  }

  /// Whether the row `alias` may have such a number.
  package func isInRange(_ alias: String) -> String {
    "\(row(alias)) BETWEEN 0 AND \(NumberRange.rowsOfATable - 1)"
  }

  /// Nil for a row that cannot have such a number.
  package func number(ofRow row: Int64) -> Int64? {
    guard let numberBase, (0..<NumberRange.rowsOfATable).contains(row) else { return nil }
    return numberBase + row
  }

  /// The rowid of such a number, as SQL.
  package func rowid(of number: String) -> String {
    guard let numberBase else { return "NULL" }
    return "\(number) - (\(numberBase))"
  }

  /// The number of the row `alias`; NULL if it has none until it is named by its key.
  package func number(_ alias: String, _ numbers: NumberedTables) -> String {
    if kind == .managed { return "\(alias).id" }
    guard let numberBase, numbers.byRowid.contains(id) else { return "NULL" }
    var choices: [String] = []
    if numbers.tablesInKnown.contains(id) {
      choices.append(
        """
        (SELECT i.id FROM temp.known AS i
          WHERE i.id > 0 AND i.collection = \(id) AND i.row = \(row(alias)))
        """)
    }
    if numbers.tablesInNodes.contains(id) { choices.append(number(ofKey: "+\(key(alias))")) }
    choices.append("\(numberBase) + \(row(alias))")
    return choices.count == 1 ? choices[0] : "coalesce(\(choices.joined(separator: ", ")))"
  }

  /// The number, key and row of `alias`. The key is NULL if all rows are numbered by position.
  package func numberKeyAndRow(_ alias: String, _ numbers: NumberedTables) -> String {
    let number = number(alias, numbers)
    let key = numbers.isEachByRow(in: self) ? "NULL" : key(alias)
    return "\(number), \(key), \(row(alias))"
  }

  /// Only rows with a complete key are nodes.
  package func isNode(_ alias: String, _ numbers: NumberedTables) -> String {
    numbers.tablesWithCompleteKeys.contains(id) ? "1" : isNode(alias)
  }

  /// The node `m` with this number, for use after CROSS JOIN.
  package func node(_ form: NumberForm, _ number: String) -> String {
    switch form {
    // Without the plus, SQLite infers that whatever equals the number is above zero too, and scans
    // all such rows.
    case .byKey: "\(nodes) AS m ON m.id = \(number) AND +m.id > 0 AND m.collection = \(id)"
    case .byRowid: row("m", of: number, form)
    }
  }

  /// The row `alias` of the node with this number, if the row exists.
  package func row(_ alias: String, of number: String, _ form: NumberForm) -> String {
    switch form {
    case .byKey: "\(node(form, number)) CROSS JOIN \(rows) AS \(alias) ON \(isRow(alias, of: "m"))"
    case .byRowid:
      "\(rows) AS \(alias) ON \(row(alias)) = \(rowid(of: number)) AND \(hasRow(number))"
    }
  }

  package func nodeKey(_ form: NumberForm) -> String { form == .byKey ? "m.key" : key("m") }

  /// Whether the node that a reference names is among the rows of `temp.gone`, called g. The
  /// reference has the form that the key's column would store.
  package func isGoingReference(
    _ reference: Reference, _ numbers: NumberedTables, where condition: Query
  ) -> Query {
    let named = nodesNamed(by: reference)
    var ways: [Query] = [
      """
      EXISTS (SELECT 1 FROM \(named.rows) CROSS JOIN temp.gone AS g ON g.id = m.id
        WHERE \(named.condition) AND \(condition))
      """
    ]
    if let numberBase, numbers.byRowid.contains(id) {
      ways.append(
        """
        EXISTS (SELECT 1 FROM \(rows) AS m CROSS JOIN temp.gone AS g ON g.id = \(numberBase) + \(row("m"))
          WHERE \(hasKey("m", reference)) AND \(condition))
        """)
    }
    return "(\(ways.joined(separator: " OR ")))"
  }

  /// Whether a table of numbers has the node that a reference names by its key.
  func isListed(_ list: String, by reference: Reference) -> String {
    let named = nodesNamed(
      by: reference.hasSeveralValues ? reference : Reference(asKey(reference)))
    return """
      EXISTS (SELECT 1 FROM \(named.rows) CROSS JOIN \(list) AS n ON n.id = m.id
        WHERE \(named.condition))
      """
  }

  /// The nodes `m` with a number that a reference names by their key. Several values are compared
  /// with the columns of the row `p`, which has the key.
  private func nodesNamed(by reference: Reference) -> (rows: String, condition: String) {
    let isNumbered = "\(kind == .managed ? "" : "m.id > 0 AND ")m.collection = \(id)"
    if !reference.hasSeveralValues {
      let isNamed = keyEqualsReference("m.key", by: reference.value)
      return ("\(nodes) AS m", "\(isNumbered) AND \(isNamed)")
    }
    return (
      "\(rows) AS p CROSS JOIN \(nodes) AS m",
      "\(hasKey("p", reference)) AND \(isNumbered) AND m.key = +\(key("p"))"
    )
  }

  /// Whether the row of `alias` stays, because it is not among the rows still to be deleted. Rows
  /// deleted earlier no longer exist: a row that looks like one of them was added afterwards.
  package func stays(_ alias: String, _ numbers: NumberedTables) -> String {
    isNotListed("temp.still_to_go", alias, numbers)
  }

  package func isNotListed(_ list: String, _ alias: String, _ numbers: NumberedTables) -> String {
    isNotListed(Query(list), alias, numbers).text
  }

  func isNotListed(_ list: Query, _ alias: String, _ numbers: NumberedTables) -> Query {
    if kind == .managed || numbers.byRowid.contains(id) {
      return """
        NOT EXISTS (SELECT 1 FROM \(list) AS x WHERE x.id = \(number(alias, numbers)))
        """
    }
    // Without the column's affinity, which the index on keys does not have.
    return """
      NOT EXISTS (SELECT 1 FROM temp.known AS k JOIN \(list) AS x ON x.id = k.id
        WHERE k.id > 0 AND k.collection = \(id) AND k.key = +\(key(alias)))
      """
  }
}

extension Connection {
  /// If the keys of a table have a collation of their own, nodes must be found by that collation
  /// too.
  package func indexKnown(_ binding: Binding) throws {
    let collations = binding.collections.values.compactMap(\.collations)
      .filter { $0.count == 1 }.map { $0[0].uppercased() }
    for collation in Set(collations).subtracting(["BINARY"]) {
      try run(
        generated: """
          CREATE INDEX IF NOT EXISTS temp.\(quoted("known_\(collation)"))
          ON known(collection, key COLLATE \(quoted(collation))) WHERE id > 0
          """, [])
    }
  }

  package func numbers(_ binding: Binding) throws(SQLiteError) -> NumberedTables {
    var numbers = NumberedTables()
    let isResumed =
      try integer(
        "SELECT 1 FROM temp.known WHERE id > 0 AND collection = 0 AND key = ?",
        .text(NumberRange.reservationKey)) != nil
    for table in binding.collections.values {
      if !isResumed, let last = try lastRowInRange(table) {
        numbers.byRowid.insert(table.id)
        numbers.lastRowids[table.id] = last
      }
      // The index on a key of one column has NULL first, so this is a quick lookup.
      let incomplete = "SELECT 1 FROM \(table.rows) AS d WHERE \(table.key("d")) IS NULL LIMIT 1"
      if !table.isComposite, try integer(generated: incomplete) == nil {
        numbers.tablesWithCompleteKeys.insert(table.id)
      }
      let named = try integer(
        "SELECT 1 FROM temp.known WHERE id > 0 AND collection = ? AND row IS NOT NULL LIMIT 1",
        .integer(table.id))
      if named != nil { numbers.tablesInKnown.insert(table.id) }
      if try hasStoredNodes(of: table.id) { numbers.tablesInNodes.insert(table.id) }
    }
    return numbers
  }

  /// Whether the collection has rows in `cascade_node`.
  package func hasStoredNodes(of collection: Int64) throws(SQLiteError) -> Bool {
    try integer(
      "SELECT 1 FROM cascade_node WHERE collection = ? LIMIT 1", .integer(collection)) != nil
  }

  /// Zero if there are no rows; nil if some rows have no such number, or new ones may get none.
  private func lastRowInRange(_ table: NodeTable) throws(SQLiteError) -> Int64? {
    guard let base = table.numberBase, let rowid = table.table?.rowid else { return nil }
    return try integer(
      generated: """
        SELECT l.row FROM (SELECT coalesce((SELECT max(\(rowid)) FROM \(table.rows)), 0) AS row) AS l
        WHERE coalesce((SELECT min(\(rowid)) FROM \(table.rows)), 0) >= 0
          AND \(table.hasRow("(\(base) + l.row)"))
        """)
  }

  /// Stores the keys of nodes that are numbered by position, while their rows exist, for code that
  /// must report them.
  package func storeKeysOfRows(
    _ binding: Binding, _ numbers: String, _ values: [Value] = []
  ) throws(SQLiteError) {
    for table in binding.collections.values where table.numberBase != nil {
      try run(
        generated: """
          INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
          SELECT v.id, \(table.id), \(table.key("m")), \(table.row("m")), 1
          FROM (\(numbers)) AS v CROSS JOIN \(table.node(.byRowid, "v.id"))
          """, values)
    }
  }
}
