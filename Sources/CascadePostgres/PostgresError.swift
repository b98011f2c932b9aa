internal import CPostgreSQL

/// An error of PostgreSQL or of the connection to it, and what was being done.
package struct PostgresError: Error, Hashable, CustomStringConvertible {
  /// https://www.postgresql.org/docs/current/errcodes-appendix.html; nil if the server said nothing.
  package let sqlState: String?
  package let message: String
  package let detail: String?
  /// The functions and statements that were running, the innermost first.
  package let context: String?
  /// The constraint that was violated.
  package let constraint: Constraint?
  /// The statement, or "connect".
  package let doing: String

  package struct Constraint: Hashable, Sendable {
    package let schema: String
    package let table: String
    package let name: String
  }

  package init(
    sqlState: String?, message: String, detail: String? = nil, context: String? = nil,
    constraint: Constraint? = nil, doing: String
  ) {
    (self.sqlState, self.message, self.detail, self.doing) = (sqlState, message, detail, doing)
    (self.context, self.constraint) = (context, constraint)
  }

  /// What the server says of the values, without the statement.
  package var sentence: String { message + (detail.map { ": \($0)" } ?? "") }

  /// A statement may be long, and its beginning tells which it is.
  package var description: String {
    let state = sqlState.map { " \($0)" } ?? ""
    let words = PostgresError.trimmed(doing)
    let beginning = words.prefix(PostgresError.longestStatement)
    let rest = beginning.endIndex < words.endIndex ? "…" : ""
    return "PostgreSQL error\(state): \(sentence) (\(beginning)\(rest))"
  }

  private static let longestStatement = 100

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

  package var isForeignKeyViolation: Bool { isOf("23503") }

  /// The statement is wrong, or may not be in a transaction that only reads.
  package var isAboutTheStatement: Bool { isOf("42", "22", "0A", "2F", "39", "25006", "P0001") }

  package var isMissingTable: Bool { isOf("42P01", "3F000") }

  package var isFull: Bool { isOf("53100") }

  /// Other statements would meet it, too: another session, the machine or an operator is in the way.
  package var isAboutTheServer: Bool {
    isConnectionLost || isConflict || isLocked || isFull || isDamage
      || isOf("25", "533", "57P", "58")
  }

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
    var constraint: Constraint?
    if let schema = field(PostgresError.schemaField), let table = field(PostgresError.tableField),
      let name = field(PostgresError.constraintField)
    {
      constraint = Constraint(schema: schema, table: table, name: name)
    }
    self.init(
      sqlState: field(PostgresError.stateField),
      message: field(PostgresError.messageField)
        ?? PostgresError.trimmed(unsafe String(cString: PQerrorMessage(connection))),
      detail: field(PostgresError.detailField), context: field(PostgresError.contextField),
      constraint: constraint, doing: doing)
  }

  /// The codes are macros of characters, which are not imported.
  private static let stateField = Int32(UInt8(ascii: "C"))
  private static let messageField = Int32(UInt8(ascii: "M"))
  private static let detailField = Int32(UInt8(ascii: "D"))
  private static let contextField = Int32(UInt8(ascii: "W"))
  private static let schemaField = Int32(UInt8(ascii: "s"))
  private static let tableField = Int32(UInt8(ascii: "t"))
  private static let constraintField = Int32(UInt8(ascii: "n"))

  /// libpq writes messages of several lines, and ends them with a line end.
  static func trimmed(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
