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
        AND a.attnum = ANY(i.indkey::int2[]))
      FROM pg_attribute a WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
      ORDER BY a.attnum
      """, [table.name]
    ).rows
    return rows.map { row in
      Column(
        name: row[0]!, quoted: row[1]!, isGenerated: row[2] == "t", isPrimary: row[3] == "t",
        isKey: table.key.all.contains { $0.name == quoted(row[0]!) })
    }
  }

  private func reject(_ message: String) -> Rejection {
    Rejection(.invalid, "\(node): \(message)", node: node)
  }

  /// Finds a column that may be written.
  private func column(_ name: String) throws -> Column {
    guard let column = columns.first(where: { $0.name == name }) else {
      let hint = nearest(name, in: columns.filter { !$0.isGenerated }.map(\.name))
        .map { "; did you mean \"\($0)\"?" }
      throw reject("the table \(table.name) has no column \"\(name)\"\(hint ?? "")")
    }
    if column.isGenerated { throw reject("\"\(name)\" is a generated column") }
    return column
  }

  private var record: String { "json_populate_record(NULL::\(table.name), $2::json) r" }

  // MARK: - The whole row

  /// A put describes the whole row: a column that it does not give gets its default. The key stays,
  /// and so does the primary key, by which others know the row. Whether the row is new.
  func put(_ value: JSONText?) throws -> Bool {
    let value = value ?? JSONText(object: [])
    guard let members = value.members() else {
      throw reject("the value of a row must be an object whose members are columns")
    }
    let given = try members.map { try column($0.name) }
    try rejectOtherKey(given.filter(\.isKey), value)
    let names = Set(given.map(\.name))
    let assignments = columns.filter { column in
      !column.isGenerated && !column.isKey && (names.contains(column.name) || !column.isPrimary)
    }.map { "\($0.quoted) = \(names.contains($0.name) ? "r.\($0.quoted)" : "DEFAULT")" }
    if try update(assignments, value) { return false }
    try insert(given.filter { !$0.isKey }, value)
    return true
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
    try store.db.run(
      """
      INSERT INTO \(table.name)(\(names.joined(separator: ", "))) OVERRIDING SYSTEM VALUE
      SELECT \(values.joined(separator: ", ")) FROM \(record)
      """, [key, value.text])
  }

  /// Whether the row is there.
  private func update(_ assignments: [String], _ value: JSONText) throws -> Bool {
    let isIt = table.key.equal("x", text: "$1")
    if assignments.isEmpty {
      return try store.db.run("SELECT \(table.has("$1"))", [key]).bool
    }
    return try store.db.run(
      """
      UPDATE \(table.name) x SET \(assignments.joined(separator: ", ")) FROM \(record) WHERE \(isIt)
      """, [key, value.text]
    ).changed > 0
  }

  // MARK: - Some columns

  /// An unset member becomes null, since a column has no other absence.
  func patch(set: [Member], unset: [String]) throws {
    let nulls = try unset.map { "\(try patched($0).quoted) = NULL" }
    let values = try set.filter { member in !unset.contains { $0.hasBytes(of: member.name) } }
      .map { member in
        let column = try patched(member.name)
        return "\(column.quoted) = r.\(column.quoted)"
      }
    if try update(values + nulls, JSONText(object: set)) { return }
    throw Rejection(.invalid, "\(node) cannot be patched: it does not exist", node: node)
  }

  private func patched(_ name: String) throws -> Column {
    let column = try column(name)
    if column.isKey { throw reject("\"\(name)\" is part of its key and cannot change") }
    return column
  }
}
