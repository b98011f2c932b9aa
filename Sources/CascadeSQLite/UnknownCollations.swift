internal import CascadeCSQLite

extension Connection {
  /// Lets statements read tables whose collations only the application has. They compare as text
  /// without regard to the case of ASCII letters, so an index by such a collation may be searched
  /// in vain: only for a connection that counts and shows, and never writes.
  package func standInForUnknownCollations() {
    _ = unsafe sqlite3_collation_needed(handle, nil) { _, handle, _, name in
      _ = unsafe sqlite3_create_collation_v2(
        handle, name, SQLITE_UTF8, nil, compareWithoutCase, nil)
    }
  }
}

private func compareWithoutCase(
  _ context: UnsafeMutableRawPointer?, _ leftCount: CInt, _ left: UnsafeRawPointer?,
  _ rightCount: CInt, _ right: UnsafeRawPointer?
) -> CInt {
  let left = unsafe UnsafeRawBufferPointer(start: left, count: Int(leftCount))
  let right = unsafe UnsafeRawBufferPointer(start: right, count: Int(rightCount))
  for index in 0..<Int(min(leftCount, rightCount)) {
    let difference = unsafe CInt(left[index].lowercased) - CInt(right[index].lowercased)
    if difference != 0 { return difference }
  }
  return leftCount - rightCount
}

extension UInt8 {
  fileprivate var lowercased: UInt8 { (65...90).contains(self) ? self + 32 : self }
}
