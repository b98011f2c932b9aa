internal import CascadeSystem
/// What lies beside a store and is never moved, whoever names it: the database, what SQLite keeps
/// beside it, the spool and what else is Cascade's own.
package struct Surroundings: Sendable {
  /// The real path: SQLite keeps its log beside the file, not beside a link to it.
  private let store: String
  /// Real paths of directories.
  private let directories: [String]

  package init(store: String, spool: String) {
    self.store = FileStatus.realPath(store) ?? store
    directories = ["\(store).cascade", spool].map { FileStatus.realPath($0) ?? $0 }
  }

  /// The real paths of everything that is ours.
  var all: [String] { directories + [store] }

  /// Whether a real path leads to something of ours.
  func cover(_ path: String) -> Bool { directories.contains { path.isWithin($0) } }

  /// The files of the store that are there now: one of them is known by whatever name.
  var files: [FileStatus] {
    ["", "-wal", "-shm", "-journal"].compactMap { (try? FileStatus.of(store + $0)) ?? nil }
  }
}

/// Paths are bytes: what Swift takes for one character may have a slash in it.
extension String {
  private static let slash = UInt8(ascii: "/")

  /// Whether this path is the directory, or leads into it.
  package func isWithin(_ directory: String) -> Bool {
    let inside = utf8.elementsEqual(directory.utf8) || directory == "/"
    return inside || utf8.starts(with: Array(directory.utf8) + [String.slash])
  }

  var parentPath: String { utf8.lastIndex(of: String.slash).map { String(self[..<$0]) } ?? "" }

  var lastPart: String {
    utf8.lastIndex(of: String.slash).map { String(self[utf8.index(after: $0)...]) } ?? self
  }

  /// The directories above a path, from the root, which is empty.
  var ancestors: [String] {
    [""] + utf8.indices.filter { utf8[$0] == String.slash }.map { String(self[..<$0]) }
  }
}
