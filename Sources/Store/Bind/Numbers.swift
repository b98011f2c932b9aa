internal import CascadeSQLite
/// How the nodes of a collection are numbered within a transaction.
///
/// 1. A managed node, and whatever a stored edge names, has the id of its row in `cascade_node`.
/// 2. What somebody named by its key, or has no rowid, is in `temp.known`, behind all of those.
/// 3. Any other row of the application is known by where it is: its number is its rowid behind the
///    `base` of its table, and negative. So a cascade over a million rows writes down no keys.
enum Numbered: CaseIterable { case byName, byRow }

/// Which tables have rows of each kind, as far as a flush has to know.
struct Numbers: Sendable {
  /// Rows may be known by where they are.
  var byRow: Set<Int64> = []
  /// The last rowid that such a table had.
  var last: [Int64: Int64] = [:]
  /// Some rows have a number in `temp.known`.
  var named: Set<Int64> = []
  /// Some rows have a number in `cascade_node`.
  var stored: Set<Int64> = []
  /// No row has a key that is not whole, so all of them are nodes.
  var whole: Set<Int64> = []

  /// Who refers to what goes from a JSON list is known.
  var hasLists = false

  /// Places of lists of which `temp.listed` has whoever refers to what goes, also since the plan.
  var noted: Set<String> = []

  var gone: Place.Driver { Place.Driver(rows: "temp.gone AS g", id: "g.id", hasLists: hasLists) }

  /// Of the references of a place, those that are there now.
  func now(_ place: Place, _ driver: Place.Driver = .gone) -> Place.Driver {
    Place.Driver(rows: driver.rows, id: driver.id, hasLists: noted.contains(place.listing))
  }

  /// Whether all of its rows are known by where they are.
  func isEachByRow(in table: NodeTable) -> Bool {
    byRow.contains(table.id) && !named.contains(table.id) && !stored.contains(table.id)
  }

  func forms(of table: NodeTable) -> [Numbered] {
    byRow.contains(table.id) ? [.byName, .byRow] : [.byName]
  }
}

extension NodeTable {
  private static let rowsOfATable: Int64 = 1 << 44
  private static let mostTables: Int64 = 1 << 17

  /// What stands before the rowid; nil where there is none.
  var base: Int64? {
    if table?.rowid == nil || id >= NodeTable.mostTables || id <= -NodeTable.mostTables {
      return nil
    }
    let slot = id >= 0 ? id : NodeTable.mostTables - id
    return -(slot + 1) * NodeTable.rowsOfATable
  }

  /// The collection of such a number, whichever its table is.
  static func collection(ofRow number: String) -> String {
    let slot = "((-\(number) - 1) / \(rowsOfATable))"
    return "iif(\(slot) < \(mostTables), \(slot), \(mostTables) - \(slot))"
  }

  /// Whether a number is one of its rows'.
  func hasRow(_ number: String) -> String {
    guard let base else { return "0" }
    // The `+` leaves the choice of the index to the slice.
    return "+\(number) BETWEEN \(base) AND \(base + NodeTable.rowsOfATable - 1)"
  }

  /// Whether the row `alias` may have one.
  func isInRange(_ alias: String) -> String {
    "\(row(alias)) BETWEEN 0 AND \(NodeTable.rowsOfATable - 1)"
  }

  /// Nil for a row that can have none.
  func number(ofRow row: Int64) -> Int64? {
    guard let base, (0..<NodeTable.rowsOfATable).contains(row) else { return nil }
    return base + row
  }

  /// The rowid behind such a number.
  func rowid(of number: String) -> String {
    guard let base else { return "NULL" }
    return "\(number) - (\(base))"
  }

  /// The number of the row `alias`; NULL for one that has yet to be named.
  func number(_ alias: String, _ numbers: Numbers) -> String {
    if kind == .managed { return "\(alias).id" }
    guard let base, numbers.byRow.contains(id) else { return "NULL" }
    var choices: [String] = []
    if numbers.named.contains(id) {
      choices.append(
        """
        (SELECT i.id FROM temp.known AS i
          WHERE i.id > 0 AND i.collection = \(id) AND i.row = \(row(alias)))
        """)
    }
    if numbers.stored.contains(id) { choices.append(number(ofKey: "+\(key(alias))")) }
    choices.append("\(base) + \(row(alias))")
    return choices.count == 1 ? choices[0] : "coalesce(\(choices.joined(separator: ", ")))"
  }

  /// The number, key and row of `alias`. What has a number because of where it is needs no key.
  func found(_ alias: String, _ numbers: Numbers) -> String {
    let number = number(alias, numbers)
    let key = numbers.isEachByRow(in: self) ? "NULL" : key(alias)
    return "\(number), \(key), \(row(alias))"
  }

  /// Only rows with a whole key are nodes.
  func isNode(_ alias: String, _ numbers: Numbers) -> String {
    numbers.whole.contains(id) ? "1" : isNode(alias)
  }

  /// The node `m` with this number: what stands behind CROSS JOIN.
  func node(_ form: Numbered, _ number: String) -> String {
    switch form {
    // Without the plus, SQLite infers that whatever equals the number is above zero too, and looks
    // through all of these.
    case .byName: "\(nodes) AS m ON m.id = \(number) AND +m.id > 0 AND m.collection = \(id)"
    case .byRow:
      "\(rows) AS m ON \(row("m")) = \(rowid(of: number)) AND \(hasRow(number))"
    }
  }

  /// The row `alias` of the node with this number, where it is there.
  func row(_ alias: String, of number: String, _ form: Numbered) -> String {
    switch form {
    case .byName: "\(node(form, number)) CROSS JOIN \(rows) AS \(alias) ON \(isRow(alias, of: "m"))"
    case .byRow: "\(rows) AS \(alias) ON \(row(alias)) = \(rowid(of: number)) AND \(hasRow(number))"
    }
  }

  func nodeKey(_ form: Numbered) -> String { form == .byName ? "m.key" : key("m") }

  /// Whether what a reference names, as the key's column would keep it, is among those that go: rows of `temp.gone` called g.
  func goes(_ reference: String, _ numbers: Numbers, where condition: String) -> String {
    let named = kind == .managed ? "" : "m.id > 0 AND "
    var ways = [
      """
      EXISTS (SELECT 1 FROM \(nodes) AS m CROSS JOIN temp.gone AS g ON g.id = m.id
        WHERE \(named)m.collection = \(id) AND \(isNamed("m.key", by: reference))
          AND \(condition))
      """
    ]
    if let base, numbers.byRow.contains(id) {
      ways.append(
        """
        EXISTS (SELECT 1 FROM \(rows) AS m CROSS JOIN temp.gone AS g ON g.id = \(base) + \(row("m"))
          WHERE \(hasKey("m", reference)) AND \(condition))
        """)
    }
    return "(\(ways.joined(separator: " OR ")))"
  }

  /// Whether the row of `alias` stays: it is not among what is still to go. What went already is not
  /// there: a row that looks like it came afterwards.
  func stays(_ alias: String, _ numbers: Numbers) -> String {
    isOutside("temp.going", alias, numbers)
  }

  /// Whether the row of `alias` is not in a table of numbers.
  func isOutside(_ list: String, _ alias: String, _ numbers: Numbers) -> String {
    if kind == .managed || numbers.byRow.contains(id) {
      return """
        NOT EXISTS (SELECT 1 FROM \(list) AS x WHERE x.id = \(number(alias, numbers)))
        """
    }
    // Without the column's affinity, which the index on names does not have.
    return """
      NOT EXISTS (SELECT 1 FROM temp.known AS k JOIN \(list) AS x ON x.id = k.id
        WHERE k.id > 0 AND k.collection = \(id) AND k.key = +\(key(alias)))
      """
  }
}

extension Connection {
  /// Where the keys of a table compare in a way of their own, names are found in that way too.
  func indexKnown(_ binding: Binding) throws {
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
}

extension Connection {
  func numbers(_ binding: Binding) throws(SQLiteError) -> Numbers {
    var numbers = Numbers()
    let isResumed =
      try integer(
        "SELECT 1 FROM temp.known WHERE id > 0 AND collection = 0 AND key = 'resumed'") != nil
    for table in binding.collections.values {
      let id = Value.integer(table.id)
      if !isResumed, let last = try lastRowInRange(table) {
        numbers.byRow.insert(table.id)
        numbers.last[table.id] = last
      }
      if try hasWholeKeys(table) { numbers.whole.insert(table.id) }
      let named = try integer(
        "SELECT 1 FROM temp.known WHERE id > 0 AND collection = ? AND row IS NOT NULL LIMIT 1", id)
      if named != nil { numbers.named.insert(table.id) }
      let stored = try integer("SELECT 1 FROM cascade_node WHERE collection = ? LIMIT 1", id)
      if stored != nil { numbers.stored.insert(table.id) }
    }
    return numbers
  }

  /// The key of one column has an index, which has what is null in front.
  private func hasWholeKeys(_ table: NodeTable) throws(SQLiteError) -> Bool {
    if table.keyColumns("d").count != 1 { return false }
    return try integer(
      generated: "SELECT 1 FROM \(table.rows) AS d WHERE \(table.key("d")) IS NULL LIMIT 1") == nil
  }

  /// Zero where there are no rows; nil where some have no number, or may get none.
  private func lastRowInRange(_ table: NodeTable) throws(SQLiteError) -> Int64? {
    guard let base = table.base, let rowid = table.table?.rowid else { return nil }
    return try integer(
      generated: """
        SELECT l.row FROM (SELECT coalesce((SELECT max(\(rowid)) FROM \(table.rows)), 0) AS row) AS l
        WHERE coalesce((SELECT min(\(rowid)) FROM \(table.rows)), 0) >= 0
          AND \(table.hasRow("(\(base) + l.row)"))
        """)
  }

  /// Keys for numbers that say where a row is, as long as it is there: for who has to tell them.
  func nameRows(
    _ binding: Binding, _ numbers: String, _ values: [Value] = []
  ) throws(SQLiteError) {
    for table in binding.collections.values where table.base != nil {
      try run(
        generated: """
          INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
          SELECT v.id, \(table.id), \(table.key("m")), \(table.row("m")), 1
          FROM (\(numbers)) AS v CROSS JOIN \(table.node(.byRow, "v.id"))
          """, values)
    }
  }
}
