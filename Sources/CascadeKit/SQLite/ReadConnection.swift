internal import CascadeCSQLite

/// A connection that only reads, used by one thread at a time. It keeps its statements.
@safe
@usableFromInline
final class ReadConnection {
  let handle: OpaquePointer
  private let isOwned: Bool
  private var idle: [String: OpaquePointer] = unsafe [:]
  /// Results of fetched properties, with the state of the store in which they were found.
  var fetched = FetchedCache()

  private static let mostStatements = 100

  /// Opens a store.
  init(path: String) throws(ReadError) {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle = unsafe handle else {
      unsafe sqlite3_close_v2(handle)
      throw .sqlite(
        code: code, message: unsafe String(cString: sqlite3_errstr(code)), during: "open \(path)")
    }
    unsafe self.handle = handle
    isOwned = true
    unsafe sqlite3_busy_timeout(handle, 5_000)
  }

  /// Uses a connection of the application, which stays open.
  init(borrowing handle: OpaquePointer) {
    unsafe self.handle = handle
    isOwned = false
  }

  deinit {
    unsafe idle.values.forEach { unsafe sqlite3_finalize($0) }
    if isOwned { unsafe sqlite3_close_v2(handle) }
  }

  // MARK: - Statements

  /// Prepares a statement and binds its values. It must be given back.
  func take(_ sql: SQL) throws(ReadError) -> OpaquePointer {
    let known = unsafe idle.removeValue(forKey: sql.text)
    let statement =
      if let known = unsafe known { unsafe known } else { unsafe try prepare(sql.text) }
    for (index, value) in sql.values.enumerated() {
      unsafe bind(value, Int32(index + 1), statement)
    }
    return unsafe statement
  }

  func giveBack(_ statement: OpaquePointer, _ sql: SQL) {
    unsafe sqlite3_reset(statement)
    unsafe sqlite3_clear_bindings(statement)
    let isFree = unsafe idle[sql.text] == nil && idle.count < ReadConnection.mostStatements
    if isFree { unsafe idle[sql.text] = statement } else { unsafe sqlite3_finalize(statement) }
  }

  private func prepare(_ sql: String) throws(ReadError) -> OpaquePointer {
    var statement: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let code = unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil)
    guard code == SQLITE_OK, let statement = unsafe statement else { throw failure(sql) }
    return unsafe statement
  }

  private func bind(_ value: SQLValue, _ index: Int32, _ statement: OpaquePointer) {
    switch value {
    case .null: unsafe sqlite3_bind_null(statement, index)
    case .integer(let value): unsafe sqlite3_bind_int64(statement, index, value)
    case .real(let value): unsafe sqlite3_bind_double(statement, index, value)
    case .text(var text):
      text.withUTF8 { bytes in
        unsafe bytes.withMemoryRebound(to: CChar.self) {
          _ = unsafe cascade_bind_text(statement, index, $0.baseAddress, UInt64($0.count))
        }
      }
    case .blob(let bytes):
      unsafe bytes.withUnsafeBytes {
        _ = unsafe cascade_bind_blob(statement, index, $0.baseAddress, UInt64($0.count))
      }
    }
  }

  func failure(_ during: String) -> ReadError {
    let code = unsafe sqlite3_extended_errcode(handle)
    return .sqlite(
      code: code, message: unsafe String(cString: sqlite3_errmsg(handle)), during: during)
  }

  // MARK: - Simple questions

  /// Calls `body` with each row.
  func each(_ sql: SQL, _ body: (OpaquePointer) throws -> Void) throws {
    let statement = unsafe try take(sql)
    defer { unsafe giveBack(statement, sql) }
    while unsafe try step(statement, sql) { unsafe try body(statement) }
  }

  func step(_ statement: OpaquePointer, _ sql: SQL) throws(ReadError) -> Bool {
    switch unsafe sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw failure(sql.text)
    }
  }

  func integer(_ sql: SQL) throws(ReadError) -> Int {
    let statement = unsafe try take(sql)
    defer { unsafe giveBack(statement, sql) }
    guard unsafe try step(statement, sql) else { return 0 }
    return unsafe Int(sqlite3_column_int64(statement, 0))
  }

  /// Runs `body` in one state of the store.
  func inTransaction<T>(_ body: () throws -> T) throws -> T {
    try run("BEGIN")
    defer { try? run("COMMIT") }
    return try body()
  }

  private func run(_ sql: SQL) throws(ReadError) {
    let statement = unsafe try take(sql)
    defer { unsafe giveBack(statement, sql) }
    _ = unsafe try step(statement, sql)
  }

  /// A number that changes when another connection has committed.
  var dataVersion: Int { get throws(ReadError) { try integer("PRAGMA data_version") } }
}
