import CascadeCSQLite
/// What SQLite refused, and what was being done.
package struct SQLiteError: Error, Hashable, CustomStringConvertible {
  package let code: Int32
  package let extendedCode: Int32
  package let message: String
  /// What was being done: "open /srv/store.db", "run a statement".
  package let doing: String
  /// The text of the statement, where it was one.
  package let sql: String?

  package var description: String {
    "SQLite error \(extendedCode): \(message) (\(sql ?? doing))"
  }

  /// Somebody else holds the lock: trying again later may succeed.
  package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

  /// Also where a connection could not open the log to write it when it came: a new one may.
  package var isReadOnly: Bool { code == SQLITE_READONLY }

  package var isNoDatabase: Bool { code == SQLITE_NOTADB }

  package var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

  /// The value that was given is at fault; with another one it would have worked.
  package var isAboutTheValue: Bool {
    [SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_RANGE].contains(code)
  }

  /// The statement is at fault: it would fail again.
  package var isAboutTheStatement: Bool {
    [SQLITE_ERROR, SQLITE_AUTH, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE].contains(code)
  }

  /// Its time was over.
  package var isInterrupted: Bool { code == SQLITE_INTERRUPT }

  /// Another row has the same in columns that tell rows apart.
  package var isNotUnique: Bool {
    // SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID, which Swift cannot see.
    [6, 8, 10].contains { extendedCode == SQLITE_CONSTRAINT | $0 << 8 }
  }
}
