internal import CascadeCSQLite
extension Connection {
  /// What ANALYZE found in a table is of that day. Of one that was nearly empty then, SQLite thinks that
  /// it is read through as fast as an index is asked, and does so for each row of another. When it is
  /// run again is the application's affair, so this connection forgets what it found, until the schema
  /// is read anew: loading it once more asks for leave to read, and gets nulls.
  ///
  /// Within a transaction that may write, which SQLite wants here; nothing is written.
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
