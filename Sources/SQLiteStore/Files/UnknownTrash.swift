internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteEdges
internal import SQLiteJournal
internal import SQLiteSweeps
internal import SQLiteTables

/// Files in the trash of a root under the number of a batch that the store does not know: an older backup of
/// it was restored.
///
/// 1. One that an edge names comes back. Its row is there again.
/// 2. The others are taken over under the number of their batch, and kept as long as any trash.
extension Writer {
  /// Returns false if it has to be called again: others commit too often, or there is more.
  func takeOverUnknownTrash(_ roots: FileRoots, at now: Int64, _ work: inout FileWork) throws
    -> Bool
  {
    var isDone = true
    for root in roots.all {
      // What is wrong with the trash is told of the files that are to be moved.
      for batch in (try? root.batchesInTrash()) ?? [] where try !isInLedger(batch) {
        let files = try unknownFiles(in: root, batch)
        if try !takeOver(files, root, batch, at: now, &work) { isDone = false }
      }
    }
    return isDone
  }

  private func isInLedger(_ batch: Int64) throws -> Bool {
    try db.integer("SELECT 1 FROM cascade_ledger WHERE seq = ?", .integer(batch)) != nil
  }

  private func unknownFiles(in root: FileRoot, _ batch: Int64) throws -> [FileQuery] {
    let name = Destination.fileCollection + root.name
    let collection = try group { try collectionId(name) }
    let paths = try root.filesInTrash(of: batch).filter { path in
      try db.integer(
        "SELECT 1 FROM cascade_trash_file WHERE batch = ? AND collection = ? AND path = ?",
        .integer(batch), .integer(collection), .text(path)) == nil
    }
    return paths.enumerated().map {
      FileQuery(id: Int64($0), collection: collection, path: $1)
    }
  }

  private func takeOver(
    _ files: [FileQuery], _ root: FileRoot, _ batch: Int64, at now: Int64, _ work: inout FileWork
  ) throws -> Bool {
    if files.isEmpty { return true }
    let found = try withNamedFiles(at: files, .seconds(1), commits: true) { named in
      for file in files {
        let isWanted = try named.contains(file.id) && root.file(file.path) == nil
        try db.run(
          """
          INSERT OR IGNORE INTO cascade_trash_file(batch, collection, path, fate) VALUES(?, ?, ?, ?)
          """, .integer(batch), .integer(file.collection), .text(file.path),
          .integer((isWanted ? FileFate.toRestore : .trashed).rawValue))
      }
      current = TransactionState()
      current.batch = batch
      try record(
        Submission(id: "trash-\(batch)", author: "trash", fingerprint: 0, at: now))
      return true
    }
    work.hasMore = true
    return found != nil
  }
}
