internal import CascadeCSQLite
internal import Glibc

/// A prepared statement. Only `Connection` steps one, and always resets it.
@safe
final class Statement {
  private let handle: OpaquePointer
  private let database: OpaquePointer
  let sql: String

  convenience init(_ sql: StaticString, on database: OpaquePointer) throws(SQLiteError) {
    try unsafe self.init("\(sql)", SQLITE_PREPARE_PERSISTENT, on: database)
  }

  convenience init(generated sql: String, on database: OpaquePointer) throws(SQLiteError) {
    try unsafe self.init(sql, 0, on: database)
  }

  private init(_ sql: String, _ flags: Int32, on database: OpaquePointer) throws(SQLiteError) {
    var handle: OpaquePointer?
    let result = Statement.besideWriters {
      unsafe sqlite3_prepare_v3(database, sql, -1, UInt32(flags), &handle, nil)
    }
    guard let prepared = unsafe handle, result == SQLITE_OK else {
      throw unsafe SQLiteError(result, database, doing: "prepare a statement", sql: sql)
    }
    unsafe self.handle = prepared
    unsafe self.database = database
    self.sql = sql
  }

  deinit { unsafe sqlite3_finalize(handle) }

  var isBusy: Bool { unsafe sqlite3_stmt_busy(handle) != 0 }
  var row: Row { unsafe Row(handle) }

  /// Returns true if there is a row.
  func step() throws(SQLiteError) -> Bool {
    switch Statement.besideWriters({ unsafe sqlite3_step(handle) }) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let result: throw unsafe SQLiteError(result, database, doing: "run a statement", sql: sql)
    }
  }

  /// Calls SQLite again where a connection that may only read met a commit.
  ///
  /// Without the right to write, it cannot tell a commit of this moment from one that was cut short,
  /// be it by the index of the write-ahead log or by a rollback journal. SQLite then reports that
  /// the database must be recovered, and does not wait.
  private static func besideWriters(_ call: () -> Int32) -> Int32 {
    var result = call()
    var tries = 0
    while SQLiteError.needsRecovery(result), tries < 200 {
      usleep(1_000)
      result = call()
      tries += 1
    }
    return result
  }

  func reset() {
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
  }

  func bind(_ values: [Value]) throws(SQLiteError) {
    for (index, value) in values.enumerated() {
      let result = bind(value, at: Int32(index + 1))
      guard result == SQLITE_OK else {
        throw unsafe SQLiteError(result, database, doing: "bind a value", sql: sql)
      }
    }
  }

  /// Only a parameter that the statement does not have can fail, and the last one shows that.
  func bind(_ row: (Int64, Int64, Int64, Int64, Int64, Int64)) throws(SQLiteError) {
    unsafe sqlite3_bind_int64(handle, 1, row.0)
    unsafe sqlite3_bind_int64(handle, 2, row.1)
    unsafe sqlite3_bind_int64(handle, 3, row.2)
    unsafe sqlite3_bind_int64(handle, 4, row.3)
    unsafe sqlite3_bind_int64(handle, 5, row.4)
    let result = unsafe sqlite3_bind_int64(handle, 6, row.5)
    guard result == SQLITE_OK else {
      throw unsafe SQLiteError(result, database, doing: "bind a row", sql: sql)
    }
  }

  private func bind(_ value: Value, at index: Int32) -> Int32 {
    switch value {
    case .null: return unsafe sqlite3_bind_null(handle, index)
    case .integer(let number): return unsafe sqlite3_bind_int64(handle, index, number)
    case .real(let number): return unsafe sqlite3_bind_double(handle, index, number)
    case .text(var text):
      return text.withUTF8 { bytes in
        unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
          unsafe cascade_bind_text(handle, index, bytes.baseAddress, UInt64(bytes.count))
        }
      }
    case .blob(let bytes):
      return unsafe bytes.withUnsafeBytes { bytes in
        unsafe cascade_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
      }
    }
  }
}

/// The current row of a statement. Valid only within the closure that it is passed to.
@safe
package struct Row {
  private let statement: OpaquePointer

  init(_ statement: OpaquePointer) { unsafe self.statement = statement }

  package func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(statement, column) == SQLITE_NULL
  }

  package func integer(_ column: Int32) -> Int64 {
    unsafe sqlite3_column_int64(statement, column)
  }

  package func text(_ column: Int32) -> String {
    guard let bytes = unsafe sqlite3_column_text(statement, column) else { return "" }
    let count = unsafe Int(sqlite3_column_bytes(statement, column))
    return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// Whether `text` is exactly what is stored, and not a repaired form of invalid UTF-8.
  package func isWhole(_ column: Int32) -> Bool {
    guard let bytes = unsafe sqlite3_column_text(statement, column) else { return true }
    let count = unsafe Int(sqlite3_column_bytes(statement, column))
    let text = unsafe UnsafeBufferPointer(start: bytes, count: count)
    return unsafe String(validating: text, as: UTF8.self) != nil
  }

  /// The value as it is stored.
  package func value(_ column: Int32) -> Value {
    switch unsafe sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(unsafe sqlite3_column_double(statement, column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(bytes(column))
    default: .null
    }
  }

  /// Those of a blob, or of a text, whether it is UTF-8 or not.
  package func bytes(_ column: Int32) -> [UInt8] {
    guard let bytes = unsafe sqlite3_column_blob(statement, column) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(statement, column))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
  }

  package func optionalText(_ column: Int32) -> String? {
    isNull(column) ? nil : text(column)
  }
}

// MARK: - Rows of tables with unknown columns

extension Row {
  package var columns: Range<Int32> { unsafe 0..<sqlite3_column_count(statement) }

  package func name(_ column: Int32) -> String {
    unsafe sqlite3_column_name(statement, column).map { unsafe String(cString: $0) } ?? ""
  }
}

/// The statements of a connection, found by the address of their text. Every row of a large load
/// asks it, so most answers come from a table without hashing.
@safe
final class StatementCache {
  private let database: OpaquePointer
  private var statements: [UInt: Statement] = [:]
  private var generated: [String: Statement] = [:]
  private var recent = StatementCache.noneRecent

  private static var noneRecent: [(address: UInt, statement: Statement)?] {
    .init(repeating: nil, count: 256)
  }

  /// Asked before each statement: once it returns true, the statement does not begin.
  var isOver: (() -> Bool)?
  /// A rollback is never over before its end.
  var isRollingBack = false

  init(_ database: OpaquePointer) { unsafe self.database = database }

  private func refuseIfOver() throws(SQLiteError) {
    guard !isRollingBack, let isOver, isOver() else { return }
    self.isOver = nil
    throw .interrupted
  }

  func statement(for sql: StaticString) throws(SQLiteError) -> Statement {
    try refuseIfOver()
    let address = unsafe UInt(bitPattern: sql.utf8Start)
    let slot = Int((address ^ address >> 8) % 256)
    if let recent = recent[slot], recent.address == address, !recent.statement.isBusy {
      return recent.statement
    }
    let statement = try find(address, sql)
    recent[slot] = (address, statement)
    return statement
  }

  func statement(forGenerated sql: String) throws(SQLiteError) -> Statement {
    try refuseIfOver()
    if let statement = generated[sql], !statement.isBusy { return statement }
    let statement = try unsafe Statement(generated: sql, on: database)
    if generated.count == StatementCache.mostGenerated { generated = [:] }
    if generated[sql] == nil { generated[sql] = statement }
    return statement
  }

  /// A model of a hundred relationships has some thousand texts, most of which are never used. Some
  /// hundred texts are the same for every model.
  private static let mostGenerated = 640

  private func find(_ address: UInt, _ sql: StaticString) throws(SQLiteError) -> Statement {
    if let statement = statements[address], !statement.isBusy { return statement }
    // A text that a caller is already stepping gets a second statement, which is not kept.
    let statement = try unsafe Statement(sql, on: database)
    if statements[address] == nil { statements[address] = statement }
    return statement
  }

  var texts: [String] { (Array(statements.values) + generated.values).map(\.sql) }

  /// SQLite closes a database only after its statements are finalized.
  func finalizeAll() {
    statements = [:]
    generated = [:]
    recent = StatementCache.noneRecent
  }
}
