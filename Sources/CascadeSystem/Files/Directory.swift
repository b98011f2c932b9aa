internal import CascadeCSystem
internal import Glibc

/// An open directory. Names are resolved relative to it, so that it may be moved. Symbolic links
/// are not followed, so a name never leads elsewhere.
package struct Directory: ~Copyable, Sendable {
  package let descriptor: FileDescriptor
  /// Only for messages.
  package let path: String

  /// Follows symbolic links, because the operator chose the path.
  package static func open(_ path: String) throws(SystemError) -> Directory {
    let name = try cString(path)
    let raw = try checked("open", path) {
      unsafe Glibc.open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    }
    return Directory(descriptor: FileDescriptor(owning: raw), path: path)
  }

  /// Creates the directory if it does not exist. Its parent must exist.
  package static func openOrMake(
    _ path: String, mode: UInt32 = 0o777
  ) throws(SystemError) -> Directory {
    let name = try cString(path)
    do {
      _ = try checked("mkdir", path) { unsafe mkdir(name, mode) }
    } catch {
      if error.code != EEXIST { throw error }
    }
    return try open(path)
  }

  /// A directory that is not empty stays.
  package static func removeEmpty(_ path: String) {
    if let name = try? cString(path) { _ = unsafe rmdir(name) }
  }

  package func directory(_ name: FileName) throws(SystemError) -> Directory {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
    let descriptor = try openEntry(name, flags, mode: 0)
    return Directory(descriptor: descriptor, path: self.path(of: name))
  }

  /// Opening a FIFO or a device does not block. Its status shows what it is.
  package func file(
    _ name: FileName, _ access: FileDescriptor.Access = .readOnly, mode: UInt32 = 0o666
  ) throws(SystemError) -> FileDescriptor {
    try openEntry(name, access.flags | O_NOFOLLOW | O_NONBLOCK, mode: mode)
  }

  /// The status of an entry, or nil if it does not exist. A symbolic link is not followed.
  package func status(of name: FileName) throws(SystemError) -> FileStatus? {
    var status = stat()
    let found = try unlessMissing { () throws(SystemError) in
      _ = try checked("fstatat", path(of: name)) {
        unsafe fstatat(descriptor.raw, name.cString, &status, AT_SYMLINK_NOFOLLOW)
      }
    }
    return found ? FileStatus(status) : nil
  }

  /// All names but "." and "..", in no particular order. Names that are created or removed
  /// meanwhile may or may not be included.
  package func names() throws(SystemError) -> [FileName] {
    let entries = try entries()
    var names: [FileName] = []
    while let (name, _) = try entries.next() { names.append(name) }
    return names
  }

  /// The entries one by one, for directories of any size.
  package func entries() throws(SystemError) -> DirectoryEntries {
    let copy = try openEntry(".", O_RDONLY | O_DIRECTORY, mode: 0)
    guard let stream = unsafe fdopendir(copy.raw) else {
      throw SystemError(code: errno, call: "fdopendir", path: path)
    }
    _ = copy.release()
    return unsafe DirectoryEntries(stream, path)
  }

  /// Replaces an existing entry of the new name. Durable after `sync` of both directories.
  package func rename(
    _ name: FileName, to other: borrowing Directory, as newName: FileName
  ) throws(SystemError) {
    let target = other.descriptor.raw
    _ = try checked("rename", path(of: name)) {
      unsafe renameat(descriptor.raw, name.cString, target, newName.cString)
    }
  }

  package func makeDirectory(_ name: FileName, mode: UInt32 = 0o777) throws(SystemError) {
    _ = try checked("mkdir", path(of: name)) {
      unsafe mkdirat(descriptor.raw, name.cString, mode)
    }
  }

  /// Returns false if the entry did not exist.
  @discardableResult
  package func remove(_ name: FileName) throws(SystemError) -> Bool {
    try unlessMissing { () throws(SystemError) in
      _ = try checked("unlink", path(of: name)) {
        unsafe unlinkat(descriptor.raw, name.cString, 0)
      }
    }
  }

  @discardableResult
  package func removeDirectory(_ name: FileName) throws(SystemError) -> Bool {
    try unlessMissing { () throws(SystemError) in
      _ = try checked("rmdir", path(of: name)) {
        unsafe unlinkat(descriptor.raw, name.cString, AT_REMOVEDIR)
      }
    }
  }

  /// Removes all entries, including directories and their content. Links are not followed.
  package func removeContents() throws(SystemError) {
    for name in try names() {
      if try status(of: name)?.kind == .directory {
        try directory(name).removeContents()
        try removeDirectory(name)
      } else {
        try remove(name)
      }
    }
  }

  /// Makes the creation, renaming and removal of entries durable.
  package func sync() throws(SystemError) { try descriptor.sync() }

  package func path(of name: FileName) -> String { "\(path)/\(name)" }

  private func openEntry(
    _ name: FileName, _ flags: CInt, mode: UInt32
  ) throws(SystemError) -> FileDescriptor {
    let raw = try checked("open", path(of: name)) {
      unsafe openat(descriptor.raw, name.cString, flags | O_CLOEXEC, mode)
    }
    return FileDescriptor(owning: raw)
  }

  private func unlessMissing(
    _ body: () throws(SystemError) -> Void
  ) throws(SystemError) -> Bool {
    do {
      try body()
      return true
    } catch {
      if error.code == ENOENT { return false }
      throw error
    }
  }
}
