internal import CascadeCSystem
internal import Glibc

/// Stream sockets that have a path in the file system.
package enum UnixSocket {
  /// Listens at `path`. A socket file without a listener is the remainder of a killed daemon and is
  /// replaced. Any other file stays and causes an error. If two processes may start at the same
  /// time, the callers must hold a lock.
  package static func listen(
    _ path: String, mode: UInt32 = 0o660
  ) throws(SystemError) -> FileDescriptor {
    try removeStale(path)
    let descriptor = try make()
    // bind(2) applies the umask to this mode, so the file never has more permissions than `mode`.
    _ = try checked("fchmod", path) { fchmod(descriptor.raw, mode) }
    try unsafe withAddress(path) { address, length throws(SystemError) in
      _ = try checked("bind", path) { unsafe bind(descriptor.raw, address, length) }
    }
    try setMode(mode, ofSocketAt: path)
    _ = try checked("listen", path) { Glibc.listen(descriptor.raw, SOMAXCONN) }
    return descriptor
  }

  /// By a descriptor of the file itself. Another user may have put a link in its place meanwhile.
  private static func setMode(
    _ mode: UInt32, ofSocketAt path: String
  ) throws(SystemError) {
    let name = try cString(path)
    let raw = try checked("open", path) { unsafe cascade_open_entry(AT_FDCWD, name) }
    let entry = FileDescriptor(owning: raw)
    let status = try entry.status()
    if status.kind != .socket || status.uid != Process.userIdentifier {
      throw SystemError(code: EEXIST, call: "chmod", path: path)
    }
    let link = try cString("/proc/self/fd/\(entry.raw)")
    _ = try checked("chmod", path) { unsafe chmod(link, mode) }
  }

  /// Removes the file of a listener that no longer serves.
  package static func remove(_ path: String) {
    if let name = try? cString(path) { _ = unsafe unlink(name) }
  }

  /// Fails with EAGAIN if the queue of the listener is full.
  package static func connect(_ path: String) throws(SystemError) -> FileDescriptor {
    let descriptor = try make()
    try unsafe withAddress(path) { address, length throws(SystemError) in
      _ = try checked("connect", path) { unsafe Glibc.connect(descriptor.raw, address, length) }
    }
    return descriptor
  }

  /// The two ends of a new connection.
  package static func pair() throws(SystemError) -> Pair {
    var ends: [CInt] = [-1, -1]
    _ = try checked("socketpair") { unsafe socketpair(AF_UNIX, type, 0, &ends) }
    return Pair(
      first: FileDescriptor(owning: ends[0]), second: FileDescriptor(owning: ends[1]))
  }

  package struct Pair: ~Copyable, Sendable {
    package let first: FileDescriptor
    package let second: FileDescriptor
  }

  private static var type: CInt {
    CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
  }

  private static func make() throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try checked("socket") { socket(AF_UNIX, type, 0) })
  }

  private static func removeStale(_ path: String) throws(SystemError) {
    do {
      _ = try connect(path)
    } catch {
      if error.code == ENOENT { return }
      guard error.code == ECONNREFUSED, try FileStatus.of(path)?.kind == .socket else {
        throw error
      }
      let name = try cString(path)
      _ = try checked("unlink", path) { unsafe unlink(name) }
      return
    }
    throw SystemError(code: EADDRINUSE, call: "bind", path: path)
  }

  /// A path that is too long for a socket address is expressed by way of /proc/self/fd, relative to
  /// its directory.
  private static func withAddress(
    _ path: String,
    _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Void
  ) throws(SystemError) {
    if path.utf8.count <= longestPath { return try unsafe withShortAddress(path, body) }
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let directory = try Directory.open(String(path[..<slash]))
    let short = "/proc/self/fd/\(directory.descriptor.raw)\(path[slash...])"
    if short.utf8.count > longestPath {
      throw SystemError(code: ENAMETOOLONG, call: "socket", path: path)
    }
    try unsafe withShortAddress(short, body)
  }

  private static let longestPath = 107

  private static func withShortAddress(
    _ path: String,
    _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Void
  ) throws(SystemError) {
    let bytes = try cString(path)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
      unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    try unsafe withUnsafePointer(to: &address) { pointer throws(SystemError) in
      try unsafe body(UnsafeRawPointer(pointer).assumingMemoryBound(to: sockaddr.self), length)
    }
  }
}
