internal import CascadeCSystem
internal import Glibc

/// Paths beneath a directory. No symbolic link on the way is followed, so a path never leads out of
/// the directory, even if another process moves parts of it meanwhile.
extension Directory {
  /// The directory at a path beneath this one. An empty path means this directory.
  package func directory(beneath path: String) throws(SystemError) -> Directory {
    if path.isEmpty { return try directory(".") }
    let name = try cString(path)
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    do {
      let raw = try checked("openat2", "\(self.path)/\(path)") {
        unsafe cascade_open_beneath(descriptor.raw, name, flags)
      }
      return Directory(descriptor: FileDescriptor(owning: raw), path: "\(self.path)/\(path)")
    } catch {
      // Linux before 5.6 does not have the call, and system call filters may not know it.
      if error.code != ENOSYS && error.code != EPERM { throw error }
      return try directory(stepwiseBeneath: path)
    }
  }

  /// The same, one name at a time, for kernels without openat2.
  package func directory(stepwiseBeneath path: String) throws(SystemError) -> Directory {
    var directory = try directory(".")
    for name in try Directory.names(in: path) { directory = try directory.directory(name) }
    return directory
  }

  /// The directory at a path beneath this one. Missing directories on the way are created.
  package func makeDirectory(
    beneath path: String, mode: UInt32
  ) throws(SystemError) -> Directory {
    do {
      return try directory(beneath: path)
    } catch {
      if !error.isMissing { throw error }
    }
    var directory = try directory(".")
    for name in try Directory.names(in: path) {
      do {
        try directory.makeDirectory(name, mode: mode)
      } catch {
        if !error.isTaken { throw error }
      }
      directory = try directory.directory(name)
    }
    return directory
  }

  private static func names(in path: String) throws(SystemError) -> [FileName] {
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let names = parts.map { FileName(bytes: Array($0)) }
    if names.allSatisfy(\.isValid) { return names }
    throw SystemError(code: EXDEV, call: "openat", path: path)
  }

  /// Fails if the new name exists (`isTaken`).
  package func rename(
    _ name: FileName, to other: borrowing Directory, asNew newName: FileName
  ) throws(SystemError) {
    let target = other.descriptor.raw
    do {
      _ = try checked("rename", path(of: name)) {
        unsafe cascade_rename_new(descriptor.raw, name.cString, target, newName.cString)
      }
    } catch {
      // Some file systems do not support the flag. A hard link with the new name, followed by the
      // removal of the old name, does the same.
      if error.code != EINVAL && error.code != ENOSYS { throw error }
      _ = try checked("link", path(of: name)) {
        unsafe linkat(descriptor.raw, name.cString, target, newName.cString, 0)
      }
      try remove(name)
    }
  }
}

extension SystemError {
  package var isTaken: Bool { code == EEXIST }
  package var isLink: Bool { code == ELOOP }
  package var isNotEmpty: Bool { code == ENOTEMPTY || code == EEXIST }
}
