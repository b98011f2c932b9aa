package import CascadeStore
internal import CascadeSystem

/// What lies beside a store and is never moved, even if an edge names it: the database, SQLite's
/// files beside it, the spool, and whatever else is Cascade's own.
struct Surroundings: Sendable {
  /// The real path: SQLite has its log beside the file, not beside a link to it.
  private let store: String
  /// Real paths of directories.
  private let directories: [String]

  init(_ paths: StorePaths) {
    store = FileStatus.realPath(paths.store) ?? paths.store
    directories = ["\(paths.store).cascade", paths.spool].map { FileStatus.realPath($0) ?? $0 }
  }

  /// The real paths of everything that belongs to the store.
  var all: [String] { directories + [store] }

  /// Whether a real path lies in a directory of ours.
  func cover(_ path: String) -> Bool { directories.contains { path.isWithin($0) } }

  /// The files of the store that exist now. They are recognized by their identity, whatever their
  /// name.
  var files: [FileStatus] {
    ["", "-wal", "-shm", "-journal"].compactMap { (try? FileStatus.of(store + $0)) ?? nil }
  }
}

extension StorePaths {
  /// The path of the store without links.
  package var realPath: String { FileStatus.realPath(store) ?? store }
}

/// Paths are compared as bytes: what Swift takes for one character may contain a slash.
extension String {
  private static let slash = UInt8(ascii: "/")

  /// Whether this path is the directory, or lies in it.
  package func isWithin(_ directory: String) -> Bool {
    let inside = utf8.elementsEqual(directory.utf8) || directory == "/"
    return inside || utf8.starts(with: Array(directory.utf8) + [String.slash])
  }

  var parentPath: String { utf8.lastIndex(of: String.slash).map { String(self[..<$0]) } ?? "" }

  var lastPart: String {
    utf8.lastIndex(of: String.slash).map { String(self[utf8.index(after: $0)...]) } ?? self
  }

  /// The directories above a path, beginning with the root, which is the empty string.
  var ancestors: [String] {
    [""] + utf8.indices.filter { utf8[$0] == String.slash }.map { String(self[..<$0]) }
  }
}
