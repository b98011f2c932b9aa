internal import CascadeSystem

/// Visits every regular file in a root, however many there are. Each level of directories costs one
/// open directory, and nothing else is kept.
package struct FileWalk: ~Copyable {
  private let root: FileRoot
  private let storeFiles: [FileStatus]
  /// Directories that could not be read.
  package private(set) var unreadable: [String] = []

  private static let deepest = 200

  package init(_ root: FileRoot) {
    self.root = root
    storeFiles = root.surroundings.files
  }

  /// Calls `body` with the path of each file that could be an edge's destination.
  package mutating func run(_ body: (String) throws -> Void) throws {
    let root = root
    try look(into: root.directory, "", depth: 0, body)
  }

  private mutating func look(
    into directory: borrowing Directory, _ prefix: String, depth: Int,
    _ body: (String) throws -> Void
  ) throws {
    let stream = try directory.entries()
    while let (name, kind) = try stream.next() {
      let path = prefix + name.description
      if root.isOurs(path) { continue }
      switch try kind ?? directory.status(of: name)?.kind {
      case .file: if try !isStore(name, directory) { try body(path) }
      case .directory: try enter(name, of: directory, path, depth: depth + 1, body)
      default: break
      }
    }
  }

  /// A directory that was removed meanwhile, or that may not be read, does not end the walk.
  private mutating func enter(
    _ name: FileName, of directory: borrowing Directory, _ path: String, depth: Int,
    _ body: (String) throws -> Void
  ) throws {
    if depth > FileWalk.deepest { return unreadable.append(path) }
    do {
      try look(into: directory.directory(name), path + "/", depth: depth, body)
    } catch let error as SystemError {
      if !error.isAbsence { unreadable.append(path) }
    }
  }

  private func isStore(_ name: FileName, _ directory: borrowing Directory) throws -> Bool {
    if storeFiles.isEmpty { return false }
    guard let file = try directory.status(of: name) else { return true }
    return storeFiles.contains(where: file.isSame)
  }
}
