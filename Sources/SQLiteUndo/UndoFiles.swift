internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteTables

/// Files of a batch are marked in the transactions of its undo, and moved back afterwards.
extension Undo {
  mutating func restoreFiles() throws {
    try leaveFilesOfOtherRoots()
    repeat {
      let most = mostAtOnce
      try step(of: 1) { $0.result.files += try $0.writer.markFilesForRestore($0.batch, most: most) }
    } while try isStepped && writer.hasRestorableFiles(of: batch, where: writer.isRootInModel)
  }

  /// Nothing knows where these were. They come back when the model has their roots again.
  private mutating func leaveFilesOfOtherRoots() throws {
    let files = try writer.db.all(
      """
      SELECT substr(c.name, \(Destination.fileCollection.count + 1)), f.path FROM (\(writer.restorableFiles(of: batch))) AS f
      JOIN main.cascade_collection AS c ON c.id = f.collection
      WHERE NOT f.\(writer.isRootInModel) ORDER BY 1, 2
      """
    ) { (root: $0.text(0), file: Destination.file(root: $0.text(0), path: $0.text(1))) }
    for (root, file) in files {
      result.leave(nil, file.json.text, because: "the model has no root \"\(root)\" any more")
    }
  }
}

extension Writer {
  fileprivate func restorableFiles(of batch: Int64) -> Query {
    """
    SELECT collection, path FROM main.cascade_trash_file
    WHERE batch = \(bind: batch) AND fate = \(FileFate.trashed.rawValue)
    UNION ALL SELECT collection, path FROM main.cascade_released_file WHERE batch = \(bind: batch)
    """
  }

  /// Whether any files of a batch can still be restored.
  func hasRestorableFiles(of batch: Int64, where condition: Query = "true") throws -> Bool {
    try db.integer("SELECT 1 FROM (\(restorableFiles(of: batch))) WHERE \(condition) LIMIT 1")
      != nil
  }

  /// A condition on a file: its root is one of the model's.
  fileprivate var isRootInModel: Query {
    let roots = JSON.array(model.files.keys.map { .string(Destination.fileCollection + $0) })
    return """
      collection IN (SELECT id FROM main.cascade_collection
        WHERE name IN (SELECT value FROM json_each(\(bind: .text(roots.text)))))
      """
  }

  /// Marks at most `most` files of a batch to be moved back after the commit. Returns how many
  /// there are.
  package func markFilesForRestore(_ batch: Int64, most: Int64) throws -> Int {
    let released: Query = """
      FROM main.cascade_released_file
      WHERE batch = \(bind: batch) AND \(isRootInModel) ORDER BY id LIMIT \(bind: most)
      """
    try db.run(
      """
      INSERT OR IGNORE INTO main.cascade_trash_file(batch, collection, path)
      SELECT batch, collection, path \(released)
      """)
    try db.run("DELETE FROM main.cascade_released_file WHERE id IN (SELECT id \(released))")
    return try db.markTrashedFiles(of: batch, .toRestore, most: most, where: isRootInModel)
  }
}
