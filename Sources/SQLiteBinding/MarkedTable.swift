package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore

/// A collection of which rows can be marked as gone for others (`softDelete`), as SQL.
package struct MarkedTable: Hashable, Sendable {
  package let nodes: NodeTable
  package let soft: SoftDeletion
  package let table: Table

  /// Nil if the table lacks one of the columns.
  init?(_ nodes: NodeTable, _ soft: SoftDeletion) {
    guard let table = nodes.table, soft.columns.allSatisfy({ table.column($0) != nil }) else {
      return nil
    }
    (self.nodes, self.soft, self.table) = (nodes, soft, table)
  }

  /// Whether a row is marked: 0 or 1, and never NULL.
  package func isMarked(_ row: String) -> String {
    switch soft.mark {
    case .column(let name): "(\(row).\(quoted(name)) IS NOT NULL)"
    case .condition(let text, _):
      "(SELECT (\(text)) IS TRUE FROM (SELECT \(allColumns(of: row))))"
    }
  }

  private func allColumns(of row: String) -> String {
    table.columns.map { "\(row).\(quoted($0.name)) AS \(quoted($0.name))" }
      .joined(separator: ", ")
  }

  /// What the column of a marked row says; NULL where a condition tells the mark.
  package func value(_ row: String) -> String {
    if case .column(let name) = soft.mark { "\(row).\(quoted(name))" } else { "NULL" }
  }

  /// The values that a mark replaces, as a JSON list; NULL for a column, which is then NULL.
  package func replaced(_ row: String) -> String {
    guard case .condition(_, let set) = soft.mark else { return "NULL" }
    // JSON has no bytes.
    let values = set.map { assignment in
      let value = "\(row).\(quoted(assignment.column))"
      return "iif(typeof(\(value)) = 'blob', NULL, \(value))"
    }
    return "json_array(\(values.joined(separator: ", ")))"
  }

  /// What marks a row. `value` is that of the first one; `now` stands for it where that has none.
  package func marking(value: String) -> String {
    switch soft.mark {
    case .column(let name): "\(quoted(name)) = coalesce(\(value), \(now))"
    case .condition(_, let set):
      set.map { "\(quoted($0.column)) = \($0.value.literal)" }.joined(separator: ", ")
    }
  }

  private var now: String {
    switch soft.form ?? .iso {
    case .unix: "CAST(strftime('%s', 'now') AS INTEGER)"
    case .unixms: "CAST(strftime('%s', 'now') AS INTEGER) * 1000"
    case .unixus: "CAST(strftime('%s', 'now') AS INTEGER) * 1000000"
    case .julian: "julianday('now')"
    case .iso: "datetime('now')"
    }
  }

  /// What takes a mark back. `replaced` is the list of the values before.
  package func unmarking(replaced: String) -> String {
    switch soft.mark {
    case .column(let name): "\(quoted(name)) = NULL"
    case .condition(_, let set):
      set.enumerated().map { "\(quoted($1.column)) = \(replaced) ->> \($0)" }
        .joined(separator: ", ")
    }
  }

  /// The columns on which it may depend whether a row is marked: those whose names occur in the condition.
  package var deciding: [Table.Column] {
    switch soft.mark {
    case .column(let name): [table.column(name)!]
    case .condition(let text, let set):
      table.columns.filter { column in
        text.mentions(column.name)
          || set.contains { $0.column.folded == column.name.folded }
      }
    }
  }
}

extension String {
  /// Whether it has the other text somewhere, in upper or lower case.
  fileprivate func mentions(_ other: String) -> Bool {
    let (text, name) = (Array(folded.utf8), Array(other.folded.utf8))
    return text.indices.contains { text[$0...].starts(with: name) }
  }
}

extension JSON {
  /// A scalar as an SQL literal.
  fileprivate var literal: String {
    switch self {
    case .bool(let flag): flag ? "1" : "0"
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .string(let text): CascadeSQLite.literal(text)
    case .null, .array, .object, .raw: "NULL"
    }
  }
}

extension Binding {
  /// The collections that can be marked, by number, and what does not fit the tables.
  static func marked(
    of model: StoreModel, _ collections: [String: NodeTable], _ db: borrowing Connection
  ) throws(SQLiteError) -> (tables: [Int64: MarkedTable], problems: [ModelProblem]) {
    var marked: (tables: [Int64: MarkedTable], problems: [ModelProblem]) = ([:], [])
    for (name, soft) in model.softDeletions.sorted(by: { $0.key < $1.key }) {
      guard let nodes = collections[name], let table = nodes.table else { continue }
      func add(_ problem: String) {
        let path = "\(ModelProblem.path(of: name)).softDelete"
        marked.problems.append(ModelProblem(path: path, message: problem))
      }
      guard let one = MarkedTable(nodes, soft) else {
        let missing = soft.columns.filter { table.column($0) == nil }.map { "\"\($0)\"" }
        add("\"\(table.name)\" has no column \(missing.joined(separator: ", "))")
        continue
      }
      do {
        if case .condition = soft.mark {
          try db.validate(guarded: "SELECT 1 FROM \(nodes.rows) AS d WHERE \(one.isMarked("d"))")
        }
        marked.tables[nodes.id] = one
      } catch let error where error.isAboutTheStatement {
        add("the condition cannot be used: \(error.message)")
      }
    }
    return marked
  }
}
