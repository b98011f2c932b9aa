internal import CascadeEngine
internal import CascadeModel
package import CascadeSQLite
package import CascadeStore
package import SQLiteBinding

/// Which rows of a collection are overdue, as SQL about a row `d` of its table.
package struct OverdueRows {
  package let table: NodeTable
  private let overdue: Overdue
  /// The time that a row says; nil for a condition.
  private let time: (column: String, form: TimeForm)?

  /// Throws `UnfitExpiry`.
  package init(_ overdue: Overdue, _ binding: Binding) throws {
    guard let table = binding.collections[overdue.collection], let rows = table.table else {
      throw UnfitExpiry(overdue.misfit("the collection has no table now"))
    }
    (self.overdue, self.table) = (overdue, table)
    guard case .age(let name, _, let given) = overdue.expiry else {
      time = nil
      return
    }
    guard let column = rows.column(name) else {
      throw UnfitExpiry(overdue.misfit("\"\(rows.name)\" has no column \"\(name)\""))
    }
    guard let form = given ?? (column.isOfTimes ? .iso : nil) else {
      throw UnfitExpiry(overdue.misfit("say how \"\(name)\" has its times: as: \"unix\", …"))
    }
    time = ("d.\(quoted(column.name))", form)
  }

  package var condition: String {
    guard let time else {
      guard case .condition(let text) = overdue.expiry else { return "0" }
      return overdue.isEmpty ? "0" : "(\(text))"
    }
    let bounds = [
      bound(time, "<", overdue.before), overdue.after.flatMap { bound(time, ">=", $0) },
    ].compactMap(\.self)
    return ([isTime] + bounds).joined(separator: " AND ")
  }

  private func bound(
    _ time: (column: String, form: TimeForm), _ order: String, _ milliseconds: Int64
  ) -> String? {
    if let number = time.form.number(milliseconds) { return "\(time.column) \(order) \(number)" }
    let exact = "julianday(\(time.column)) \(order) \(TimeForm.julianDays(milliseconds))"
    if order != "<" { return exact }
    // By the text itself, of whatever offset, so that an index can be used.
    return "\(time.column) < date(\(milliseconds / 1_000), 'unixepoch', '+2 days') AND \(exact)"
  }

  /// Whether the column of the row says a time.
  private var isTime: String {
    guard let time else { return "1" }
    if time.form != .iso { return "typeof(\(time.column)) IN ('integer', 'real')" }
    return """
      typeof(\(time.column)) = 'text' AND \(time.column) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
      AND julianday(\(time.column)) IS NOT NULL
      """
  }

  fileprivate var isAny: String {
    "SELECT EXISTS (SELECT 1 FROM \(table.rows) AS d WHERE \(table.isNode("d")) AND \(condition))"
  }

  fileprivate var count: String {
    let first = time.map { time in
      let number = time.form == .iso ? "julianday(\(time.column))" : time.column
      return "CAST(\(time.form.milliseconds("min(\(number))")) AS INTEGER)"
    }
    return """
      SELECT count(*), \(first ?? "NULL") FROM \(table.rows) AS d
      WHERE \(table.isNode("d")) AND \(condition)
      """
  }

  /// How many rows have something in the column that is no time.
  fileprivate var countOfNoTimes: String? {
    time.map {
      "SELECT count(*) FROM \(table.rows) AS d WHERE \($0.column) IS NOT NULL AND NOT (\(isTime))"
    }
  }

  /// Whether there are times, and none is in a year that can be meant.
  fileprivate var areDoubtful: String? {
    let plausible = TimeForm.plausible
    guard let time, let epoch = time.form.number(0),
      let first = time.form.number(plausible.first), let end = time.form.number(plausible.end)
    else { return nil }
    let rows = "SELECT 1 FROM \(table.rows) AS d WHERE \(isTime)"
    return """
      SELECT EXISTS (\(rows)) AND NOT EXISTS (\(rows) AND \(time.column) >= \(first) AND \(time.column) < \(end))
        AND NOT EXISTS (\(rows) AND \(time.column) < \(epoch))
      """
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
