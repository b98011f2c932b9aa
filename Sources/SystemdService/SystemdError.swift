internal import CascadeSystem

/// libsystemd returns the error instead of setting `errno`, with either sign.
@discardableResult
func checkedReturn(_ call: String, _ result: CInt) throws(SystemError) -> CInt {
  if result < 0 { throw SystemError(code: -result, call: call) }
  return result
}
