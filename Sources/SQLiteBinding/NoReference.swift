internal import CascadeModel
internal import CascadeSQLite

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
