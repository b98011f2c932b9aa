internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteEdges

/// Which columns of a row have the values that a change gives.
///
/// A value is the same if the column would store it as it is: numbers are equal, bytes and texts are
/// alike byte by byte, whatever the collation.
extension Writer {
  /// The values that differ from those of the row, which exists. A put writes no others.
  func different(
    _ given: [RowValues.Given], of row: RowValues, in table: NodeTable
  ) throws -> [RowValues.Given] {
    if given.isEmpty { return [] }
    let isSame = try areSame(given, of: row.node, in: table) ?? []
    return zip(given, isSame).filter { !$1 }.map(\.0)
  }

  /// Nil if there is no such row.
  private func areSame(
    _ given: [RowValues.Given], of node: Node, in table: NodeTable
  ) throws -> [Bool]? {
    let comparisons = given.enumerated().map { $1.isSame(as: "s", $0 + 1) }
    return try db.all(
      generated: """
        SELECT \(comparisons.joined(separator: ", ")) FROM \(table.rows) AS s
        WHERE \(table.isKeyed("s", from: given.count + 1))
        """, given.map(\.value) + keyValues(node, table)
    ) { row in given.indices.map { row.integer(Int32($0)) == 1 } }.first
  }

  /// Rejects the change if the node has other values, or does not exist.
  func requireUnchanged(_ node: Node, _ expected: [Member]?) throws {
    guard let expected else { return }
    let changed =
      if let table = try table(of: node.collection) {
        try changedColumns(of: node, in: table, expected)
      } else {
        try changedMembers(of: node, expected)
      }
    if let rejection = Rejection(changed: changed, of: node) { throw rejection }
  }

  /// Nil if there is no such row.
  private func changedColumns(
    of node: Node, in table: NodeTable, _ expected: [Member]
  ) throws -> [String]? {
    let keys = try keyValues(node, table)
    guard let place = try locate(keys, in: table), try !isDead(number(place, in: table.id)) else {
      return nil
    }
    let row = RowValues(node, in: table)
    let given = try expected.map { try row.given($0, to: row.anyColumn($0.name)) }
    let isSame = try given.isEmpty ? [] : areSame(given, of: node, in: table) ?? []
    var changed: [String] = []
    for (index, isSame) in isSame.enumerated() where !isSame {
      let column = given[index].column
      if try !hasJSON(expected[index].value, column, of: node, in: table) {
        changed.append(column.name)
      }
    }
    return changed
  }

  /// Whether a column has a list or an object, however it is written.
  private func hasJSON(
    _ expected: JSONText, _ column: Table.Column, of node: Node, in table: NodeTable
  ) throws -> Bool {
    guard expected.isDocument else { return false }
    let value = try db.all(
      generated: """
        SELECT s.\(quoted(column.name)) FROM \(table.rows) AS s WHERE \(table.isKeyed("s"))
        """, keyValues(node, table)
    ) { $0.value(0) }.first
    guard case .text(let text) = value else { return false }
    return expected.isSameDocument(as: text)
  }

  private func changedMembers(of node: Node, _ expected: [Member]) throws -> [String]? {
    guard let id = try existing(node) else { return nil }
    let value = try db.first("SELECT value FROM cascade_node WHERE id = ?", .integer(id)) {
      $0.optionalText(0)
    }
    return JSONText(valid: (value ?? nil) ?? "{}").changedMembers(since: expected)
  }
}

extension RowValues.Given {
  /// Whether a row has the value, which is the parameter of this number. A column without a type
  /// keeps a number as it is written.
  fileprivate func isSame(as row: String, _ number: Int) -> String {
    let (name, value) = ("\(row).\(quoted(column.name))", parameter(number))
    let isSame = "\(name) IS \(value) COLLATE BINARY"
    return column.affinity == .blob ? "\(isSame) AND typeof(\(name)) = typeof(\(value))" : isSame
  }
}
