package import CascadeStore
internal import CascadeModel
internal import CascadeSQLite
internal import CascadePlanning
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges

extension Writer {
  /// The number of files to handle at a time.
  static let mostFiles = 64

  /// Does a part of the work on files; `hasMore` says whether to call it again. The write lock is
  /// held for at most `budget` while files are moved.
  package func processFiles(
    _ surroundings: StorePaths, at now: Int64, budget: Duration = .milliseconds(5)
  ) throws -> FileWork {
    var work = FileWork()
    if model.files.isEmpty || attachment.isDetached || isPartlyBound { return work }
    let hasWork = try hasFileWork
    if !hasWork && files.areRootsRecorded { return work }
    try adaptToSchema()
    var roots = FileRoots(model, surroundings)
    try leaveOutUnmounted(&roots)
    files.areRootsRecorded = true
    if !hasWork { return work }
    work.waiting.formUnion(roots.problems.filter { $0.kind == .fileRoot }.map(\.message))
    try restoreFiles(roots, &work)
    try moveReleased(roots, at: now, budget, &work)
    try deleteMarkedFiles(roots, budget, &work)
    return work
  }

  private func leaveOutUnmounted(_ roots: inout FileRoots) throws {
    func key(_ root: FileRoot) -> MetaKey { .fileRoot(root.name, path: root.path) }
    try roots.leaveOutUnmounted(known: { try db.meta(key($0)) }) { root, inode in
      try group { try db.setMeta(key(root), inode) }
    }
  }

  /// Tries the waiting files again: their time may have come, or their root may be back.
  package func retryFiles() { files.lastTriedFile = 0 }

  private var hasFileWork: Bool {
    get throws {
      let any = try db.integer(
        """
        SELECT EXISTS (SELECT 1 FROM cascade_released_file WHERE id > ?)
        OR EXISTS (SELECT 1 FROM cascade_trash_file WHERE fate)
        """, .integer(files.lastTriedFile))
      return any == 1
    }
  }
}
