internal import Glibc
internal import CascadeModel
package import CascadeSystem

/// A directory with files that edges name. A file that lost its last edge is moved into a directory
/// of ours within the root, sorted by batch.
///
/// 1. No link is followed within the root: no path leads out of it.
/// 2. Only regular files are moved or removed, and never over another file.
/// 3. Nothing that belongs to the store is touched.
package final class FileRoot {
  package let name: String
  package let path: String
  package let directory: Directory
  let realPath: String
  let surroundings: Surroundings

  static let trash = ".cascade-trash"

  init(
    _ name: String, _ path: String, _ surroundings: Surroundings, _ paths: SafePaths
  ) throws {
    self.name = name
    self.path = path
    self.surroundings = surroundings
    directory = try paths.directory(path)
    realPath = FileStatus.realPath(path) ?? path
  }

  /// Why a path names no file that may be moved; nil if it may.
  package func objection(to path: String) -> String? {
    if let objection = Destination.objection(toPath: path) { return objection }
    return isOurs(path) ? "it belongs to Cascade" : nil
  }

  /// Whether the path belongs to the trash, the spool and the like.
  func isOurs(_ path: String) -> Bool {
    path.isWithin(FileRoot.trash) || surroundings.cover("\(realPath)/\(path)")
  }

  /// The regular file at a path; nil if there is nothing. Throws if there is something else.
  package func file(_ path: String) throws -> FileStatus? {
    guard let spot = try spot(path), let status = try spot.parent.status(of: spot.name) else {
      return nil
    }
    if status.kind != .file { throw UnmovableFile("it is not a regular file") }
    if surroundings.files.contains(where: status.isSame) {
      throw UnmovableFile("it belongs to the store")
    }
    return status
  }

  package func isInTrash(_ path: String, batch: Int64) throws -> Bool {
    guard let spot = try spotInTrash(path, batch) else { return false }
    return try spot.parent.status(of: spot.name)?.kind == .file
  }

  // MARK: - Moving

  /// Moves a file into the trash. The directories that change are added to `changed`.
  func moveToTrash(_ path: String, batch: Int64, changed: inout Set<String>) throws {
    guard let spot = try spot(path) else { return }
    let kept = FileRoot.trashPath(path, batch)
    let target = try directory.makeDirectory(beneath: kept.parentPath, mode: 0o700)
    try spot.parent.rename(spot.name, to: target, asNew: spot.name)
    changed.formUnion(path.ancestors)
    changed.formUnion(kept.ancestors)
  }

  /// Moves a file back from the trash. Returns false if something else is in its place.
  package func restore(_ path: String, batch: Int64, changed: inout Set<String>) throws -> Bool {
    let kept = FileRoot.trashPath(path, batch)
    guard try isInTrash(path, batch: batch), let spot = try spotInTrash(path, batch) else {
      return true
    }
    let target = try directory.makeDirectory(beneath: path.parentPath, mode: 0o777)
    do {
      try spot.parent.rename(spot.name, to: target, asNew: spot.name)
    } catch {
      if error.isTaken { return false }
      throw error
    }
    changed.formUnion(path.ancestors)
    changed.formUnion(kept.ancestors)
    try removeEmpty(kept.parentPath)
    return true
  }

  /// Removes a file from the trash for good.
  package func deleteFromTrash(_ path: String, batch: Int64) throws {
    guard try isInTrash(path, batch: batch), let spot = try spotInTrash(path, batch) else { return }
    try spot.parent.remove(spot.name)
    try removeEmpty(FileRoot.trashPath(path, batch).parentPath)
  }

  /// Removes directories of the trash that have become empty.
  private func removeEmpty(_ path: String) throws {
    var path = path
    while path.isWithin(FileRoot.trash), let spot = try spot(path) {
      do {
        try spot.parent.removeDirectory(spot.name)
      } catch {
        if error.isNotEmpty { return }
        throw error
      }
      path = path.parentPath
    }
  }

  /// Makes the moves durable, so that they survive a power failure.
  package func sync(_ changed: Set<String>) throws {
    for path in changed {
      do {
        try directory.directory(beneath: path).sync()
      } catch {
        // A directory that became empty was removed.
        if !error.isAbsence { throw error }
      }
    }
  }

  // MARK: - Finding

  private struct DirectoryEntry: ~Copyable {
    let parent: Directory
    let name: FileName
  }

  /// Nil if the directory does not exist, or no file can have such a name.
  private func spot(_ path: String) throws -> DirectoryEntry? {
    if let objection = Destination.objection(toPath: path) { throw UnmovableFile(objection) }
    let isTooLong = path.split(separator: "/").contains { $0.utf8.count > NAME_MAX }
    if isTooLong || path.utf8.count >= PATH_MAX { return nil }
    do {
      return DirectoryEntry(
        parent: try directory.directory(beneath: path.parentPath), name: FileName(path.lastPart))
    } catch {
      if error.isLink { throw UnmovableFile("its path contains a symbolic link") }
      if error.isAbsence { return nil }
      throw error
    }
  }

  /// What is wrong with the trash is not wrong with the file: the file waits.
  private func spotInTrash(_ path: String, _ batch: Int64) throws -> DirectoryEntry? {
    do {
      return try spot(FileRoot.trashPath(path, batch))
    } catch let error as UnmovableFile {
      let trash = "\(self.path)/\(FileRoot.trash)"
      throw UnusableTrash(description: "\(trash) cannot be used: \(error.reason); remove it")
    }
  }

  private static func trashPath(_ path: String, _ batch: Int64) -> String {
    "\(trash)/\(batch)/\(path)"
  }
}

/// A file that must be left where it is, and why.
package struct UnmovableFile: Error, CustomStringConvertible {
  package let reason: String
  package var description: String { reason }
  init(_ reason: String) { self.reason = reason }
}

/// A trash that is no directory of the root's. Its files wait until it is one.
package struct UnusableTrash: Error, CustomStringConvertible {
  package let description: String
}
