package import CascadeModel
internal import CascadePostgres

/// A collection of which rows can be marked as gone for others (`softDelete`), as SQL.
package struct MarkedTable {
  package let table: MappedTable
  package let soft: SoftDeletion
  /// Of the columns that are written, in their order.
  private let types: [ColumnType]

  package init(_ table: MappedTable, _ soft: SoftDeletion, _ types: [ColumnType]) {
    (self.table, self.soft, self.types) = (table, soft, types)
  }

  /// Whether a row is marked; never null.
  package func isMarked(_ row: String) -> String {
    switch soft.mark {
    case .column(let name): "(\(row).\(quoted(name)) IS NOT NULL)"
    case .condition(let text, _):
      "coalesce((SELECT (\(text)) FROM (SELECT \(row).*) AS marked), false)"
    }
  }

  /// Whether an update may mark or unmark a row, for a condition of a trigger, which cannot ask a query.
  package var mayChange: String {
    if case .column(let name) = soft.mark {
      "(OLD.\(quoted(name)) IS NULL) <> (NEW.\(quoted(name)) IS NULL)"
    } else {
      "OLD.* IS DISTINCT FROM NEW.*"
    }
  }

  /// What the column of a marked row says, and its type; null where a condition tells the mark.
  package func value(_ row: String) -> (text: String, type: String) {
    guard case .column(let name) = soft.mark else { return ("NULL", "NULL") }
    return ("\(row).\(quoted(name))::text", literal(types[0].name))
  }

  /// The values that a mark replaces, as a JSON list.
  package func replaced(_ row: String) -> String {
    guard case .condition(_, let set) = soft.mark else { return "NULL" }
    let values = set.map { "\(row).\(quoted($0.column))::text" }.joined(separator: ", ")
    return "jsonb_build_array(\(values))::text"
  }

  /// What marks a row. `value` and its `type` are those of the first one; now stands for a value that it has not, or
  /// that the column cannot have.
  package func marking(value: String, type: String) -> [Assignment] {
    switch soft.mark {
    case .column(let name):
      let name = quoted(name)
      let given = "CASE WHEN \(type) = \(literal(types[0].name)) THEN \(value) END"
      let type = types[0].qualifiedName
      return [Assignment(name, "coalesce((\(given))::\(type), (\(now))::\(type))")]
    case .condition(_, let set):
      return set.map { Assignment(quoted($0.column), $0.value.literal) }
    }
  }

  private var now: String {
    let epoch = "extract(epoch FROM clock_timestamp())"
    if types[0].isTime { return "clock_timestamp()" }
    switch soft.form ?? (types[0].isText ? .iso : .unix) {
    case .unix: return "\(epoch)::bigint"
    case .unixms: return "(\(epoch) * 1000)::bigint"
    case .unixus: return "(\(epoch) * 1000000)::bigint"
    case .julian: return "\(epoch) / 86400 + 2440587.5"
    case .iso: return "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')"
    }
  }

  /// What takes a mark back. `replaced` is the list of the values before.
  package func unmarking(replaced: String) -> [Assignment] {
    switch soft.mark {
    case .column(let name): [Assignment(quoted(name), "NULL")]
    case .condition(_, let set):
      zip(set, types).enumerated().map { index, column in
        Assignment(
          quoted(column.0.column),
          "(\(replaced)::jsonb ->> \(index))::\(column.1.qualifiedName)")
      }
    }
  }
}

extension JSON {
  /// A scalar as a literal that becomes what the column has.
  fileprivate var literal: String {
    switch self {
    case .bool(let flag): flag ? "'true'" : "'false'"
    case .integer(let number): "'\(number)'"
    case .number(let number): "'\(number)'"
    case .string(let text): CascadePostgres.literal(text)
    case .null, .array, .object, .raw: "NULL"
    }
  }
}
