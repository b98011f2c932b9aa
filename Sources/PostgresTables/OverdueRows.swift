internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
package import PostgresBinding

/// Which rows of a collection are overdue, as SQL about a row `s` of its table.
package struct OverdueRows {
  package let table: MappedTable
  private let overdue: Overdue
  /// The time that a row says; nil for a condition.
  private let time: TimeColumn?
  /// Whether a row is marked.
  private let isMarked: String?

  fileprivate init(
    _ overdue: Overdue, _ table: MappedTable, _ time: TimeColumn?, isMarked: String? = nil
  ) {
    (self.overdue, self.table, self.time, self.isMarked) = (overdue, table, time, isMarked)
  }

  package var condition: String {
    guard let time else {
      if overdue.isEmpty { return "false" }
      guard case .condition(let text) = overdue.expiry else { return wasMarkedBefore }
      return "(\(text))"
    }
    let bounds =
      [time.bound("<", overdue.before)]
      + (overdue.after.map { [time.bound(">=", $0)] } ?? [])
    return ([time.isTime] + bounds).joined(separator: " AND ")
  }

  /// Whether the row is marked, and was seen so early enough.
  private var wasMarkedBefore: String {
    let isLater = overdue.after.map { " AND m.at >= \($0)" } ?? ""
    return """
      \(isMarked ?? "false") AND EXISTS (SELECT FROM cascade.marked m WHERE m.collection = \(table.number)
        AND m.key = \(table.key.text("s")) AND m.at < \(overdue.before)\(isLater))
      """
  }

  package func isAny(_ store: StoreConnection) throws -> Bool {
    try ask(store, "SELECT EXISTS (SELECT FROM \(table.name) s WHERE \(condition))")[0] == "t"
  }

  package func count(_ store: StoreConnection) throws -> OverdueCount {
    let first = time.map { "(\($0.milliseconds("min(\($0.value))")))::bigint" } ?? "NULL"
    let row = try ask(store, "SELECT count(*), \(first) FROM \(table.name) s WHERE \(condition)")
    let oldest = row[1].flatMap { Int64($0) }.map { max(0, overdue.before - $0) }
    return OverdueCount(waiting: Int(row[0]!)!, oldest: oldest)
  }

  /// How many rows have something in the column that is no time.
  package func countNoTimes(_ store: StoreConnection) throws -> Int {
    guard let time else { return 0 }
    let rows = "\(table.name) s WHERE \(time.column) IS NOT NULL AND (\(time.isTime)) IS NOT TRUE"
    return try Int(ask(store, "SELECT count(*) FROM \(rows)")[0]!)!
  }

  /// Whether there are times, and none is in a year that can be meant.
  package func areDoubtful(_ store: StoreConnection) throws -> Bool {
    guard let time, let form = time.form, form != .iso else { return false }
    let (plausible, rows) = (TimeForm.plausible, "SELECT FROM \(table.name) s WHERE")
    let isMeant =
      "\(time.bound(">=", plausible.first)) AND \(time.bound("<", plausible.end))"
    return try ask(
      store,
      """
      SELECT EXISTS (\(rows) \(time.isTime)) AND NOT EXISTS (\(rows) \(isMeant))
        AND NOT EXISTS (\(rows) \(time.bound("<", 0)))
      """)[0] == "t"
  }

  /// A condition is not trusted: nothing can be written while it is asked.
  private func ask(_ store: StoreConnection, _ question: String) throws -> [String?] {
    do {
      return try store.reading { try store.db.run(question).rows[0] }
    } catch let error as PostgresError where time == nil && error.isAboutTheStatement {
      throw UnfitExpiry(overdue.misfit(error.message))
    }
  }
}

extension StoreConnection {
  /// Throws `UnfitExpiry`.
  package func overdueRows(_ overdue: Overdue) throws -> OverdueRows {
    guard let table = binding.tables[overdue.collection], !table.isManaged else {
      throw UnfitExpiry(overdue.misfit("the collection has no table now"))
    }
    guard let name = overdue.expiry.column else {
      let mark = binding.marked[table.number]
      return OverdueRows(overdue, table, nil, isMarked: mark?.isMarked("s"))
    }
    guard let type = try db.type(of: name, in: table.name) else {
      throw UnfitExpiry(overdue.misfit("\(table.name) has no column \"\(name)\""))
    }
    let form = overdue.expiry.form(of: type)
    guard let time = TimeColumn("s.\(quoted(name))", type, form) else {
      let says = form.map { "\"\($0.rawValue)\"" } ?? "times: as: \"unix\", …"
      throw UnfitExpiry(
        overdue.misfit("\"\(name)\" is of type \(type.name), which does not say \(says)"))
    }
    return OverdueRows(overdue, table, time)
  }

  /// Runs `body` within the transaction that is open, so that nothing can be written.
  package func reading<T>(_ body: () throws -> T) throws -> T {
    try db.execute("SAVEPOINT question; SET LOCAL transaction_read_only = on")
    let result = Result { try readingWholeTables(body) }
    try db.execute("ROLLBACK TO SAVEPOINT question")
    return try result.get()
  }

  package func readingInTransaction<T>(_ body: () throws -> T) throws -> T {
    try transaction(.repeatableRead) { try reading(body) }
  }
}

/// A column with times.
private struct TimeColumn {
  let column: String
  /// Nil for a type of the database that has times.
  let form: TimeForm?
  private let hasZone: Bool

  /// Nil if the type and what the model says do not go together.
  init?(_ column: String, _ type: ColumnType, _ form: TimeForm?) {
    self.column = column
    hasZone = type.name == "timestamp with time zone"
    let isTime = hasZone || ["timestamp without time zone", "date"].contains(type.name)
    let isText = ["text", "character varying", "character"].contains(type.name)
    self.form = isTime ? nil : form
    if isTime ? form != nil && form != .iso : form == nil || (form == .iso) != isText { return nil }
  }

  /// What is compared: a number, or a time without a zone, which is UTC.
  var value: String {
    switch form {
    case nil: hasZone ? column : "\(column)::timestamp"
    case .iso: "(\(TimeColumn.time(ofText: column)))"
    default: column
    }
  }

  var isTime: String {
    switch form {
    case nil: "isfinite(\(column))"
    case .iso: "\(value) IS NOT NULL"
    default: "\(column) IS NOT NULL"
    }
  }

  func bound(_ order: String, _ milliseconds: Int64) -> String {
    if let number = form?.number(milliseconds) { return "\(column) \(order) \(number)" }
    let time = "to_timestamp(\(Double(milliseconds) / 1_000))"
    return hasZone ? "\(column) \(order) \(time)" : "\(value) \(order) (\(time) AT TIME ZONE 'UTC')"
  }

  func milliseconds(_ value: String) -> String {
    guard let form, form != .iso else { return "extract(epoch FROM \(value)) * 1000" }
    return form.milliseconds(value)
  }

  /// A cast would fail for what is no time, so the parts are read one by one.
  private static func time(ofText text: String) -> String {
    let day = "\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])"
    let clock = "([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d+)?)?"
    let zone = "(Z|[+-](0\\d|1[0-4]):[0-5]\\d)?"
    return """
      CASE WHEN \(text) ~ '^\(day)([T ]\(clock) ?\(zone))?$' AND \(text) !~ '^0000' THEN
        (substr(\(text), 1, 4) || '-01-01')::timestamp
        + make_interval(months => substr(\(text), 6, 2)::int - 1, days => substr(\(text), 9, 2)::int - 1)
        + coalesce(substring(\(text) FROM '[T ](\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?)'), '0:00')::interval
        - coalesce(substring(\(text) FROM '([+-]\\d\\d:\\d\\d)$'), '0:00')::interval
      END
      """
  }
}
