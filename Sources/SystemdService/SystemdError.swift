internal import CascadeSystem

/// The result of a function of libsystemd, which returns errors as negative numbers and does not
/// set `errno`.
@discardableResult
func checkedReturn(_ call: String, _ result: CInt) throws(SystemError) -> CInt {
  if result < 0 { throw SystemError(code: -result, call: call) }
  return result
}
