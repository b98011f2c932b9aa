internal import CascadeCSystem
internal import Glibc

/// An exclusive lock on a file. The kernel releases it when the process ends, also after a crash.
/// The file stays, and its existence means nothing.
package struct FileLock: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  private init(descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// Unlocks explicitly. After a mere close, a forked child that has not executed its program yet
  /// would still hold the lock.
  deinit { _ = flock(descriptor.raw, LOCK_UN) }

  /// Returns nil if another owner holds the lock.
  package static func take(_ path: String) throws(SystemError) -> FileLock? {
    let descriptor = try FileDescriptor.open(path, .readWrite(create: true), mode: 0o600)
    return try take(descriptor, path)
  }

  package static func take(
    _ name: FileName, in directory: borrowing Directory
  ) throws(SystemError) -> FileLock? {
    let descriptor = try directory.file(name, .readWrite(create: true), mode: 0o600)
    return try take(descriptor, directory.path(of: name))
  }

  private static func take(
    _ descriptor: consuming FileDescriptor, _ path: String
  ) throws(SystemError) -> FileLock? {
    let raw = descriptor.raw
    let taken = try checkedUnlessBlocking("flock") { flock(raw, LOCK_EX | LOCK_NB) }
    return taken == nil ? nil : FileLock(descriptor: descriptor)
  }
}
