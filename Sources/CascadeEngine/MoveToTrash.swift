internal import CascadeModel
internal import CascadeSystem

/// Moves files of a root into its trash, back, and away for good.
extension FileRoot {
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
  func removeEmpty(_ path: String) throws {
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
}
