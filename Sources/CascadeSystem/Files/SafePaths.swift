internal import Glibc

/// Opens the files of a store, if nobody can put others in their place.
///
/// 1. They, and every directory and link above them, belong to this process's user or to root.
/// 2. Nobody else may write them, except the group of the store: its owner or root gave it the store.
/// 3. Above them, a sticky directory may be writable by all, because an entry in it can be replaced
///    only by the entry's owner.
/// 4. They are no links themselves.
package struct SafePaths: Sendable {
  private let user = Process.userIdentifier
  private let group: UInt32
  /// The mode of directories that are made beside the store.
  package let directoryMode: UInt32

  /// The database may be missing. It will then get the group that new files have.
  package init(store: String) throws {
    let route = try Route(to: store)
    let status = try route.status()
    self.init(status, below: route.steps.last?.status)
    try refuseUnsafe(route)
    if let status { try refuseUnsafe(status, path: route.path, isAtEnd: true) }
  }

  /// For files that are read before the store is opened. It may be away, and is not judged.
  package init(groupOf store: String) {
    guard let route = try? Route(to: store) else {
      self.init(nil, below: nil)
      return
    }
    self.init((try? route.status()) ?? nil, below: route.steps.last?.status)
  }

  private init(_ store: FileStatus?, below directory: FileStatus?) {
    group = store?.gid ?? SafePaths.groupOfNewFiles(below: directory)
    directoryMode = store.map { $0.mode & 0o020 != 0 } == true ? 0o770 : 0o700
  }

  private static func groupOfNewFiles(below directory: FileStatus?) -> UInt32 {
    guard let directory, directory.mode & 0o2000 != 0 else { return Process.groupIdentifier }
    return directory.gid
  }

  package func directory(_ path: String) throws -> Directory {
    let route = try Route(to: path)
    try refuseUnsafe(route)
    return try directory(route.name, in: route.parent)
  }

  package func directory(
    _ name: FileName, in parent: borrowing Directory
  ) throws -> Directory {
    try refuseLink(try parent.status(of: name), parent.path(of: name))
    let directory = try parent.directory(name)
    try refuseUnsafe(directory.descriptor.status(), path: directory.path, isAtEnd: true)
    return directory
  }

  /// Creates the directory if it is missing, with the directory mode, whatever the umask is.
  package func makeDirectory(_ path: String) throws -> Directory {
    let route = try Route(to: path)
    try refuseUnsafe(route)
    return try makeDirectory(route.name, in: route.parent)
  }

  package func makeDirectory(
    _ name: FileName, in parent: borrowing Directory
  ) throws -> Directory {
    do {
      try parent.makeDirectory(name, mode: 0o700)
    } catch {
      if !error.isTaken { throw error }
      return try directory(name, in: parent)
    }
    let directory = try directory(name, in: parent)
    let isShared = directoryMode != 0o700 && directory.descriptor.give(to: group)
    try directory.descriptor.setMode(isShared ? directoryMode : 0o700)
    return directory
  }

  /// A regular file, opened for reading.
  package func file(_ path: String) throws -> FileDescriptor {
    let route = try Route(to: path)
    try refuseUnsafe(route)
    try refuseLink(route.status(), path)
    let file = try route.parent.file(route.name)
    try refuseUnsafe(file.status(), path: path, isAtEnd: true)
    return file
  }

  // MARK: - Judging

  private func refuseUnsafe(_ route: borrowing Route) throws {
    for step in route.steps { try refuseUnsafe(step.status, path: step.path, isAtEnd: false) }
  }

  package func refuseUnsafe(_ status: FileStatus, path: String, isAtEnd: Bool) throws {
    if status.uid != 0 && status.uid != user {
      throw UnsafePath(path, "belongs to user \(status.uid), and cascaded runs as user \(user)")
    }
    if isAtEnd { try refuseLink(status, path) }
    let isSticky = status.kind == .directory && status.mode & 0o1000 != 0
    if status.kind == .symbolicLink || isSticky && !isAtEnd { return }
    if status.mode & 0o002 != 0 { throw UnsafePath(path, "can be written by every user") }
    if status.mode & 0o020 != 0 && status.gid != group {
      throw UnsafePath(
        path, "can be written by group \(status.gid), and the store belongs to group \(group)")
    }
  }

  private func refuseLink(_ status: FileStatus?, _ path: String) throws {
    guard status?.kind == .symbolicLink else { return }
    throw UnsafePath(path, "is a symbolic link: name what it leads to")
  }
}

/// A path that is not used, because another user could replace what it leads to.
package struct UnsafePath: Error, CustomStringConvertible {
  package let path: String
  private let reason: String

  init(_ path: String, _ reason: String) {
    self.path = path
    self.reason = reason
  }

  package var description: String {
    "\(path) \(reason); serve a store as its owner, in directories that only its owner, root and "
      + "the store's group can write"
  }
}
