public import CascadeCSQLite
internal import CascadeModel

/// One column of the current row of a result. It is valid until the next row.
@safe
public struct ResultColumn: ~Copyable {
  @usableFromInline let statement: OpaquePointer
  @usableFromInline let index: Int32

  @inlinable
  init(_ statement: OpaquePointer, _ index: Int32) {
    unsafe self.statement = statement
    self.index = index
  }

  /// Whether the column is NULL.
  @inlinable public var isNull: Bool { unsafe sqlite3_column_type(statement, index) == SQLITE_NULL }

  /// The integer of the column. Throws if it has something else.
  @inlinable
  public func integer() throws(ReadError) -> Int64 {
    guard unsafe sqlite3_column_type(statement, index) == SQLITE_INTEGER else {
      throw .unexpected(value, wanted: "an integer")
    }
    return unsafe sqlite3_column_int64(statement, index)
  }

  /// The text of the column. Throws if it has something else.
  @inlinable
  public func text() throws(ReadError) -> String {
    guard unsafe sqlite3_column_type(statement, index) == SQLITE_TEXT,
      let text = unsafe sqlite3_column_text(statement, index)
    else { throw .unexpected(value, wanted: "text") }
    let count = unsafe Int(sqlite3_column_bytes(statement, index))
    return unsafe String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// The UUID that the text of the column is; nil if it is none, or no text.
  @usableFromInline var uuid: UUIDv7? {
    guard unsafe sqlite3_column_type(statement, index) == SQLITE_TEXT,
      let text = unsafe sqlite3_column_text(statement, index)
    else { return nil }
    let count = unsafe Int(sqlite3_column_bytes(statement, index))
    return unsafe UUIDv7(utf8: Span(_unsafeStart: text, count: count))
  }

  /// The value of the column, whatever it is.
  public var value: SQLValue {
    switch unsafe sqlite3_column_type(statement, index) {
    case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(statement, index))
    case SQLITE_FLOAT: return unsafe .real(sqlite3_column_double(statement, index))
    case SQLITE_TEXT: return .text((try? text()) ?? "")
    case SQLITE_BLOB: return .blob(bytes)
    default: return .null
    }
  }

  /// The value as a change file expresses it for a column, so that writing it changes nothing.
  var json: JSON {
    let isText = unsafe sqlite3_column_type(statement, index) == SQLITE_TEXT
    if isText, String(validating: bytes, as: UTF8.self) == nil {
      return GivenValue.text(bytes).json
    }
    return value.columnJSON
  }

  private var bytes: [UInt8] {
    let count = unsafe Int(sqlite3_column_bytes(statement, index))
    guard let start = unsafe sqlite3_column_blob(statement, index) else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }
}
