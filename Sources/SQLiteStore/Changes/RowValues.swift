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

  struct Given {
    let column: Table.Column
    let value: Value
    /// The value has the bytes of a text, which may be no UTF-8.
    var isText = false

    /// The value, as the parameter of this number.
    func parameter(_ number: Int) -> String { isText ? "CAST(?\(number) AS TEXT)" : "?\(number)" }
  }

  init(_ node: Node, in table: NodeTable) {
    guard case .mapped(let its, let key, let collations) = table.kind else {
      preconditionFailure("\(node) is a row")
    }
    self.node = node
    self.table = its
    self.key = key
    self.collations = collations
  }

  mutating func give(_ value: Given) throws {
    if given.contains(where: { $0.column.name == value.column.name }) {
      throw makeRejection("\"\(value.column.name)\" is given twice")
    }
    given.append(value)
  }

  /// What a member of a change gives to its column.
  func given(_ member: Member, to column: Table.Column) throws -> Given {
    let value: GivenValue
    do throws(GivenValue.Malformed) {
      value = try GivenValue(member.value)
    } catch {
      throw makeRejection("\"\(column.name)\": \(error)")
    }
    switch value {
    case .json: return Given(column: column, value: member.value.value(as: column.affinity))
    case .blob(let bytes): return Given(column: column, value: .blob(bytes))
    case .text(let bytes): return Given(column: column, value: .blob(bytes), isText: true)
    case .real(let number) where number.isNaN:
      throw makeRejection("\"\(column.name)\" cannot be NaN: SQLite stores it as NULL")
    case .real(let number): return Given(column: column, value: .real(number))
    }
  }

  func value(of column: Table.Column) -> Given? {
    given.first { $0.column.name == column.name }
  }

  func collation(of column: Table.Column) -> String {
    zip(key, collations).first { $0.0.name == column.name }?.1 ?? "BINARY"
  }

  func isKey(_ column: Table.Column) -> Bool { key.contains { $0.name == column.name } }

  /// Finds a column that may be written.
  func column(_ name: String) throws -> Table.Column {
    let column = try anyColumn(name)
    if column.isGenerated { throw makeRejection("\"\(column.name)\" is a generated column") }
    return column
  }

  /// Finds a column that may be read.
  func anyColumn(_ name: String) throws -> Table.Column {
    if let column = table.columns.first(where: { $0.name == name }) ?? table.column(name) {
      return column
    }
    let names = table.columns.filter { !$0.isGenerated }.map(\.name)
    let hint = nearest(name, in: names).map { "; did you mean \"\($0)\"?" } ?? ""
    throw makeRejection("the table \"\(table.name)\" has no column \"\(name)\"\(hint)")
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
    for (column, value) in zip(row.key, keys) {
      try row.give(RowValues.Given(column: column, value: value))
    }
    guard let value else { return row }
    guard let members = value.members() else {
      throw row.makeRejection("the value of a row must be an object whose members are columns")
    }
    for member in members {
      let column = try row.column(member.name)
      let given = try row.given(member, to: column)
      if let place = row.key.firstIndex(where: { $0.name == column.name }) {
        try rejectOtherKey(given, unless: keys[place], row)
      } else {
        try row.give(given)
      }
    }
    return row
  }

  /// Rejects a value that differs from the key. Compared as the column compares, for which 5, 5.0
  /// and '5' may be the same.
  private func rejectOtherKey(
    _ given: RowValues.Given, unless key: Value, _ row: RowValues
  ) throws {
    let column = given.column
    let value = given.isText ? given.value : Key(given.value)?.value(as: column.affinity) ?? .null
    let collation = quoted(row.collation(of: column))
    let same = try db.integer(
      generated: "SELECT \(given.parameter(1)) = ?2 COLLATE \(collation)", [value, key])
    if same == 1 { return }
    throw row.makeRejection("\"\(column.name)\" is part of its key, but its value has another one")
  }

  /// The columns that a patch gives. An unset member becomes NULL, since a column has no other
  /// absence.
  func columns(
    set: [Member], unset: [String], of node: Node, in table: NodeTable
  ) throws -> RowValues {
    var row = RowValues(node, in: table)
    for member in set { try row.give(row.given(member, to: patched(member.name, row))) }
    for name in unset { try row.give(RowValues.Given(column: patched(name, row), value: .null)) }
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
