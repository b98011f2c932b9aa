package import CascadeModel

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

  /// Whether there was nothing to do.
  package var isIdle: Bool { !isProgress && waiting.isEmpty && writtenRecently == 0 }

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

  package init(batch: Int64, file: Destination, reason: String) {
    self.batch = batch
    self.file = file
    self.reason = reason
  }
}
