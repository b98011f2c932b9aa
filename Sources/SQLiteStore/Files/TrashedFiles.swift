internal import CascadeStore
package import CascadeModel
internal import CascadeSQLite
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables

/// Files in the trash of their roots. They are deleted or restored with their batch. What is to be
/// done with a file is committed first, and done afterwards.
extension Writer {
  /// The files of a batch that are still to be moved back.
  package func filesToRestore(of batch: Int64) throws -> [Destination] {
    try db.all(
      """
      SELECT substr(c.name, 14), t.path
      FROM cascade_trash_file AS t JOIN cascade_collection AS c ON c.id = t.collection
      WHERE t.batch = ? AND t.fate = ?
      """, .integer(batch), .integer(FileFate.toRestore.rawValue)
    ) { .file(root: $0.text(0), path: $0.text(1)) }
  }

  func restoreFiles(_ roots: FileRoots, _ work: inout FileWork) throws {
    var changed: [String: Set<String>] = [:]
    var done: [TrashedFile] = []
    var left: [(file: TrashedFile, reason: String)] = []
    for file in try trashed(.toRestore, roots) {
      try work.attempt { work in
        let root = roots[file.root]!
        if try !root.isInTrash(file.path, batch: file.batch) {
          work.missing += 1
          if (try? root.file(file.path)) != nil { return done.append(file) }
          // Another file system may be mounted in place of the root's own.
          return left.append((file, "it is neither in the trash nor in its place"))
        }
        let isBack = try root.restore(
          file.path, batch: file.batch, changed: &changed[file.root, default: []])
        if !isBack { return left.append((file, "something else is in its place")) }
        work.restored += 1
        done.append(file)
      }
    }
    for (root, paths) in changed { try roots[root]?.sync(paths) }
    if done.isEmpty && left.isEmpty { return }
    try group {
      for file in done { try remove(file) }
      for (file, _) in left { try set(.trashed, file) }
    }
    work.left += left.map { file, reason in
      LeftFile(
        batch: file.batch, file: .file(root: file.root, path: file.path), reason: reason)
    }
    work.hasMore = true
  }

  func deleteMarkedFiles(
    _ roots: FileRoots, _ budget: Duration, _ work: inout FileWork
  ) throws {
    var done: [TrashedFile] = []
    for file in try excludingNamed(trashed(.toDelete, roots), roots, budget, &work) {
      try work.attempt { work in
        try roots[file.root]!.deleteFromTrash(file.path, batch: file.batch)
        done.append(file)
      }
    }
    if done.isEmpty { return }
    try group { for file in done { try remove(file) } }
    work.deletedFromTrash += done.count
    work.hasMore = true
  }

  /// Leaves out files that an edge names again and whose place is free: these are marked to be
  /// moved back.
  private func excludingNamed(
    _ files: [TrashedFile], _ roots: FileRoots, _ budget: Duration, _ work: inout FileWork
  ) throws -> [TrashedFile] {
    let asked = files.enumerated()
      .filter { ((try? roots[$1.root]?.file($1.path)) ?? nil) == nil }
      .map { FileQuery(id: Int64($0), collection: $1.collection, path: $1.path) }
    if asked.isEmpty { return files }
    let named = try withNamedFiles(at: asked, budget, commits: true) { named in
      for number in named { try set(.toRestore, files[Int(number)]) }
      return named
    }
    if named?.isEmpty == false { work.hasMore = true }
    // If others commit too often to find out, all of them stay in the trash for now.
    let staying = named ?? Set(asked.map(\.id))
    return files.enumerated().filter { !staying.contains(Int64($0.offset)) }.map(\.element)
  }

  private func remove(_ file: TrashedFile) throws {
    try db.run(
      "DELETE FROM cascade_trash_file WHERE batch = ? AND collection = ? AND path = ?",
      .integer(file.batch), .integer(file.collection), .text(file.path))
  }

  private func set(_ fate: FileFate, _ file: TrashedFile) throws {
    try db.run(
      "UPDATE cascade_trash_file SET fate = ? WHERE batch = ? AND collection = ? AND path = ?",
      .integer(fate.rawValue), .integer(file.batch), .integer(file.collection), .text(file.path))
  }

  /// Files of roots that can be used.
  private func trashed(_ fate: FileFate, _ roots: FileRoots) throws -> [TrashedFile] {
    let names = JSON.array(roots.all.map { .string(Destination.fileCollection + $0.name) })
    return try db.all(
      """
      SELECT t.batch, t.collection, substr(c.name, 14), t.path
      FROM cascade_trash_file AS t JOIN cascade_collection AS c ON c.id = t.collection
      WHERE t.fate AND t.fate = ?
      AND c.name IN (SELECT value FROM json_each(?)) LIMIT ?
      """, .integer(fate.rawValue), .text(names.text), .integer(Int64(Writer.mostFiles))
    ) {
      TrashedFile(
        batch: $0.integer(0), collection: $0.integer(1), root: $0.text(2), path: $0.text(3))
    }
  }
}

private struct TrashedFile {
  let batch: Int64
  let collection: Int64
  let root: String
  let path: String
}
