internal import CPostgreSQL

/// An error of PostgreSQL or of the connection to it, and what was being done.
package struct PostgresError: Error, Hashable, CustomStringConvertible {
  /// https://www.postgresql.org/docs/current/errcodes-appendix.html; nil if the server said nothing.
  package let sqlState: String?
  package let message: String
  package let detail: String?
  /// The statement, or "connect".
  package let doing: String

  package init(sqlState: String?, message: String, detail: String? = nil, doing: String) {
    (self.sqlState, self.message, self.detail, self.doing) = (sqlState, message, detail, doing)
  }

  package var description: String {
    let state = sqlState.map { " \($0)" } ?? ""
    let more = detail.map { ": \($0)" } ?? ""
    return "PostgreSQL error\(state): \(message)\(more) (\(doing))"
  }

  private func isOf(_ states: String...) -> Bool {
    sqlState.map { state in states.contains { state.hasPrefix($0) } } ?? false
  }

  /// The connection is gone, or the server shuts down or became a standby, which cannot be written
  /// to: a new connection may work.
  package var isConnectionLost: Bool { sqlState == nil || isOf("08", "57P", "25006") }

  /// The transaction met another one: it may succeed if it is tried again.
  package var isConflict: Bool { isOf("40001", "40P01") }

  /// Another session held a lock for longer than `lock_timeout`.
  package var isLocked: Bool { isOf("55P03") }

  /// A statement took longer than its transaction allows, or an operator cancelled it.
  package var isCancelled: Bool { isOf("57014") }

  package var isNotAllowed: Bool { isOf("42501", "28") }

  /// The values are at fault, or what the application's constraints and triggers say of them.
  package var isAboutTheValue: Bool { isOf("22", "23", "P0001") }

  /// The statement is wrong, or may not be in a transaction that only reads.
  package var isAboutTheStatement: Bool { isOf("42", "22", "0A", "2F", "39", "25006", "P0001") }

  package var isMissingTable: Bool { isOf("42P01", "3F000") }

  package var isFull: Bool { isOf("53100") }

  package var isDamage: Bool { isOf("XX001", "XX002") }
}

extension PostgresError {
  /// Reads a result that the server refused.
  init(_ result: OpaquePointer?, _ connection: OpaquePointer, doing: String) {
    func field(_ code: Int32) -> String? {
      guard let result = unsafe result, let text = unsafe PQresultErrorField(result, code) else {
        return nil
      }
      return unsafe String(cString: text)
    }
    self.init(
      sqlState: field(PostgresError.stateField),
      message: field(PostgresError.messageField)
        ?? PostgresError.trimmed(unsafe String(cString: PQerrorMessage(connection))),
      detail: field(PostgresError.detailField), doing: doing)
  }

  /// The codes are macros of characters, which are not imported.
  private static let stateField = Int32(UInt8(ascii: "C"))
  private static let messageField = Int32(UInt8(ascii: "M"))
  private static let detailField = Int32(UInt8(ascii: "D"))

  /// libpq writes messages of several lines, and ends them with a line end.
  static func trimmed(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
