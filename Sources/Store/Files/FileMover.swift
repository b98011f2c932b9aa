internal import CascadeSystem

/// Moves released files, and reports what it found.
struct FileMover {
  let roots: FileRoots
  let now: Int64

  enum Sight: Hashable {
    /// The time for holding the lock was over before the file's turn.
    case unseen
    case named
    /// The file is in the trash now, or already was.
    case moved
    case missing
    /// Written after it was released: an application may be about to refer to it (DESIGN 8.7).
    case young
    /// The file will never be moved.
    case refused(String)
    case waiting(String)
  }

  /// As long as a lease by default.
  private static let youth: Int64 = 15 * 60_000

  func move(_ file: ReleasedFile, isNamed: Bool, _ changed: inout [String: Set<String>]) -> Sight {
    guard let root = roots[file.root] else { return .waiting("files.\(file.root) is not usable") }
    do {
      if !file.isWhole { return .refused("its path is no UTF-8") }
      if let objection = root.objection(to: file.path) { return .refused(objection) }
      if isNamed { return .named }
      // The move may have preceded a crash. Another file may be in its place by now.
      if try root.isKept(file.path, batch: file.batch) { return .moved }
      guard let status = try root.file(file.path) else { return .missing }
      let written = status.changedMilliseconds
      if written > file.at && now - written < FileMover.youth { return .young }
      try root.keep(file.path, batch: file.batch, changed: &changed[file.root, default: []])
      return .moved
    } catch let error as Untouchable {
      return .refused(error.reason)
    } catch let error as SystemError where error.isTaken {
      return .refused("another file of its name is in the trash")
    } catch {
      return .waiting("\(error)")
    }
  }

  /// Returns false if the file must stay in the trash, because something else is in its place.
  func bringBack(_ file: ReleasedFile) throws -> Bool {
    guard let root = roots[file.root], try root.isKept(file.path, batch: file.batch) else {
      return true
    }
    var changed: Set<String> = []
    let isBack = try root.restore(file.path, batch: file.batch, changed: &changed)
    try root.sync(changed)
    return isBack
  }

  func forget(_ file: ReleasedFile) throws {
    try roots[file.root]?.forget(file.path, batch: file.batch)
  }
}
