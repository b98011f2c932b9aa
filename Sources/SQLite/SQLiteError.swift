import CSQLite

/// What SQLite refused, and what was being done.
package struct SQLiteError: Error, Hashable, CustomStringConvertible {
  package let code: Int32
  package let extendedCode: Int32
  package let message: String
  /// The SQL text, or the call where there is none.
  package let doing: String

  package var description: String { "SQLite error \(extendedCode): \(message) (\(doing))" }

  /// Somebody else holds the lock: trying again later may succeed.
  package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

  /// The machine, not the request, stands in the way: trying again later may succeed.
  package var isTransient: Bool {
    isBusy || [SQLITE_FULL, SQLITE_IOERR, SQLITE_NOMEM, SQLITE_CANTOPEN, SQLITE_READONLY]
      .contains(code)
  }
}
