internal import CascadeEngine
internal import CascadeModel
package import CascadeSQLite
package import CascadeStore
package import SQLiteBinding

/// Which rows of a collection are overdue, as SQL about a row `d` of its table.
package struct OverdueRows {
  package let table: NodeTable
  private let overdue: Overdue
  /// The times that a row may say: a mark may be a number or a text. Empty for a condition.
  private var times: [TimeColumn] = []
  /// Whether a row is marked.
  private let isMarked: String?

  /// Throws `UnfitExpiry`.
  package init(_ overdue: Overdue, _ binding: Binding) throws {
    guard let table = binding.collections[overdue.collection], let rows = table.table else {
      throw UnfitExpiry(overdue.misfit("the collection has no table now"))
    }
    (self.overdue, self.table) = (overdue, table)
    isMarked = binding.marked[table.id]?.isMarked("d")
    guard let name = overdue.expiry.column else { return }
    guard let column = rows.column(name) else {
      throw UnfitExpiry(overdue.misfit("\"\(rows.name)\" has no column \"\(name)\""))
    }
    times = overdue.expiry.forms(of: column).map {
      TimeColumn(column: "d.\(quoted(column.name))", form: $0)
    }
    if times.isEmpty {
      throw UnfitExpiry(overdue.misfit("say how \"\(name)\" has its times: as: \"unix\", …"))
    }
  }

  package var condition: String {
    if !times.isEmpty { return anyTime { $0.isBetween(overdue.after, overdue.before) } }
    if overdue.isEmpty { return "0" }
    guard case .condition(let text) = overdue.expiry else { return wasMarkedBefore }
    return "(\(text))"
  }

  private func anyTime(_ condition: (TimeColumn) -> String) -> String {
    times.count == 1
      ? condition(times[0]) : "(\(times.map(condition).joined(separator: " OR ")))"
  }

  /// Whether the row is marked, and was seen so early enough.
  private var wasMarkedBefore: String {
    let isLater = overdue.after.map { " AND x.at >= \($0)" } ?? ""
    return """
      \(isMarked ?? "0") AND EXISTS (SELECT 1 FROM main.cascade_marked AS x WHERE x.collection = \(table.id)
        AND x.key = +\(table.key("d")) AND x.at < \(overdue.before)\(isLater))
      """
  }

  fileprivate var isAny: String {
    "SELECT EXISTS (SELECT 1 FROM \(table.rows) AS d WHERE \(table.isNode("d")) AND \(condition))"
  }

  fileprivate var count: String {
    let choices = times.map { "WHEN \($0.isTime) THEN \($0.milliseconds)" }
    let first = choices.isEmpty ? "NULL" : "min(CASE \(choices.joined(separator: " ")) END)"
    return """
      SELECT count(*), CAST(\(first) AS INTEGER) FROM \(table.rows) AS d
      WHERE \(table.isNode("d")) AND \(condition)
      """
  }

  /// How many rows have something in the column that is no time.
  fileprivate var countOfNoTimes: String? {
    times.first.map { time in
      "SELECT count(*) FROM \(table.rows) AS d WHERE \(time.column) IS NOT NULL AND NOT \(anyTime { "(\($0.isTime))" })"
    }
  }

  /// Whether there are times, and none is in a year that can be meant.
  fileprivate var areDoubtful: String? {
    let plausible = TimeForm.plausible
    guard times.count == 1, let time = times.first, let epoch = time.form.number(0),
      let first = time.form.number(plausible.first), let end = time.form.number(plausible.end)
    else { return nil }
    let rows = "SELECT 1 FROM \(table.rows) AS d WHERE \(time.isTime)"
    return """
      SELECT EXISTS (\(rows)) AND NOT EXISTS (\(rows) AND \(time.column) >= \(first) AND \(time.column) < \(end))
        AND NOT EXISTS (\(rows) AND \(time.column) < \(epoch))
      """
  }
}

/// A column of a row, read as times of one form.
private struct TimeColumn {
  let column: String
  let form: TimeForm

  /// Whether the column of the row says a time.
  var isTime: String {
    if form != .iso { return "typeof(\(column)) IN ('integer', 'real')" }
    return """
      typeof(\(column)) = 'text' AND \(column) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
      AND julianday(\(column)) IS NOT NULL
      """
  }

  var milliseconds: String {
    form.milliseconds(form == .iso ? "julianday(\(column))" : column)
  }

  func isBetween(_ after: Int64?, _ before: Int64) -> String {
    ([isTime, bound("<", before)] + (after.map { [bound(">=", $0)] } ?? []))
      .joined(separator: " AND ")
  }

  private func bound(_ order: String, _ milliseconds: Int64) -> String {
    if let number = form.number(milliseconds) { return "\(column) \(order) \(number)" }
    let exact = "julianday(\(column)) \(order) \(TimeForm.julianDays(milliseconds))"
    if order != "<" { return exact }
    // By the text itself, of whatever offset, so that an index can be used.
    return "\(column) < date(\(milliseconds / 1_000), 'unixepoch', '+2 days') AND \(exact)"
  }
}

extension Expiry {
  /// The forms in which a column may have the times; none if that is not known.
  fileprivate func forms(of column: Table.Column) -> [TimeForm] {
    switch self {
    case .age(_, _, let form?), .marked(_, _, let form?): [form]
    case .age: column.isOfTimes ? [.iso] : []
    case .marked: [.unix, .iso]
    case .condition: []
    }
  }
}

extension Connection {
  /// Throws `UnfitExpiry`.
  package func overdueRows(_ overdue: Overdue, _ binding: Binding) throws -> OverdueRows {
    let rows = try OverdueRows(overdue, binding)
    guard case .condition(let text) = overdue.expiry else { return rows }
    do {
      try validate(text, on: overdue.collection, binding)
    } catch {
      throw UnfitExpiry(overdue.misfit("\(error)"))
    }
    return rows
  }

  package func isAny(_ rows: OverdueRows) throws -> Bool {
    try integer(generated: rows.isAny) == 1
  }

  package func count(_ rows: OverdueRows, before: Int64) throws -> OverdueCount {
    try all(generated: rows.count) { row in
      OverdueCount(
        waiting: Int(row.integer(0)),
        oldest: row.isNull(1) ? nil : Swift.max(0, before - row.integer(1)))
    }[0]
  }

  package func countNoTimes(_ rows: OverdueRows) throws -> Int {
    try rows.countOfNoTimes.flatMap { try integer(generated: $0) }.map { Int($0) } ?? 0
  }

  /// Whether the ages of all rows seem to be wrong.
  package func areDoubtful(_ rows: OverdueRows) throws -> Bool {
    try rows.areDoubtful.flatMap { try integer(generated: $0) } == 1
  }
}
