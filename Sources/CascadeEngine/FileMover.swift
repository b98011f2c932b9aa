internal import CascadeSystem

/// Moves released files, and reports what it found.
package struct FileMover {
  package let roots: FileRoots
  package let now: Int64

  package init(roots: FileRoots, now: Int64) {
    self.roots = roots
    self.now = now
  }

  package enum MoveResult: Hashable {
    /// The time for holding the lock was over before the file's turn.
    case notTried
    case named
    /// The file is in the trash now, or already was.
    case moved
    case missing
    /// Written after it was released: an application may be about to refer to it.
    case writtenRecently
    /// The file will never be moved.
    case unmovable(String)
    case waiting(String)
  }

  /// As long as a lease by default.
  private static let recentMilliseconds: Int64 = 15 * 60_000

  package func move(_ file: ReleasedFile, isNamed: Bool, _ changed: inout [String: Set<String>])
    -> MoveResult
  {
    guard let root = roots[file.root] else { return .waiting("files.\(file.root) is not usable") }
    do {
      if !file.isPathValid { return .unmovable("its path is not UTF-8") }
      if let objection = root.objection(to: file.path) { return .unmovable(objection) }
      if isNamed { return .named }
      // The move may have preceded a crash. Another file may be in its place by now.
      if try root.isInTrash(file.path, batch: file.batch) { return .moved }
      guard let status = try root.file(file.path) else { return .missing }
      let written = status.changedMilliseconds
      if written > file.at && now - written < FileMover.recentMilliseconds {
        return .writtenRecently
      }
      try root.moveToTrash(file.path, batch: file.batch, changed: &changed[file.root, default: []])
      return .moved
    } catch let error as UnmovableFile {
      return .unmovable(error.reason)
    } catch let error as SystemError where error.isTaken {
      return .unmovable("another file with its name is in the trash")
    } catch {
      return .waiting("\(error)")
    }
  }

  /// Returns false if the file must stay in the trash, because something else is in its place.
  package func restoreFromTrash(_ file: ReleasedFile) throws -> Bool {
    guard let root = roots[file.root], try root.isInTrash(file.path, batch: file.batch) else {
      return true
    }
    var changed: Set<String> = []
    let isBack = try root.restore(file.path, batch: file.batch, changed: &changed)
    try root.sync(changed)
    return isBack
  }

  package func deleteFromTrash(_ file: ReleasedFile) throws {
    try roots[file.root]?.deleteFromTrash(file.path, batch: file.batch)
  }
}
