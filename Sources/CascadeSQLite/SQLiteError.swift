import CascadeCSQLite
internal import Glibc

/// An error of SQLite, and what was being done.
package struct SQLiteError: Error, Hashable, CustomStringConvertible {
  package let code: Int32
  package let extendedCode: Int32
  package let message: String
  /// What was being done: "open /srv/store.db", "run a statement".
  package let doing: String
  /// The text of the statement, if there was one.
  package let sql: String?
  /// What the system said; 0 if SQLite did not ask it.
  package var systemCode: Int32 = 0

  package var description: String {
    "SQLite error \(extendedCode): \(message)\(systemText) (\(sql ?? doing))"
  }

  private var systemText: String {
    guard systemCode != 0, let text = unsafe strerror(systemCode) else { return "" }
    return unsafe ": \(String(cString: text))"
  }

  /// Another connection holds the lock: trying again later may succeed.
  package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

  /// Also if the connection could not open the log for writing when it was opened: a new connection
  /// may be able to.
  package var isReadOnly: Bool { code == SQLITE_READONLY }

  /// A crash left a log or a journal, and this connection may not recover the database from it.
  package var needsRecovery: Bool { SQLiteError.needsRecovery(extendedCode) }

  /// Whether it is SQLITE_READONLY_RECOVERY or SQLITE_READONLY_ROLLBACK.
  static func needsRecovery(_ code: Int32) -> Bool {
    code == SQLITE_READONLY | 1 << 8 || code == SQLITE_READONLY | 3 << 8
  }

  /// The disk has no room, neither for the database nor for what SQLite keeps beside it.
  package var isFull: Bool {
    code == SQLITE_FULL || systemCode == ENOSPC || systemCode == EDQUOT
  }

  package var isOutOfDescriptors: Bool { systemCode == EMFILE || systemCode == ENFILE }

  package var isNoDatabase: Bool { code == SQLITE_NOTADB }

  package var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

  /// The value is at fault: another one might have worked.
  package var isAboutTheValue: Bool {
    [SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_RANGE].contains(code)
  }

  /// The statement is at fault: it would fail again.
  package var isAboutTheStatement: Bool {
    [SQLITE_ERROR, SQLITE_AUTH, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE].contains(code)
  }

  /// The statement needs a function, a collation or a module that only the application defines.
  package var isAboutMissingDefinition: Bool {
    [
      "no such function", "no such collation sequence", "no such module", "unknown function",
      "no such window function", "wrong number of arguments to function",
    ].contains(where: message.hasPrefix)
  }

  /// A table is missing whose name begins so.
  package func lacksTable(_ prefix: String) -> Bool {
    let words = "no such table: "
    return ["", "main."].contains { message.hasPrefix("\(words)\($0)\(prefix)") }
  }

  static let interrupted = SQLiteError(
    code: SQLITE_INTERRUPT, extendedCode: SQLITE_INTERRUPT, message: "interrupted",
    doing: "begin a statement", sql: nil)

  package static func cannotOpen(_ message: String) -> SQLiteError {
    SQLiteError(
      code: SQLITE_CANTOPEN, extendedCode: SQLITE_CANTOPEN, message: message,
      doing: "open a database", sql: nil)
  }

  /// The time was over.
  package var isInterrupted: Bool { code == SQLITE_INTERRUPT }

  /// Another row has the same values in columns that must be unique.
  package var isNotUnique: Bool {
    // SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID, which are not imported into Swift.
    [6, 8, 10].contains { extendedCode == SQLITE_CONSTRAINT | $0 << 8 }
  }
}
