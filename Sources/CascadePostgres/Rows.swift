internal import CPostgreSQL

/// The rows that a statement returned, as text; nil is null.
package struct Rows: Sendable {
  package let rows: [[String?]]
  /// How many rows a statement without `RETURNING` changed.
  package let changed: Int

  package init(rows: [[String?]]) { (self.rows, changed) = (rows, rows.count) }

  package var isEmpty: Bool { rows.isEmpty }
  package var count: Int { rows.count }

  /// The first column of the first row.
  package var text: String? { rows.first?.first ?? nil }
  package var integer: Int64? { text.flatMap { Int64($0) } }
  /// PostgreSQL writes `t` and `f`.
  package var bool: Bool { text == "t" }

  /// The first column.
  package var texts: [String] { rows.compactMap { $0[0] } }
}

extension Rows {
  init(_ result: OpaquePointer) {
    let columns = unsafe PQnfields(result)
    rows = (0..<(unsafe PQntuples(result))).map { row in
      (0..<columns).map { unsafe Rows.value(result, row, $0) }
    }
    changed = unsafe Int(String(cString: PQcmdTuples(result))) ?? 0
  }

  private static func value(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> String? {
    if unsafe PQgetisnull(result, row, column) == 1 { return nil }
    let length = unsafe Int(PQgetlength(result, row, column))
    let bytes = unsafe UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: length)
    return unsafe String(decoding: bytes, as: UTF8.self)
  }
}
