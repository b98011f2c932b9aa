internal import CascadeCSystem
internal import Glibc

/// A call of the operating system that failed.
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

  static func text(of code: CInt) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}

/// One call, repeated while signals interrupt it. This is the only place that reads `errno`.
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

/// The same for a call that "would block": nil then.
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

/// A path for C. One with a NUL inside would name another file than the one it shows.
package func cString(_ path: String) throws(SystemError) -> [CChar] {
  if path.utf8.contains(0) { throw SystemError(code: EINVAL, call: "path", path: path) }
  return path.utf8.map { CChar(bitPattern: $0) } + [0]
}

extension SystemError {
  package static let disconnection = SystemError(code: EPIPE, call: "send")

  /// The other end of a socket is gone.
  package var isDisconnection: Bool { code == EPIPE || code == ECONNRESET }

  /// There is nothing, or nobody answers there.
  package var isAbsence: Bool { code == ENOENT || code == ENOTDIR || code == ECONNREFUSED }
}
