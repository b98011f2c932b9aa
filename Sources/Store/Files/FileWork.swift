package import CascadeModel
internal import CascadeSQLite
/// What was done about files, after the commits that let them go or want them back.
package struct FileWork: Sendable {
  /// Into the trash; without a trash, removed.
  package var moved = 0
  /// An edge came back before.
  package var kept = 0
  package var missing = 0
  package var restored = 0
  /// Out of the trash, for good.
  package var forgotten = 0
  /// Left where they are, for good: which, and why.
  package var refused: [String] = []
  /// Tried again later: why.
  package var waiting: Set<String> = []
  /// Written a moment ago, and tried again later too.
  package var young = 0
  /// Those that an undo wanted back, and that are not.
  package var left: [LeftFile] = []
  /// Whether there may be more to do at once.
  package var hasMore = false

  package init() {}

  /// Whether anything was done: where nothing was, coming again at once is no use.
  package var isProgress: Bool {
    moved + kept + missing + restored + forgotten + refused.count + left.count > 0
  }

  package mutating func add(_ other: FileWork) {
    moved += other.moved
    kept += other.kept
    missing += other.missing
    restored += other.restored
    forgotten += other.forgotten
    refused += other.refused
    waiting.formUnion(other.waiting)
    young += other.young
    left += other.left
    hasMore = other.hasMore
  }
}

/// A file of a batch that does not come back, and why.
package struct LeftFile: Hashable, Sendable {
  package let batch: Int64
  package let file: Destination
  package let reason: String
}

extension Writer {
  /// So many files at a time.
  static let mostFiles = 64

  /// A part of what is to be done about files; `hasMore` says whether to come again. The write lock
  /// is held for at most `budget` while files are moved.
  package func tendFiles(
    _ surroundings: Surroundings, at now: Int64, budget: Duration = .milliseconds(5)
  ) throws -> FileWork {
    var work = FileWork()
    if model.files.isEmpty || isDetached || isHalfView { return work }
    let hasWork = try hasFileWork
    if !hasWork && haveRootsBeenSeen { return work }
    try followSchema()
    var roots = FileRoots(model, surroundings)
    try leaveOutUnmounted(&roots)
    haveRootsBeenSeen = true
    if !hasWork { return work }
    work.waiting.formUnion(roots.problems.filter { $0.kind == .fileRoot }.map(\.message))
    try restoreFiles(roots, &work)
    try moveReleased(roots, at: now, budget, &work)
    try forgetFiles(roots, budget, &work)
    return work
  }

  /// Looks again at the files that wait: their time may have come, or their root be back.
  package func retryFiles() { filesTried = 0 }

  private var hasFileWork: Bool {
    get throws {
      let any = try db.integer(
        """
        SELECT EXISTS (SELECT 1 FROM cascade_released_file WHERE id > ?)
        OR EXISTS (SELECT 1 FROM cascade_trash_file WHERE fate)
        """, .integer(filesTried))
      return any == 1
    }
  }
}
