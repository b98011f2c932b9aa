internal import CascadeCSystem
internal import Glibc

/// The status of a file, as fstat(2) reports it.
package struct FileStatus: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case file, directory, symbolicLink, socket, other
  }

  package let kind: Kind
  package let size: Int64
  package let device: UInt64
  package let inode: UInt64
  package let mode: UInt32
  package let uid: UInt32
  package let gid: UInt32
  package let links: UInt64
  package let modifiedMilliseconds: Int64
  /// The last change of the content, of a name of the file or of its permissions.
  package let changedMilliseconds: Int64

  init(_ status: stat) {
    kind = Kind(mode: status.st_mode)
    size = Int64(status.st_size)
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    mode = status.st_mode & 0o7777
    uid = status.st_uid
    gid = status.st_gid
    links = UInt64(status.st_nlink)
    modifiedMilliseconds = FileStatus.milliseconds(status.st_mtim)
    changedMilliseconds = FileStatus.milliseconds(status.st_ctim)
  }

  /// The owner of a file can set its times to any value. Values that no clock ever shows are
  /// clamped, so that calculations with them do not overflow.
  private static func milliseconds(_ time: timespec) -> Int64 {
    max(-mostSeconds, min(Int64(time.tv_sec), mostSeconds)) * 1000
      + Int64(time.tv_nsec) / 1_000_000
  }

  private static let mostSeconds: Int64 = 1 << 43

  /// Whether two paths are equal or lead to the same file.
  package static func areSame(_ path: String, _ other: String) throws(SystemError) -> Bool {
    if path == other { return true }
    guard let one = try of(path), let two = try of(other) else { return false }
    return one.isSame(as: two)
  }

  /// Whether both are the status of the same file, which may have several names.
  package func isSame(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }

  /// Whether this process may write to the file. False if it does not exist.
  package static func isWritable(_ path: String) -> Bool {
    guard let name = try? cString(path) else { return false }
    return unsafe faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) == 0
  }

  /// The path of the same file without symbolic links, or nil if it does not exist.
  package static func realPath(_ path: String) -> String? {
    guard let name = try? cString(path), let real = unsafe realpath(name, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// Whether there is an entry at a path. A symbolic link is one, wherever it leads.
  package static func isThere(_ path: String) throws(SystemError) -> Bool {
    let name = try cString(path)
    var status = stat()
    return unsafe lstat(name, &status) == 0
  }

  /// Follows symbolic links. Returns nil if the file does not exist.
  package static func of(_ path: String) throws(SystemError) -> FileStatus? {
    let name = try cString(path)
    var status = stat()
    do {
      _ = try checked("stat", path) { unsafe stat(name, &status) }
    } catch {
      if error.code == ENOENT || error.code == ENOTDIR { return nil }
      throw error
    }
    return FileStatus(status)
  }
}

extension FileStatus.Kind {
  init(mode: mode_t) {
    switch mode & S_IFMT {
    case S_IFREG: self = .file
    case S_IFDIR: self = .directory
    case S_IFLNK: self = .symbolicLink
    case S_IFSOCK: self = .socket
    default: self = .other
    }
  }

  /// From the type in a directory entry. nil on file systems that do not report it.
  init?(entryType: UInt8) {
    let type = mode_t(entryType) << 12
    if type == 0 { return nil }
    self.init(mode: type)
  }
}
