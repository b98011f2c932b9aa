internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// Why a row cannot go now, in words for an operator.
struct Hindrance {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  /// What the application says, or who is in the way. `key` is that of one of the rows.
  func text(
    _ refusal: PostgresError, _ table: MappedTable, _ key: String?, _ longest: Duration
  ) throws -> String {
    if refusal.isAboutTheValue { return refusal.message }
    if refusal.isLocked && Hindrance.functions(of: refusal).isEmpty {
      return try "another session\(holder(of: key, in: table)) has locked it"
    }
    return try text(refusal, of: table.name, longest)
  }

  /// The same of a row that is no node.
  func text(_ refusal: PostgresError, of table: String, _ longest: Duration) throws -> String {
    if refusal.isAboutTheValue { return refusal.message }
    let culprit = try culprit(refusal, table)
    if refusal.isLocked {
      return culprit.map { "\($0) waits for a lock that another session holds" }
        ?? "another session has locked them"
    }
    let seconds = longest / .seconds(1)
    let time = "longer than \(seconds.rounded(.up) == seconds ? "\(Int(seconds))" : "\(seconds)") s"
    return "\(culprit ?? "its deletion, with what its triggers and foreign keys do,") takes \(time)"
  }

  /// The trigger that was running: its function is the outermost that the server names.
  private func culprit(_ refusal: PostgresError, _ table: String) throws -> String? {
    guard let function = Hindrance.functions(of: refusal).last else { return nil }
    let triggers = try store.triggers(calling: function, first: table)
    return triggers.first.map { "the trigger \($0)" } ?? "the function \(function)"
  }

  /// Those that were running, the innermost first.
  private static func functions(of refusal: PostgresError) -> [String] {
    (refusal.context ?? "").split(separator: "\n").compactMap(function)
  }

  /// The function that a line of a context names: `PL/pgSQL function shop.count() line 1 at …`.
  private static func function(_ line: Substring) -> String? {
    // Those that write an owner's rows are the daemon's own.
    if line.hasPrefix("PL/pgSQL function \(RowAccess.schema).") { return nil }
    for start in ["PL/pgSQL function ", "SQL function \""] where line.hasPrefix(start) {
      return line.dropFirst(start.count).prefix { $0 != ")" && $0 != "\"" } + ")"
    }
    return nil
  }

  /// Who has locked the row: the transaction that wrote or locked it last. Several may share a lock, and
  /// then the server does not tell their names like that.
  private func holder(of key: String?, in table: MappedTable) throws -> String {
    if store.dialect == .portable { return "" }
    let row = try store.db.run(
      """
      SELECT a.pid, a.usename, p.gid FROM \(table.name) t
      JOIN pg_locks l ON l.transactionid = t.xmax
      LEFT JOIN pg_stat_activity a ON a.pid = l.pid
      LEFT JOIN pg_prepared_xacts p ON p.transaction = t.xmax
      WHERE \(table.key.equal("t", text: "$1")) AND l.locktype = 'transactionid' AND l.granted
      """, [key]
    ).rows.first
    if let name = row?[2] { return " (the prepared transaction \(literal(name)))" }
    guard let row, let process = row[0] else { return "" }
    return " (process \(process), role \(row[1] ?? "?"))"
  }
}

extension MappedTable {
  /// Why a row is still there that was deleted, or as it was although it was changed.
  func keptText(_ event: AppTrigger.Event) -> String {
    let names = keepers(event).map(\.name)
    let subject = names.count == 1 ? "the trigger" : "one of the triggers"
    let what = event == .delete ? "keeps it" : "keeps its reference"
    return "\(subject) \(names.joined(separator: ", ")) of \(name) \(what)"
  }
}

extension PostgresError {
  /// A row that cannot go because of it may go later.
  var isPassing: Bool { isLocked || isCancelled }

  static let lockTimeout = PostgresError(
    sqlState: "55P03", message: "another session has locked it", doing: "lock a row")
}
