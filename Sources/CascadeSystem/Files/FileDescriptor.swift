internal import CascadeCSystem
internal import Glibc

/// Owns a descriptor and closes it. Descriptors are closed on exec, and opening one never blocks.
package struct FileDescriptor: ~Copyable, Sendable {
  /// The number. The owner must outlive each use of it.
  package let raw: CInt

  package init(owning raw: CInt) { self.raw = raw }

  // An error of close(2) cannot be handled. A caller that needs to know calls `sync` before.
  deinit { close(raw) }

  /// Gives up ownership. The caller must close the number.
  package consuming func release() -> CInt {
    let raw = raw
    discard self
    return raw
  }

  package enum Access: Sendable {
    case readOnly
    case readWrite(create: Bool)
    /// Fails if the file exists.
    case createNew
    case append

    var flags: CInt {
      switch self {
      case .readOnly: O_RDONLY
      case .readWrite(let create): O_RDWR | (create ? O_CREAT : 0)
      case .createNew: O_RDWR | O_CREAT | O_EXCL
      case .append: O_WRONLY | O_CREAT | O_APPEND
      }
    }
  }

  /// What a caller can wait for.
  package enum Readiness: Int, CaseIterable, Sendable {
    case readable, writable
    /// Both directions are closed, so no reply can be delivered. If the peer has closed only its
    /// sending side, the socket is merely readable.
    case hungUp
  }

  /// Follows symbolic links, because the operator chose the path.
  package static func open(
    _ path: String, _ access: Access = .readOnly, mode: UInt32 = 0o666
  ) throws(SystemError) -> FileDescriptor {
    let name = try cString(path)
    let raw = try checked("open", path) {
      unsafe Glibc.open(name, access.flags | O_CLOEXEC | O_NONBLOCK, mode)
    }
    return FileDescriptor(owning: raw)
  }

  package func status() throws(SystemError) -> FileStatus {
    var status = stat()
    _ = try checked("fstat") { unsafe fstat(raw, &status) }
    return FileStatus(status)
  }

  /// A second descriptor of the same open file.
  package func duplicate() throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try checked("dup") { cascade_duplicate(raw) })
  }

  package func setNonBlocking() throws(SystemError) {
    let flags = try checked("fcntl") { cascade_status_flags(raw) }
    _ = try checked("fcntl") { cascade_set_status_flags(raw, flags | O_NONBLOCK) }
  }

  package func setMode(_ mode: UInt32) throws(SystemError) {
    _ = try checked("fchmod") { fchmod(raw, mode) }
  }

  /// Gives the file to a group. False if this process may not.
  func give(to group: UInt32) -> Bool { fchown(raw, uid_t.max, group) == 0 }

  /// Passes the reading end and the writing end of a new pipe to `body`.
  package static func withPipe<Result, Failure: Error>(
    _ body: (consuming FileDescriptor, consuming FileDescriptor) throws(Failure) -> Result
  ) throws -> Result {
    var ends: [CInt] = [-1, -1]
    _ = try checked("pipe2") { unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) }
    return try body(FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  }
}
