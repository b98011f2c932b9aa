internal import CascadeCSystem
internal import Glibc

/// Owns a descriptor and closes it. Every descriptor is closed on exec and never blocks an open.
package struct FileDescriptor: ~Copyable, Sendable {
  /// For a look at the number; the owner must outlive its use.
  package let raw: CInt

  package init(owning raw: CInt) { self.raw = raw }

  // What close(2) reports cannot be acted on: who needs to know calls `sync`.
  deinit { close(raw) }

  /// Gives the number away; it is the caller's to close.
  package consuming func release() -> CInt {
    let raw = raw
    discard self
    return raw
  }

  package enum Access: Sendable {
    case readOnly
    case readWrite(create: Bool)
    /// Fails if the name exists.
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

  /// What a descriptor can be waited for.
  package enum Readiness: Int, CaseIterable, Sendable {
    case readable, writable
    /// Both directions are closed: nobody will take an answer. Half a close is only "readable".
    case hungUp
  }

  /// Follows symbolic links: for paths that the operator chose.
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

  /// A second owner of the same open file.
  package func duplicate() throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try checked("dup") { cascade_duplicate(raw) })
  }

  package func setNonBlocking() throws(SystemError) {
    let flags = try checked("fcntl") { cascade_status_flags(raw) }
    _ = try checked("fcntl") { cascade_set_status_flags(raw, flags | O_NONBLOCK) }
  }

  /// Reading end and writing end.
  package static func withPipe<Result, Failure: Error>(
    _ body: (consuming FileDescriptor, consuming FileDescriptor) throws(Failure) -> Result
  ) throws -> Result {
    var ends: [CInt] = [-1, -1]
    _ = try checked("pipe2") { unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) }
    return try body(FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  }
}
