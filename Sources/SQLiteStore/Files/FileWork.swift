package import CascadeModel
internal import CascadeSQLite
package import CascadePlanning
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges

/// What was done with files, after the commits that released them or asked for them back.
package struct FileWork: Sendable {
  /// Moved into the trash; removed, if there is no trash.
  package var moved = 0
  /// Left in place, because an edge names the file again.
  package var stillNamed = 0
  package var missing = 0
  package var restored = 0
  /// Removed from the trash for good.
  package var deletedFromTrash = 0
  /// Left in place for good: which, and why.
  package var unmovable: [String] = []
  /// Why files are to be tried again later.
  package var waiting: Set<String> = []
  /// Files written a moment ago, which are also tried again later.
  package var writtenRecently = 0
  /// Files that an undo asked for and that did not come back.
  package var left: [LeftFile] = []
  /// Whether there may be more to do right now.
  package var hasMore = false

  package init() {}

  /// Whether anything was done. If not, trying again right now is useless.
  package var isProgress: Bool {
    moved + stillNamed + missing + restored + deletedFromTrash + unmovable.count + left.count > 0
  }

  package mutating func add(_ other: FileWork) {
    moved += other.moved
    stillNamed += other.stillNamed
    missing += other.missing
    restored += other.restored
    deletedFromTrash += other.deletedFromTrash
    unmovable += other.unmovable
    waiting.formUnion(other.waiting)
    writtenRecently += other.writtenRecently
    left += other.left
    hasMore = other.hasMore
  }
}

/// A file of a batch that did not come back, and why.
package struct LeftFile: Hashable, Sendable {
  package let batch: Int64
  package let file: Destination
  package let reason: String
}

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
