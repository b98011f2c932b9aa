internal import CascadeModel
internal import CascadeSQLite

/// The values by which a row names a node, as SQL: one for each column of the node's key, in the
/// key's order. A list in a JSON column names a composite key by one value: the list of its parts.
package struct Reference {
  package let values: [String]
  /// The columns that hold the values; nil for a value that is in no column.
  let columns: [Table.Column?]

  /// Values that are in no columns.
  package init(values: [String]) {
    self.values = values
    columns = values.map { _ in nil }
  }

  package init(_ value: String) { self.init(values: [value]) }

  /// Columns of a row.
  package init(_ names: [String], of row: String, in table: Table?) {
    values = names.map { "\(row).\(quoted($0))" }
    columns = names.map { table?.column($0) }
  }

  /// The reference that other columns hold now, from the value `list` in which it was recorded.
  package init(_ list: String, like other: Reference) {
    values =
      other.hasSeveralValues
      ? other.values.indices.map { CompositeKeyPart.read($0, of: list) } : [list]
    columns = other.columns
  }

  package var hasSeveralValues: Bool { values.count > 1 }

  /// The reference as one value: if it has several, their list, or NULL if one of them is NULL.
  package var value: String { list(of: values) }

  package var isNumber: Bool { !hasSeveralValues && columns[0]?.affinity.isNumeric == true }

  package var isComplete: String {
    values.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
  }

  /// The list of these parts, one for each value.
  fileprivate func list(of parts: [String]) -> String {
    if !hasSeveralValues { return parts[0] }
    let list = "json_array(\(parts.map(CompositeKeyPart.written).joined(separator: ", ")))"
    return "iif(\(isComplete), \(list), NULL)"
  }
}

extension NodeTable {
  /// Whether the row `alias` is what the reference names, compared as the key's columns compare.
  package func hasKey(_ alias: String, _ reference: Reference) -> String {
    if !reference.hasSeveralValues { return hasKey(alias, reference.values[0]) }
    return zip(keyColumns(alias), reference.values).map { "\($0) = \($1)" }
      .joined(separator: " AND ")
  }

  package func hasRow(withKey reference: Reference) -> String {
    "EXISTS (SELECT 1 FROM \(rows) AS p WHERE \(hasKey("p", reference)))"
  }

  /// The same for the values as the key's columns would store them.
  package func hasRow(asKeyOf reference: Reference) -> String {
    reference.hasSeveralValues
      ? hasRow(withKey: reference) : hasRow(withKey: asKey(reference.values[0]))
  }

  /// The reference as a key of this table, as `asKey` of one value.
  package func asKey(_ reference: Reference) -> String {
    if !reference.hasSeveralValues { return asKey(reference.values[0]) }
    let key = columnsOfKey
    let storesAlike = zip(reference.columns, key).allSatisfy { $0?.affinity == $1.affinity }
    if storesAlike { return reference.value }
    return reference.list(of: zip(reference.values, key).map { asKey($0, as: $1) })
  }

  /// Whether a reference leads to the node `m`. Compares by the rules of the reference's columns,
  /// so that their index is used, unless the key has a collation of its own.
  package func isReferenceToNode(by reference: Reference, _ form: NumberForm = .byKey) -> String {
    form == .byRowid
      ? isReference(reference, toRow: "m") : referenceHasKey(nodeKey(form), of: reference)
  }

  /// Whether a reference leads to an existing row.
  package func isReference(_ reference: Reference, toRow row: String) -> String {
    if !reference.hasSeveralValues { return referenceHasKey(key(row), of: reference) }
    return isReference(reference, to: keyColumns(row))
  }

  /// The same for a key that is a literal, or bound. It has no affinity, so SQLite compares it as
  /// the reference's column does: a number may be stored as text there. A column without a type
  /// keeps values as written, so digits stand for the number, and a number for its digits.
  package func referenceHasKey(_ key: String, of reference: Reference) -> String {
    if reference.hasSeveralValues { return isReference(reference, to: keyParts(key)) }
    let value = reference.values[0]
    if isMapped { return isValue(value, key, reference.columns[0], at: isComposite ? nil : 0) }
    // The list allows the use of an index. By that alone, '007' would be 7 in a numeric column.
    let number = "CAST(\(key) AS INTEGER)"
    let bytes = kind == .files ? ", CAST(\(key) AS BLOB)" : ""
    return
      "(\(value) IN (+\(key), iif(\(key) = CAST(\(number) AS TEXT), \(number), +\(key))\(bytes)) "
      + "AND CAST(\(value) AS TEXT) = +\(key) COLLATE BINARY)"
  }

  private func isReference(_ reference: Reference, to parts: [String]) -> String {
    parts.indices.map { index in
      isValue(reference.values[index], parts[index], reference.columns[index], at: index)
    }.joined(separator: " AND ")
  }
}

/// Values that the model declares to be no reference, beside NULL: applications write 0, -1 or ''
/// for "no parent". They compare as the column does; in a list, as the key of the destination.
extension EdgeRelation {
  private var none: [Key] { relationship?.none ?? [] }

  /// What a condition for a reference must add for such values: one of them in any column makes it
  /// refer to nothing. The same for the other columns of a join row, where it matters if no source
  /// has that key.
  package func isSome(_ reference: Reference) -> String {
    zip(reference.values, reference.columns).map(isSome).joined()
  }

  /// The same for the rows `j` of a join table, seen from the node in these columns.
  package func isSome(joined columns: [String]) -> String {
    columns == referringColumns ? isSome(reference) : ""
  }

  private func isSome(_ value: String, in column: Table.Column?) -> String {
    guard let column, !none.isEmpty else { return "" }
    let values = none.map { $0.value(as: column.affinity).literal }.joined(separator: ", ")
    return " AND \(value) COLLATE \(quoted(column.collation)) NOT IN (\(values))"
  }

  /// Whether an element of a JSON list, or a single value, names a node.
  package func isReference(element x: String) -> String {
    let isKey = "\(x).type IN ('text', 'integer')"
    if none.isEmpty { return isKey }
    let values = none.map { destination.asKey($0.literal) }.joined(separator: ", ")
    return "\(isKey) AND \(destination.asKey("\(x).value")) NOT IN (\(values))"
  }

  /// What nullifying leaves in a referring column: NULL, or the first of these values where the
  /// column is NOT NULL.
  package func emptyValue(of column: String) -> String {
    guard let first = none.first, let column = source.table?.column(column), column.isRequired
    else { return "NULL" }
    return first.value(as: column.affinity).literal
  }
}

extension Key {
  fileprivate var literal: String {
    switch self {
    case .integer(let number): "\(number)"
    case .text(let text): CascadeSQLite.literal(text)
    case .composite: "NULL"
    }
  }
}

extension Value {
  fileprivate var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): CascadeSQLite.literal(text)
    case .blob(let bytes): bytes.sqlBlob
    }
  }
}
