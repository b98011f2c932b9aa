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

  // MARK: - Finding

  struct DirectoryEntry: ~Copyable {
    let parent: Directory
    let name: FileName
  }

  /// Nil if the directory does not exist, or no file can have such a name.
  func spot(_ path: String) throws -> DirectoryEntry? {
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
  func spotInTrash(_ path: String, _ batch: Int64) throws -> DirectoryEntry? {
    do {
      return try spot(FileRoot.trashPath(path, batch))
    } catch let error as UnmovableFile {
      let trash = "\(self.path)/\(FileRoot.trash)"
      throw UnusableTrash(description: "\(trash) cannot be used: \(error.reason); remove it")
    }
  }

  static func trashPath(_ path: String, _ batch: Int64) -> String {
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
