internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteEdges

/// The values that a change gives to the columns of a row.
struct RowValues {
  let node: Node
  let table: Table
  let key: [Table.Column]
  private let collations: [String]
  private(set) var given: [Given] = []

  typealias Given = (column: Table.Column, value: Value)

  init(_ node: Node, in table: NodeTable) {
    guard case .mapped(let its, let key, let collations) = table.kind else {
      preconditionFailure("\(node) is a row")
    }
    self.node = node
    self.table = its
    self.key = key
    self.collations = collations
  }

  mutating func give(_ column: Table.Column, _ value: Value) throws {
    if given.contains(where: { $0.column.name == column.name }) {
      throw makeRejection("\"\(column.name)\" is given twice")
    }
    given.append((column, value))
  }

  func value(of column: Table.Column) -> Value? {
    given.first { $0.column.name == column.name }?.value
  }

  func collation(of column: Table.Column) -> String {
    zip(key, collations).first { $0.0.name == column.name }?.1 ?? "BINARY"
  }

  func isKey(_ column: Table.Column) -> Bool { key.contains { $0.name == column.name } }

  /// Finds a column that may be written.
  func column(_ name: String) throws -> Table.Column {
    let column = table.columns.first { $0.name == name } ?? table.column(name)
    guard let column else {
      let names = table.columns.filter { !$0.isGenerated }.map(\.name)
      let hint = nearest(name, in: names).map { "; did you mean \"\($0)\"?" } ?? ""
      throw makeRejection("the table \"\(table.name)\" has no column \"\(name)\"\(hint)")
    }
    if column.isGenerated { throw makeRejection("\"\(column.name)\" is a generated column") }
    return column
  }

  func makeRejection(_ message: String) -> Rejection {
    Rejection(.invalid, "\(node): \(message)", node: node)
  }
}

extension JSONText {
  /// The value as a column of this affinity takes it.
  func value(as affinity: Table.Affinity) -> Value {
    switch json {
    case .null: .null
    case .bool(let flag): .integer(flag ? 1 : 0)
    case .integer(let number): .integer(number)
    case .number(let number): .real(number)
    case .string(let text):
      if affinity == .blob, let bytes = [UInt8](sqlBlob: text) { .blob(bytes) } else { .text(text) }
    case .array, .object, .raw: .text(text)
    }
  }
}

extension Writer {
  /// The columns that a put gives: the members of its value. A member for a column of the key may
  /// only repeat it.
  func columns(_ value: JSONText?, of node: Node, in table: NodeTable) throws -> RowValues {
    var row = RowValues(node, in: table)
    let keys = try keyValues(node, table)
    for (column, value) in zip(row.key, keys) { try row.give(column, value) }
    guard let value else { return row }
    guard let members = value.members() else {
      throw row.makeRejection("the value of a row must be an object whose members are columns")
    }
    for member in members {
      let column = try row.column(member.name)
      let given = member.value.value(as: column.affinity)
      if let place = row.key.firstIndex(where: { $0.name == column.name }) {
        try rejectOtherKey(given, unless: keys[place], column, row)
      } else {
        try row.give(column, given)
      }
    }
    return row
  }

  /// Rejects a value that differs from the key. Compared as the column compares, for which 5, 5.0
  /// and '5' may be the same.
  private func rejectOtherKey(
    _ given: Value, unless key: Value, _ column: Table.Column, _ row: RowValues
  ) throws {
    let given = Key(given)?.value(as: column.affinity) ?? .null
    let collation = quoted(row.collation(of: column))
    let same = try db.integer(generated: "SELECT ?1 = ?2 COLLATE \(collation)", [given, key])
    if same == 1 { return }
    throw row.makeRejection("\"\(column.name)\" is part of its key, but its value has another one")
  }

  /// The columns that a patch gives. An unset member becomes NULL, since a column has no other
  /// absence.
  func columns(
    set: [Member], unset: [String], of node: Node, in table: NodeTable
  ) throws -> RowValues {
    var row = RowValues(node, in: table)
    for member in set {
      let column = try patched(member.name, row)
      try row.give(column, member.value.value(as: column.affinity))
    }
    for name in unset { try row.give(patched(name, row), .null) }
    return row
  }

  private func patched(_ name: String, _ row: RowValues) throws -> Table.Column {
    let column = try row.column(name)
    if row.isKey(column) {
      throw row.makeRejection("\"\(column.name)\" is part of its key and cannot change")
    }
    return column
  }
}
