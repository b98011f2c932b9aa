package import CascadeSQLite
internal import CascadeSystem
package import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteEdges

/// Releases files. A file is not a node: its release is recorded here, and it is removed after the
/// commit.
extension Writer {
  /// Records the files to be removed. The record commits with the rows that released them.
  func releaseFiles(_ slice: Slice = .all) throws {
    try addFileIdentities(of: slice)
    // A further plan finds files again that lost their edges in an earlier one.
    let known = """
      AND (c.id, coalesce(n.key, k.key)) NOT IN (
        SELECT collection, path FROM cascade_released_file WHERE batch = ?1)
      """
    try db.run(
      generated: """
        INSERT INTO cascade_released_file(batch, collection, path, at)
        SELECT ?1, c.id, coalesce(n.key, k.key), ?4
        FROM temp.gone AS g LEFT JOIN cascade_node AS n ON n.id = g.id
        LEFT JOIN temp.known AS k ON k.id = g.id
        CROSS JOIN cascade_collection AS c ON c.id = coalesce(n.collection, k.collection)
        WHERE g.seq > ?2 AND g.seq <= ?3 AND c.name GLOB 'cascade_file/*'
        \(current.sweep.isResumed ? known : "")
        """, [.integer(current.batch)] + slice.bound + [.integer(SystemClock.ofFiles())])
    current.counts.filesReleased += db.changes
  }
}

extension Connection {
  package func releasedFiles(
    after id: Int64, at now: Int64, limit: Int
  ) throws(SQLiteError) -> [ReleasedFile] {
    try all(
      """
      SELECT r.id, r.batch, coalesce(r.at, l.at, ?2), r.collection, substr(c.name, 14), r.path
      FROM cascade_released_file AS r JOIN cascade_collection AS c ON c.id = r.collection
      LEFT JOIN cascade_ledger AS l ON l.seq = r.batch
      WHERE r.id > ?1 ORDER BY r.id LIMIT ?3
      """, .integer(id), .integer(now), .integer(Int64(limit))
    ) {
      ReleasedFile(
        id: $0.integer(0), batch: $0.integer(1), at: $0.integer(2), collection: $0.integer(3),
        root: $0.text(4), path: $0.text(5), isPathValid: $0.isWhole(5))
    }
  }

  package func deleteReleased(_ file: ReleasedFile) throws(SQLiteError) {
    try run("DELETE FROM cascade_released_file WHERE id = ?", .integer(file.id))
  }
}
