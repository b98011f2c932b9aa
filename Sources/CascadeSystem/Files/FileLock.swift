internal import CascadeCSystem
internal import Glibc

/// A lock that ends with its owner, however that ends. The file stays, and says nothing.
package struct FileLock: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  private init(descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// Closing alone would leave it to a child that was forked and has not run its program yet.
  deinit { _ = flock(descriptor.raw, LOCK_UN) }

  /// nil if somebody else holds it.
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
