internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteEdges
internal import SQLiteDeletion

/// A file that several rows shared was trashed with the last of them. An undo that brings back
/// another of these rows finds the file in the trash of that batch.
extension Undo {
  func markSharedFilesForRestore() throws {
    if writer.model.files.isEmpty { return }
    let others = """
      FROM (SELECT DISTINCT batch FROM cascade_trash_file WHERE batch <> ?1) AS b
      """
    for relation in writer.binding.edgeRelations where relation.leadsToFiles {
      let kept = layouts.filter {
        $0.layout.kind == .row && $0.collection == relation.source.collection
      }
      for layout in kept {
        try markForRestore(
          """
          SELECT b.batch, \(relation.destination.id), \(relation.destinationKey) \(others)
          CROSS JOIN temp.restored AS r
          CROSS JOIN \(relation.source.rows) AS s ON \(relation.source.hasKey("s", "r.key"))
          \(relation.references) WHERE r.layout = \(layout.number) AND \(relation.isEdge)
          """)
      }
    }
    try markForRestore(
      """
      SELECT b.batch, f.collection, f.key \(others) CROSS JOIN temp.restored AS r
      CROSS JOIN cascade_edge AS e ON e.source = r.id
      CROSS JOIN cascade_node AS f ON f.id = e.destination
      WHERE f.collection IN (\(Writer.fileCollections))
      """)
  }

  /// Marks files to be moved back after the commit.
  private func markForRestore(_ files: String) throws {
    try writer.db.run(
      generated: """
        UPDATE cascade_trash_file SET fate = \(FileFate.toRestore.rawValue)
        WHERE fate = \(FileFate.trashed.rawValue) AND (batch, collection, path) IN (\(files))
        """, [.integer(batch)])
  }
}

extension Writer {
  /// Whether any files of a batch can still be restored.
  func hasRestorableFiles(of batch: Int64) throws -> Bool {
    try db.integer(
      """
      SELECT 1 WHERE EXISTS (SELECT 1 FROM cascade_trash_file WHERE batch = ?1 AND fate = ?2)
        OR EXISTS (SELECT 1 FROM cascade_released_file WHERE batch = ?1)
      """, .integer(batch), .integer(FileFate.trashed.rawValue)) != nil
  }

  /// Marks at most `most` files of a batch to be moved back after the commit. Returns how many
  /// there are.
  package func markFilesForRestore(_ batch: Int64, most: Int64) throws -> Int {
    try db.run(
      """
      INSERT OR IGNORE INTO cascade_trash_file(batch, collection, path)
      SELECT batch, collection, path FROM cascade_released_file WHERE batch = ? LIMIT ?
      """, .integer(batch), .integer(most))
    try db.run(
      """
      DELETE FROM cascade_released_file WHERE id IN (
        SELECT id FROM cascade_released_file WHERE batch = ? LIMIT ?)
      """, .integer(batch), .integer(most))
    return try db.markTrashedFiles(of: batch, .toRestore, most: most)
  }
}
