internal import CascadeCSystem
internal import Glibc

/// A failed call of the operating system.
package struct SystemError: Error, Hashable, CustomStringConvertible {
  package let code: CInt
  package let call: String
  package let path: String?

  package init(code: CInt, call: String, path: String? = nil) {
    self.code = code
    self.call = call
    self.path = path
  }

  package var description: String {
    (path.map { "\($0): " } ?? "") + "\(call): \(Self.text(of: code))"
  }

  package var isMissing: Bool { code == ENOENT }
  package var isNotAllowed: Bool { code == EACCES || code == EPERM }
  package var isFull: Bool { code == ENOSPC || code == EDQUOT }
  package var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }

  static func text(of code: CInt) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}

/// Makes a call, and repeats it while signals interrupt it. The error comes from `errno`.
package func checked<Result: SignedInteger>(
  _ call: String, _ path: String? = nil, _ body: () -> Result
) throws(SystemError) -> Result {
  while true {
    let result = body()
    if result >= 0 { return result }
    let code = errno
    if code != EINTR { throw SystemError(code: code, call: call, path: path) }
  }
}

/// The same for a call that may not be able to proceed now (EAGAIN). Returns nil in that case.
package func checkedUnlessBlocking<Result: SignedInteger>(
  _ call: String, _ body: () -> Result
) throws(SystemError) -> Result? {
  do {
    return try checked(call, nil, body)
  } catch {
    if error.code == EAGAIN { return nil }
    throw error
  }
}

/// A path for C. A path with a NUL inside is refused, because C would read only the part before it,
/// and that names a different file.
package func cString(_ path: String) throws(SystemError) -> [CChar] {
  if path.utf8.contains(0) { throw SystemError(code: EINVAL, call: "path", path: path) }
  return path.utf8.map { CChar(bitPattern: $0) } + [0]
}

extension SystemError {
  package static let disconnection = SystemError(code: EPIPE, call: "send")

  /// The peer has closed the connection.
  package var isDisconnection: Bool { code == EPIPE || code == ECONNRESET }

  /// The path does not exist, or no process listens there.
  package var isAbsence: Bool { code == ENOENT || code == ENOTDIR || code == ECONNREFUSED }
}
