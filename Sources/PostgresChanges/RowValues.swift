internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// The values that a change file gives to the columns of a row. The database makes them of JSON.
struct RowValues {
  private let store: StoreConnection
  private let node: Node
  private let key: String
  private let table: MappedTable
  private let columns: [Column]

  struct Column {
    let name: String
    let quoted: String
    let isGenerated: Bool
    let isPrimary: Bool
    let isKey: Bool
    let hasDefault: Bool
    let isRequired: Bool
    /// Without a domain.
    let type: String
  }

  init(
    _ store: StoreConnection, _ node: Node, _ key: String, in table: MappedTable,
    _ columns: [Column]
  ) {
    (self.store, self.node, self.key, self.table) = (store, node, key, table)
    self.columns = columns
  }

  static func columns(of table: MappedTable, _ store: StoreConnection) throws -> [Column] {
    let rows = try store.db.run(
      """
      SELECT a.attname, format('%I', a.attname), a.attgenerated <> '', EXISTS (
        SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary
        AND a.attnum = ANY(i.indkey::int2[])),
      a.atthasdef OR a.attidentity <> '',
      format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL), a.attnotnull
      FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
      ORDER BY a.attnum
      """, [table.name]
    ).rows
    return rows.map { row in
      Column(
        name: row[0]!, quoted: row[1]!, isGenerated: row[2] == "t", isPrimary: row[3] == "t",
        isKey: table.key.all.contains { $0.name == quoted(row[0]!) }, hasDefault: row[4] == "t",
        isRequired: row[6] == "t", type: row[5]!)
    }
  }

  private func reject(_ message: String) -> Rejection {
    Rejection(.invalid, "\(node): \(message)", node: node)
  }

  /// Finds a column that may be written.
  private func column(_ name: String) throws -> Column {
    let column = try anyColumn(name)
    if column.isGenerated { throw reject("\"\(name)\" is a generated column") }
    return column
  }

  private func anyColumn(_ name: String) throws -> Column {
    if let column = columns.first(where: { $0.name == name }) { return column }
    let hint = nearest(name, in: columns.filter { !$0.isGenerated }.map(\.name))
      .map { "; did you mean \"\($0)\"?" }
    throw reject("the table \(table.name) has no column \"\(name)\"\(hint ?? "")")
  }

  /// The members as the database makes values of them: what JSON cannot say, it reads from a text.
  private func record(of members: [Member]) throws -> JSONText {
    JSONText(
      object: try members.map { member in
        Member(name: member.name, value: try value(of: member))
      })
  }

  private func value(of member: Member) throws -> JSONText {
    let column = try anyColumn(member.name)
    do throws(GivenValue.Malformed) {
      return try column.text(of: GivenValue(member.value)).map { JSONText(.string($0)) }
        ?? member.value
    } catch {
      throw reject("\"\(column.name)\": \(error)")
    }
  }

  private var record: String { "json_populate_record(NULL::\(table.name), $2::json) r" }

  // MARK: - The whole row

  /// A put describes the whole row: a column that it does not give gets its default, or stays as it
  /// is with `merge`. The key stays, and so does the primary key, by which others know the row.
  /// Whether the row is new.
  func put(_ value: JSONText?, merge: Bool) throws -> Bool {
    guard let members = (value ?? JSONText(object: [])).members() else {
      throw reject("the value of a row must be an object whose members are columns")
    }
    let given = try members.map { try column($0.name) }
    let record = try record(of: members)
    try rejectOtherKey(given.filter(\.isKey), record)
    let names = Set(given.map(\.name))
    let others = columns.filter { column in
      !merge && !column.isGenerated && !column.isKey && !column.isPrimary
        && !names.contains(column.name)
    }
    if let assignments = try assignments(given.filter { !$0.isKey }, record, others) {
      _ = try update(assignments, record)
      return false
    }
    try insert(given.filter { !$0.isKey }, record)
    return true
  }

  /// Those that change the row; nil if it is not there. What a default would give is known only if
  /// there is none.
  private func assignments(
    _ given: [Column], _ value: JSONText, _ others: [Column]
  ) throws -> [Assignment]? {
    let isDifferent =
      given.map { "x.\($0.quoted)::text IS DISTINCT FROM r.\($0.quoted)::text" }
      + others.map { $0.hasDefault ? "true" : "x.\($0.quoted) IS NOT NULL" }
    let all =
      given.map { Assignment($0.quoted, "r.\($0.quoted)") }
      + others.map { Assignment($0.quoted, nil) }
    let row = try store.db.run(
      """
      SELECT \((["true"] + isDifferent).joined(separator: ", ")) FROM \(table.name) x, \(record)
      WHERE \(table.key.equal("x", text: "$1")) FOR UPDATE OF x
      """, [key, value.text]
    ).rows.first
    return row.map { row in zip(all, row.dropFirst()).filter { $1 == "t" }.map(\.0) }
  }

  /// A member for a column of the key may only repeat it.
  private func rejectOtherKey(_ given: [Column], _ value: JSONText) throws {
    let parts = table.key.parts(of: "$1")
    for column in given {
      let place = table.key.all.firstIndex { $0.name == quoted(column.name) }!
      let isSame = try store.db.run(
        "SELECT coalesce(r.\(column.quoted) = \(parts[place]), false) FROM \(record)",
        [key, value.text]
      ).bool
      if isSame { continue }
      throw reject("\"\(column.name)\" is part of its key, but its value has another one")
    }
  }

  private func insert(_ given: [Column], _ value: JSONText) throws {
    let names = table.key.all.map(\.name) + given.map(\.quoted)
    let values = table.key.parts(of: "$1") + given.map { "r.\($0.quoted)" }
    let statement = store.binding.insertion(into: table.name, names, values, from: record)
    try store.writing(table.name) { _ = try store.db.run(statement, [key, value.text]) }
  }

  // MARK: - As it was

  /// The columns that have other values than these; nil if the row is not there. Lists and objects
  /// are compared as JSON, however they are written.
  func changedColumns(since expected: [Member]) throws -> [String]? {
    let columns = try expected.map { try anyColumn($0.name) }
    let isSame = columns.map { column in
      "to_jsonb(x.\(column.quoted)) IS NOT DISTINCT FROM to_jsonb(r.\(column.quoted)), "
        + "x.\(column.quoted)::text"
    }
    let row = try store.db.run(
      """
      SELECT \((["true"] + isSame).joined(separator: ", ")) FROM \(table.name) x, \(record)
      WHERE \(table.key.equal("x", text: "$1")) FOR UPDATE OF x
      """, [key, record(of: expected).text]
    ).rows.first
    guard let row else { return nil }
    return zip(expected, columns).enumerated().filter { index, pair in
      row[1 + 2 * index] != "t" && !pair.0.value.isSameDocument(as: row[2 + 2 * index])
    }.map { $1.1.name }
  }

  /// Whether the row is there.
  private func update(_ assignments: [Assignment], _ value: JSONText) throws -> Bool {
    let isIt = table.key.equal("x", text: "$1")
    if assignments.isEmpty {
      return try store.db.run("SELECT \(table.has("$1"))", [key]).bool
    }
    let statement = store.binding.update(
      table.name, "x", set: assignments, from: record, where: isIt, returning: [])
    return try store.writing(table.name) {
      try store.db.run(statement, [key, value.text]).changed > 0
    }
  }

  // MARK: - Some columns

  /// An unset member becomes null, since a column has no other absence.
  func patch(set: [Member], unset: [String]) throws {
    let nulls = try unset.map { Assignment(try patched($0).quoted, "NULL") }
    let values = try set.filter { member in !unset.contains { $0.hasBytes(of: member.name) } }
      .map { member in
        let column = try patched(member.name)
        return Assignment(column.quoted, "r.\(column.quoted)")
      }
    if try update(values + nulls, record(of: set)) { return }
    throw Rejection(.invalid, "\(node) cannot be patched: it does not exist", node: node)
  }

  private func patched(_ name: String) throws -> Column {
    let column = try column(name)
    if column.isKey { throw reject("\"\(name)\" is part of its key and cannot change") }
    return column
  }
}

extension RowValues.Column {
  /// The text from which the database reads a value that JSON cannot say; nil for JSON.
  fileprivate func text(of value: GivenValue) throws(GivenValue.Malformed) -> String? {
    switch value {
    case .json: return nil
    case .blob(let bytes):
      try require(["bytea"], "bytes")
      return #"\x"# + bytes.map(\.hexDigits).joined()
    case .real(let number):
      try require(["real", "double precision", "numeric"], "such a number")
      return number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
    case .text(let bytes):
      if let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) { return text }
      throw GivenValue.Malformed("PostgreSQL has no text with these bytes")
    }
  }

  private func require(_ types: [String], _ what: String) throws(GivenValue.Malformed) {
    if types.contains(type) { return }
    throw GivenValue.Malformed("a column of type \(type) cannot have \(what)")
  }
}

extension UInt8 {
  fileprivate var hexDigits: String {
    (self < 16 ? "0" : "") + String(self, radix: 16)
  }
}
