internal import CascadeSQLite

/// Where the nodes of a collection are stored, as SQL. `alias` is a row of `rows`. `m` is a row of
/// `temp.known`, or of `cascade_node` for a managed node; both tables have id, collection and key.
package struct NodeTable: Hashable, Sendable {
  /// The number and the name of the collection.
  package let id: Int64
  package let collection: String
  package let kind: Kind

  package init(id: Int64, collection: String, kind: Kind) {
    (self.id, self.collection, self.kind) = (id, collection, kind)
  }

  package enum Kind: Hashable, Sendable {
    case mapped(Table, key: [Table.Column], collations: [String])
    case managed
    /// Paths below a root. They have no rows, and every path that is named counts as existing. The
    /// key is the path as text; a reference may have the same bytes as a blob.
    case files
  }

  package var table: Table? {
    if case .mapped(let table, _, _) = kind { table } else { nil }
  }

  package var isMapped: Bool { table != nil }

  package var isComposite: Bool { keyColumns.count > 1 }

  /// The table to write after FROM.
  package var rows: String {
    switch kind {
    case .mapped(let table, _, _): "main.\(quoted(table.name))"
    case .managed, .files: "main.cascade_node"
    }
  }

  /// The columns of the key; empty for what is no table of the application.
  package var columnsOfKey: [Table.Column] {
    if case .mapped(_, let key, _) = kind { key } else { [] }
  }

  package var keyNames: [String] { isMapped ? columnsOfKey.map(\.name) : ["key"] }

  private var keyColumns: [String] { keyNames.map(quoted) }

  package func keyColumns(_ alias: String) -> [String] { keyColumns.map { "\(alias).\($0)" } }

  /// The values of the key's columns, from a key of `temp.known`.
  package func keyParts(_ value: String) -> [String] {
    if !isComposite { return [value] }
    return keyColumns.indices.map { CompositeKeyPart.read($0, of: value) }
  }

  /// The key as stored in `temp.known`: the value itself, or the list of a composite key.
  package func key(_ alias: String) -> String {
    let columns = keyColumns(alias)
    if columns.count == 1 { return columns[0] }
    return "json_array(\(columns.map(CompositeKeyPart.written).joined(separator: ", ")))"
  }

  /// Whether an outer join by the key found a row.
  package func isFound(_ alias: String) -> String { "\(keyColumns(alias)[0]) IS NOT NULL" }

  /// Only rows with a complete key are nodes.
  package func isNode(_ alias: String) -> String {
    switch kind {
    case .mapped: keyColumns(alias).map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    case .managed, .files: "\(alias).collection = \(id)"
    }
  }

  /// The fastest way to find a row, as long as no other connection can write.
  package func row(_ alias: String) -> String {
    switch kind {
    case .mapped(let table, _, _): table.rowid.map { "\(alias).\($0)" } ?? "NULL"
    case .managed: "\(alias).id"
    case .files: "NULL"
    }
  }

  /// Whether `alias` is the row of the node `m`.
  package func isRow(_ alias: String, of m: String, _ form: NumberForm = .byKey) -> String {
    guard case .mapped(let table, _, _) = kind else { return "\(alias).id = \(m).id" }
    if form == .byRowid { return "\(row(alias)) = \(row(m))" }
    if let rowid = table.rowid { return "\(alias).\(rowid) = \(m).row" }
    return hasKey(alias, "\(m).key")
  }

  /// Whether a row has this key, compared as the key's column compares.
  package func hasKey(_ alias: String, _ value: String) -> String {
    if isMapped {
      let parts = zip(keyColumns(alias), keyParts(list(value))).map { "\($0) = \($1)" }
      return parts.joined(separator: " AND ")
    }
    return "\(alias).collection = \(id) AND \(alias).key = CAST(\(value) AS TEXT)"
  }

  /// The list of a composite key. An application may have written anything in its place; Cascade's
  /// own keys are lists.
  private func list(_ value: String) -> String {
    if !isComposite || value.hasSuffix(".key") { return value }
    return "iif(json_valid(\(value)), \(value), NULL)"
  }

  /// Whether a row has this key, for a trigger: only SQLite's own functions are available there.
  package func hasRowInTrigger(withKey value: String) -> String {
    let rows = "EXISTS (SELECT 1 FROM \(rowsInTrigger) AS h WHERE"
    if !isComposite { return "\(rows) \(hasKey("h", value)))" }
    return "(\(rows) \(isSame("h", list: value))) "
      + "OR \(CompositeKeyPart.needsDecoding(value)) AND \(rows) \(key("h")) = \(value)))"
  }

  /// Whether a row has the composite key that a list says, if SQLite itself can read the list.
  package func isSame(_ row: String, list value: String) -> String {
    keyColumns(row).enumerated().map { "\($1) = \(list(value)) ->> \($0)" }
      .joined(separator: " AND ")
  }

  /// Whether the value of a reference is the part of the key at `index`; nil: the list of all parts.
  func isValue(
    _ reference: String, _ key: String, _ column: Table.Column?, at index: Int?
  ) -> String {
    let affinity = index.map { columnsOfKey[$0].affinity }
    let collation = collation(at: index ?? 0)
    if affinity?.isNumeric == true && column?.affinity == .blob {
      return "\(reference)\(collation) "
        + "IN (+\(key), iif(typeof(\(key)) = 'blob', +\(key), CAST(\(key) AS TEXT)))"
    }
    // A column without a type does not convert a number to text, even beside another column.
    return "\(reference) = \(affinity == .blob ? "" : "+")\(key)\(collation)"
  }

  /// The other direction: whether a key that has a number is what a reference says.
  package func keyEqualsReference(_ key: String, by reference: String) -> String {
    "\(key) = \(named(by: reference))\(collation())"
  }

  /// Whether the key is what one of the references in these rows says.
  package func keyEqualsReference(_ key: String, byOneOf reference: String, _ rows: String)
    -> String
  {
    "\(key)\(collation()) IN (SELECT \(named(by: reference)) \(rows))"
  }

  private func named(by reference: String) -> String {
    isMapped ? reference : "+CAST(\(reference) AS TEXT)"
  }

  /// How a part of the key compares, whatever the collation of the other side.
  private func collation(at index: Int = 0) -> String {
    guard case .mapped(let table, let key, let collations) = kind, index < collations.count else {
      return ""
    }
    // A rowid is never text. Other numeric columns may hold text: UUID and STRING are numeric types
    // for SQLite.
    let isNumber = key.count == 1 && key[index].affinity.isNumeric
    return isNumber && table.isRowidColumn ? "" : " COLLATE \(quoted(collations[index]))"
  }

  package var collations: [String]? {
    if case .mapped(_, _, let collations) = kind { collations } else { nil }
  }

  /// A value from a JSON text, or from a column of another type, as the key's column would store
  /// it. Bytes stay what they are. The `+` removes the affinity.
  package func asKey(_ value: String) -> String {
    isMapped ? asKey(value, as: columnsOfKey[0]) : "+CAST(\(value) AS TEXT)"
  }

  func asKey(_ value: String, as column: Table.Column) -> String {
    if column.affinity == .text {
      return "iif(typeof(\(value)) = 'blob', \(value), CAST(\(value) AS TEXT))"
    }
    if !column.affinity.isNumeric { return value }
    return "iif(\(value) = CAST(CAST(\(value) AS INTEGER) AS TEXT), CAST(\(value) AS INTEGER), "
      + "\(value))"
  }

  /// The table that numbers its nodes: rows with id, collection and key.
  package var nodes: String { kind == .managed ? "main.cascade_node" : "temp.known" }

  func isListed(_ alias: String, _ value: String) -> String {
    table?.rowid == nil ? hasKey(alias, value) : "\(row(alias)) = \(value)"
  }

  /// A condition: the row has the key that is bound from `first` on. It is compared as the key's
  /// own index compares, so that at most one row matches.
  package func isKeyed(_ alias: String, from first: Int = 1) -> String {
    guard case .mapped(_, let key, let collations) = kind else { return "0" }
    return zip(key, collations).enumerated().map { index, column in
      "\(alias).\(quoted(column.0.name)) = ?\(first + index) COLLATE \(quoted(column.1))"
    }.joined(separator: " AND ")
  }

  /// The same as `rows`, for a trigger: without a schema name, because the file may be attached
  /// under another one later.
  package var rowsInTrigger: String { table.map { quoted($0.name) } ?? "cascade_node" }
}
