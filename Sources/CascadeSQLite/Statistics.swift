internal import CascadeCSQLite

extension Connection {
  /// Makes this connection ignore what ANALYZE found, until it reads the schema again. The results
  /// may be old. If a table was nearly empty then, SQLite takes a scan of it to be as fast as its
  /// index, and scans it for each row of another. Running ANALYZE again is up to the application.
  ///
  /// SQLite loads the results once more, but the authorizer makes it read nulls. This needs a
  /// transaction that may write; nothing is written.
  package func forgetStatistics() throws(SQLiteError) {
    if try !hasStatistics { return }
    unsafe sqlite3_set_authorizer(
      handle, { _, action, one, _, _, _ in unsafe permission(action, one) }, nil)
    defer { unsafe sqlite3_set_authorizer(handle, nil, nil) }
    try execute("ANALYZE main.sqlite_schema")
  }

  package var hasStatistics: Bool {
    get throws(SQLiteError) {
      try integer("SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_stat1'") != nil
    }
  }
}

private func permission(_ action: Int32, _ table: UnsafePointer<CChar>?) -> Int32 {
  guard action == SQLITE_READ, let table = unsafe table else { return SQLITE_OK }
  return unsafe sqlite3_strnicmp(table, "sqlite_stat", 11) == 0 ? SQLITE_IGNORE : SQLITE_OK
}
