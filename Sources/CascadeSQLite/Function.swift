internal import CascadeCSQLite

/// A function of one text, which statements of a connection may call.
private final class Function {
  let body: (String) -> Value

  init(_ body: @escaping (String) -> Value) { self.body = body }

  static let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
}

extension Connection {
  /// Defines an SQL function. The result for null is null.
  package func define(
    _ name: String, as body: @escaping (String) -> Value
  ) throws(SQLiteError) {
    let function = unsafe Unmanaged.passRetained(Function(body)).toOpaque()
    let result = unsafe sqlite3_create_function_v2(
      handle, name, 1, Function.flags, function,
      { context, _, arguments in
        let function = unsafe Unmanaged<Function>.fromOpaque(sqlite3_user_data(context)!)
        guard let text = unsafe sqlite3_value_text(arguments![0]) else {
          return unsafe sqlite3_result_null(context)
        }
        let count = unsafe Int(sqlite3_value_bytes(arguments![0]))
        let bytes = unsafe UnsafeBufferPointer(start: text, count: count)
        let value = unsafe function.takeUnretainedValue().body(
          String(decoding: bytes, as: UTF8.self))
        unsafe value.setResult(resultOf: context)
      }, nil, nil, { unsafe Unmanaged<Function>.fromOpaque($0!).release() })
    if result == SQLITE_OK { return }
    throw unsafe SQLiteError(result, handle, doing: "define \(name)")
  }
}

extension Value {
  fileprivate func setResult(resultOf context: OpaquePointer?) {
    switch self {
    case .null: unsafe sqlite3_result_null(context)
    case .integer(let number): unsafe sqlite3_result_int64(context, number)
    case .real(let number): unsafe sqlite3_result_double(context, number)
    case .text(var text):
      text.withUTF8 { bytes in
        unsafe cascade_result_text(
          context, bytes.baseAddress.map { unsafe UnsafeRawPointer($0) }, UInt64(bytes.count))
      }
    case .blob(let bytes):
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe cascade_result_blob(context, bytes.baseAddress, UInt64(bytes.count))
      }
    }
  }
}
