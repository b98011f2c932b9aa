public import CascadeCSQLite

/// The rows of one statement, one after the other. The statement is given back at the end of the
/// value.
@safe
@usableFromInline
struct ResultRows: ~Copyable {
  @usableFromInline let statement: OpaquePointer
  private let connection: ReadConnection
  private let sql: SQL
  @usableFromInline let names: [String]
  @usableFromInline let object: ObjectValues?
  /// The column at which the model's begin.
  @usableFromInline let first: Int32

  /// Objects have two columns, the key and the value; `isObject` says so.
  @usableFromInline
  init(
    _ connection: ReadConnection, _ statement: SQLStatement, _ names: [String], isObject: Bool,
    key: Int?, from first: Int32 = 0
  ) throws(ReadError) {
    unsafe self.statement = try connection.take(statement.sql)
    self.connection = connection
    sql = statement.sql
    self.names = names
    self.first = first
    object = isObject ? ObjectValues(names, key: key) : nil
  }

  // Inlinable code ends such a value, so its end has to be inlinable too.
  @inlinable deinit { giveBack() }

  @usableFromInline
  borrowing func giveBack() { unsafe connection.giveBack(statement, sql) }

  /// Goes to the next row. False if there is none.
  @inlinable
  borrowing func next() throws(ReadError) -> Bool {
    let code = unsafe sqlite3_step(statement)
    if code == SQLITE_ROW {
      if let object { unsafe try object.read(statement, at: first) }
      return true
    }
    if code != SQLITE_DONE { throw failure() }
    return false
  }

  @usableFromInline
  borrowing func failure() -> ReadError { connection.failure(sql.text) }

  /// The key in the column before those of the model, which an object may have as text.
  @inlinable
  borrowing func leading<N: Identified>(_ model: N.Type) throws(ReadError) -> ID<N> {
    let column = unsafe ResultColumn(statement, 0)
    if let id = try? ID<N>(column) { return id }
    return try ID<N>(lenient: column.value)
  }

  /// The current row.
  @inlinable var row: Row { unsafe Row(statement, from: first, names, object) }
}

extension ObjectValues {
  /// Reads the key and the value of an object from two columns.
  @usableFromInline
  func read(_ statement: OpaquePointer, at column: Int32) throws(ReadError) {
    begin(key: try unsafe ResultColumn(statement, column).text())
    guard let text = unsafe sqlite3_column_text(statement, column + 1) else { return }
    let count = unsafe Int(sqlite3_column_bytes(statement, column + 1))
    try unsafe read(Span(_unsafeElements: UnsafeBufferPointer(start: text, count: count)))
  }
}
