internal import CascadeCSQLite
internal import Glibc

/// A connection to one database file, used by one thread at a time.
///
/// SQL is static text at its place of use. Each text is prepared once and kept. Values are bound.
@safe
package struct Connection: ~Copyable {
  package enum Access: Sendable {
    case create, readWrite, readOnly
    /// Without locks, and without files beside the database: only for a file that nothing changes.
    /// SQLite does not look at a write-ahead log then.
    case immutable
  }

  let handle: OpaquePointer
  private let statements: StatementCache
  let log = LogFrameCount()
  private let batchedLog = BatchedLogWriter()
  private let registration: OwnConnection

  /// Runs once, before SQLite is first used.
  private static let isConfigured = cascade_configure(120 << 10) == SQLITE_OK

  package init(path: String, access: Access) throws(SQLiteError) {
    _ = Connection.isConfigured
    let registration = OwnConnection(path)
    var handle: OpaquePointer?
    let result = unsafe sqlite3_open_v2(access.name(of: path), &handle, access.flags, nil)
    guard let opened = unsafe handle, result == SQLITE_OK else {
      let error = unsafe SQLiteError(result, handle, doing: "open \(path)")
      unsafe sqlite3_close_v2(handle)
      throw error
    }
    unsafe self.handle = opened
    self.registration = registration
    unsafe statements = StatementCache(opened)
    unsafe sqlite3_extended_result_codes(opened, 1)
  }

  deinit {
    statements.finalizeAll()
    unsafe sqlite3_close_v2(handle)
  }
}

extension Connection.Access {
  fileprivate var flags: Int32 {
    // A connection is used by one thread at a time, so SQLite needs no mutex.
    let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    return switch self {
    case .create: common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    case .readWrite: common | SQLITE_OPEN_READWRITE
    case .readOnly: common | SQLITE_OPEN_READONLY
    case .immutable: common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
    }
  }

  /// The path, or a URI where a parameter is needed. In a URI, three characters have a meaning.
  fileprivate func name(of path: String) -> String {
    guard case .immutable = self else { return path }
    let escapes: [Character: String] = ["%": "%25", "?": "%3f", "#": "%23"]
    let escaped = path.map { escapes[$0] ?? String($0) }.joined()
    return "file:\(path.hasPrefix("/") ? "//" : "")\(escaped)?immutable=1"
  }
}

// MARK: - Running SQL

extension Connection {
  /// Runs a statement that returns no rows, or whose rows do not matter.
  package func run(_ sql: StaticString, _ values: Value...) throws(SQLiteError) {
    let statement = try statements.statement(for: sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() {}
  }

  /// Binds six integers without any allocation, for the rows of a large load.
  package func run(
    _ sql: StaticString, row: (Int64, Int64, Int64, Int64, Int64, Int64)
  ) throws(SQLiteError) {
    let statement = try statements.statement(for: sql)
    defer { statement.reset() }
    try statement.bind(row)
    while try statement.step() {}
  }

  /// Calls `body` for each row. The statement is always reset.
  package func each<Failure: Error>(
    _ sql: StaticString, _ values: Value..., body: (Row) throws(Failure) -> Void
  ) throws {
    let statement = try statements.statement(for: sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() { try body(statement.row) }
  }

  package func all<T>(
    _ sql: StaticString, _ values: Value..., as read: (Row) -> T
  ) throws(SQLiteError) -> [T] {
    let statement = try statements.statement(for: sql)
    defer { statement.reset() }
    try statement.bind(values)
    var rows: [T] = []
    while try statement.step() { rows.append(read(statement.row)) }
    return rows
  }

  package func first<T>(
    _ sql: StaticString, _ values: Value..., as read: (Row) -> T
  ) throws(SQLiteError) -> T? {
    let statement = try statements.statement(for: sql)
    defer { statement.reset() }
    try statement.bind(values)
    return try statement.step() ? read(statement.row) : nil
  }

  /// The first column of the first row; nil if there is no row or the column is null.
  package func integer(_ sql: StaticString, _ values: Value...) throws(SQLiteError) -> Int64? {
    let statement = try statements.statement(for: sql)
    defer { statement.reset() }
    try statement.bind(values)
    guard try statement.step(), !statement.row.isNull(0) else { return nil }
    return statement.row.integer(0)
  }

  package func each(
    generated sql: String, _ values: [Value] = [], body: (Row) throws -> Void
  ) throws {
    let statement = try statements.statement(forGenerated: sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() { try body(statement.row) }
  }

  /// The same for text that is generated from the model. It is kept too, as long as there is room.
  package func run(generated sql: String, _ values: [Value] = []) throws(SQLiteError) {
    let statement = try statements.statement(forGenerated: sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() {}
  }

  package func all<T>(
    generated sql: String, _ values: [Value] = [], as read: (Row) -> T
  ) throws(SQLiteError) -> [T] {
    let statement = try statements.statement(forGenerated: sql)
    defer { statement.reset() }
    try statement.bind(values)
    var rows: [T] = []
    while try statement.step() { rows.append(read(statement.row)) }
    return rows
  }

  /// Calls `body` for each row of a query whose text is the model's. The query may read and
  /// compute, and nothing else. It is interrupted when its time is over.
  package func each(
    guarded sql: String, _ values: [Value], limit: Duration, body: (Row) throws -> Void
  ) throws {
    let queryGuard = unsafe QueryGuard(handle, limit)
    defer { queryGuard.end() }
    let statement = try unsafe Statement(generated: sql, on: handle)
    try statement.bind(values)
    while try statement.step() { try body(statement.row) }
  }

  /// Prepares such a query without executing it: SQLite asks the guard of all of its text then.
  package func validate(guarded sql: String) throws(SQLiteError) {
    let queryGuard = unsafe QueryGuard(handle, .seconds(5))
    defer { queryGuard.end() }
    try validate(sql)
  }

  package func integer(
    generated sql: String, _ values: [Value] = []
  ) throws(SQLiteError) -> Int64? {
    try all(generated: sql, values) { $0.isNull(0) ? nil : $0.integer(0) }.first ?? nil
  }

  /// Runs statements that are not kept: schema changes, pragmas, text generated from the model.
  package func execute(_ sql: String) throws(SQLiteError) {
    let result = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else {
      throw unsafe SQLiteError(result, handle, doing: "run statements", sql: sql)
    }
  }

  /// Prepares a statement without executing it, to learn whether it could be.
  package func validate(_ sql: String) throws(SQLiteError) {
    _ = try unsafe Statement(generated: sql, on: handle)
  }

  /// The texts of the statements that are kept, for tests that examine their plans.
  package var keptTexts: [String] { statements.texts }

  /// The number of rows that the last insert, update or delete changed.
  package var changes: Int { unsafe Int(sqlite3_changes64(handle)) }
}

// MARK: - Transactions

extension Connection {
  /// Takes the write lock at once, so that no later statement can fail to get it.
  package func begin() throws(SQLiteError) { try run("BEGIN IMMEDIATE") }

  /// Begins without a lock. What the first statement reads from is what all later ones read from.
  /// The first statement that writes takes the write lock. If another connection has committed
  /// since then, or has the lock, it fails at once (SQLITE_BUSY), and nothing has changed.
  package func beginReading() throws(SQLiteError) { try run("BEGIN") }

  package func commit() throws(SQLiteError) {
    let log = unsafe file(SQLITE_FCNTL_JOURNAL_POINTER)
    try unsafe batchedLog.during(log) { () throws(SQLiteError) in try run("COMMIT") }
  }

  package func rollback() {
    // Some errors roll back by themselves. Then nothing is left to do.
    if !isInTransaction { return }
    // What interrupts other statements must not interrupt this one.
    statements.isRollingBack = true
    defer { statements.isRollingBack = false }
    try? run("ROLLBACK")
  }

  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Everything that `body` reads comes from one state of the database.
  package func snapshot<T>(_ body: () throws -> T) throws -> T {
    try beginReading()
    defer { rollback() }
    return try body()
  }

  /// Interrupts SQLite with an error once `isOver` returns true, within a statement or before it.
  package func interrupting<T>(
    when isOver: @escaping () -> Bool, _ body: () throws -> T
  ) throws -> T {
    let steps = unsafe StepGuard(handle) { [statements] in !statements.isRollingBack && isOver() }
    statements.isOver = isOver
    defer {
      statements.isOver = nil
      steps.end()
    }
    return try body()
  }

  /// Undoes what `body` did if it throws.
  package func savepoint<T>(_ body: () throws -> T) throws -> T {
    try run("SAVEPOINT cascade")
    do {
      let result = try body()
      try run("RELEASE cascade")
      return result
    } catch {
      // An error that rolled back everything has removed the savepoint, too.
      if isInTransaction {
        try run("ROLLBACK TO cascade")
        try run("RELEASE cascade")
      }
      throw error
    }
  }
}

// MARK: - Settings

extension Connection {
  package static var libraryVersion: Int32 { sqlite3_libversion_number() }

  /// The usual notation, for instance 3.40.1.
  package static var libraryVersionText: String {
    let number = libraryVersion
    return "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
  }

  /// Tries for the lock every fifth of a millisecond, and after a while every millisecond. SQLite's
  /// own handler sleeps up to 100 ms, and may find the lock taken each time it wakes.
  package func setBusyTimeout(milliseconds: Int32) {
    unsafe sqlite3_busy_handler(
      handle,
      { limit, count in
        let (short, shorts) = (200, 500)
        let waited = min(Int(count), shorts) * short + max(0, Int(count) - shorts) * 1_000
        if waited >= Int(bitPattern: limit) * 1_000 { return 0 }
        usleep(Int(count) < shorts ? UInt32(short) : 1_000)
        return 1
      }, UnsafeMutableRawPointer(bitPattern: Int(milliseconds)))
  }

  /// Keeps the plan with which a statement was prepared, whatever values are bound. Otherwise
  /// SQLite prepares it again for each value for which a partial index might be of use.
  package func fixStatementPlans() {
    _ = unsafe cascade_db_config(handle, SQLITE_DBCONFIG_ENABLE_QPSG, 1)
  }

  /// Switches triggers of the file and of the connection; foreign keys are not affected. Statements
  /// are prepared again.
  package func setTriggers(_ areOn: Bool) {
    _ = unsafe cascade_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, areOn ? 1 : 0)
  }

  /// Runs `body` without triggers, or without CHECK constraints. Triggers must be on.
  package func executing<T>(
    triggers: Bool = true, checks: Bool = true, _ body: () throws -> T
  ) throws -> T {
    if !triggers { setTriggers(false) }
    defer { if !triggers { setTriggers(true) } }
    if checks { return try body() }
    try execute("PRAGMA ignore_check_constraints = ON")
    defer { try? execute("PRAGMA ignore_check_constraints = OFF") }
    return try body()
  }

  /// Whether SQLite opened the file only for reading, because it may not be written.
  package var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

  /// Whether a foreign key is violated that the commit will check.
  package var hasDeferredViolations: Bool {
    var (count, peak): (Int32, Int32) = (0, 0)
    _ = unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &peak, 0)
    return count != 0
  }

  /// Releases memory that only makes the next use faster: pages and statements. Also drops the
  /// temporary database with everything in it, as SQLite does when it is told where to store one.
  package func releaseMemory() throws(SQLiteError) {
    statements.finalizeAll()
    batchedLog.forget()
    try execute("PRAGMA temp_store = MEMORY; PRAGMA temp_store = DEFAULT")
    unsafe sqlite3_db_release_memory(handle)
  }

  /// The collation by which a column is compared; nil if there is no such column.
  package func collation(of column: String, in table: String) -> String? {
    var name: UnsafePointer<CChar>?
    let result = unsafe sqlite3_table_column_metadata(
      handle, "main", table, column, nil, &name, nil, nil, nil)
    guard result == SQLITE_OK, let name = unsafe name else { return nil }
    return unsafe String(cString: name)
  }

  /// Whether the path has another file, or none, since the database was opened.
  package var hasMoved: Bool {
    var moved: Int32 = 0
    let result = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return result == SQLITE_OK && moved != 0
  }
}

extension SQLiteError {
  init(_ result: Int32, _ handle: OpaquePointer?, doing: String, sql: String? = nil) {
    let message = unsafe handle.map { unsafe sqlite3_errmsg($0) } ?? sqlite3_errstr(result)
    unsafe self.init(
      code: result & 0xff, extendedCode: result,
      message: message.map { unsafe String(cString: $0) } ?? "unknown", doing: doing,
      sql: sql)
    // For other errors, SQLite still has the code of an earlier one.
    if let handle = unsafe handle, [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code) {
      systemCode = unsafe sqlite3_system_errno(handle)
    }
  }
}
