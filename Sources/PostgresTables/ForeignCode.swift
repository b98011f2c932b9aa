internal import CascadePostgres
internal import PostgresBinding

/// Keeps what runs with another role's rights from leaving something behind that would run with the daemon's.
///
/// 1. What the session has set is as before: a search path decides what names mean.
///    Those that end with the transaction are set again afterwards.
/// 2. Nothing runs at the commit: PostgreSQL up to 17 fires deferred triggers, and fills a cursor WITH HOLD, with
///    the rights of the session's role.
/// 3. No statement was prepared in SQL, and none of the daemon's is gone.
/// 4. No temporary table or type hides another.
struct ForeignCode {
  private let store: StoreConnection
  private let path: String?
  private let state: [String?]

  /// Before the foreign code runs.
  init(_ store: StoreConnection) throws {
    self.store = store
    path = try store.db.run("SHOW search_path").text
    state = try store.db.run(ForeignCode.state).rows[0]
  }

  /// Afterwards.
  func verify() throws {
    // With another path, no query could be trusted.
    if try store.db.run("SHOW search_path").text != path { throw refusal("it changed search_path") }
    let now = try store.db.run(ForeignCode.state).rows[0]
    if now[1] != state[1] {
      throw PostgresError(
        sqlState: nil, message: "code of a table's owner took the daemon's locks", doing: "verify")
    }
    if now[0] != state[0] { throw refusal("it changed settings of the session") }
    if try store.db.areStatementsForeign() { throw refusal("it prepared statements") }
    if let trace = try store.db.run(ForeignCode.traces).text {
      throw refusal(trace)
    }
  }

  private func refusal(_ what: String) -> PostgresError {
    PostgresError(
      sqlState: "P0001",
      message: "a trigger could act with the rights of the daemon: \(what)", doing: "verify")
  }

  private static let state = """
    SELECT (SELECT md5(string_agg(concat(name, '=', setting), ', ' ORDER BY name))
      FROM pg_catalog.pg_settings WHERE source = 'session'),
    (SELECT count(*) FROM pg_catalog.pg_locks
      WHERE locktype = 'advisory' AND pid = pg_backend_pid())
    """

  private static let traces = """
    SELECT 'it left a cursor' FROM pg_catalog.pg_cursors WHERE is_holdable
    UNION ALL SELECT format('it left the temporary %s', c.relname) FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_roles r ON r.oid = c.relowner
      WHERE c.relnamespace = pg_my_temp_schema() AND r.rolname <> session_user
    UNION ALL SELECT format('it left the temporary type %s', t.typname) FROM pg_catalog.pg_type t
      JOIN pg_catalog.pg_roles r ON r.oid = t.typowner
      WHERE t.typnamespace = pg_my_temp_schema() AND r.rolname <> session_user
    UNION ALL SELECT format('%s of %s can be deferred to the end of the transaction', t.tgname,
        t.tgrelid::regclass) FROM pg_catalog.pg_trigger t
      JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
      JOIN pg_catalog.pg_roles r ON r.oid = p.proowner
      WHERE current_setting('server_version_num')::int < 180000 AND t.tgdeferrable AND NOT t.tgisinternal AND NOT r.rolsuper
    UNION ALL SELECT format('%s of %s can be deferred to the end of the transaction', c.conname,
        c.conrelid::regclass) FROM pg_catalog.pg_constraint c
      JOIN pg_catalog.pg_index i ON i.indexrelid = c.conindid
      WHERE c.condeferrable AND c.contype IN ('u', 'x')
      AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
    LIMIT 1
    """
}

extension StoreConnection {
  /// Runs a statement that writes rows of a table.
  package func writing<T>(_ table: String, _ body: () throws -> T) throws -> T {
    switch binding.access(to: table) {
    case .direct: return try body()
    case .none(let owner):
      throw PostgresError(
        sqlState: "P0001",
        message:
          "\(table) belongs to \(owner.name), and other tables of the model do not: its rows "
          + "are written by functions of its owner, which are missing "
          + "(cascadectl attach --create-functions)", doing: "write a row")
    case .functions:
      let code = try ForeignCode(self)
      noteForeignCode()
      let result = try naming { try body() }
      try code.verify()
      return result
    }
  }

  /// Whatever a trigger of an owner's fails for, it concerns only the row.
  private func naming<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as PostgresError where error.isRaisedByTrigger {
      throw PostgresError(
        sqlState: "P0001", message: error.message, detail: error.detail, context: error.context,
        doing: error.doing)
    }
  }
}

extension PostgresError {
  /// Whether a trigger failed that a function of an owner's fired.
  fileprivate var isRaisedByTrigger: Bool {
    let functions = (context ?? "").split(separator: "\n").count { line in
      line.hasPrefix("PL/pgSQL function ") || line.hasPrefix("SQL function ")
    }
    return functions > 1 && (isNotAllowed || isAboutTheStatement)
  }
}
