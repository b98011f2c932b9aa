internal import CascadeModel
package import CascadeSQLite
internal import CascadeSystem
internal import CascadeStore
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges

/// Files that an edge once named, that none names now, and that no rule released. `sweep files`
/// releases them too.
extension Writer {
  func sweepFiles() throws {
    if model.files.isEmpty || isPartlyBound { return }
    current = TransactionState()
    try rememberFilesInJournal()
    try findUnusedIdentities(Writer.fileCollections)
    try forEachSlice(of: "SELECT id FROM temp.unused_identities") { few in
      try beginFiles()
      try releaseUnnamed(few)
    }
    sweepRun.result.add(current)
  }

  /// Begins the batch that all of the files belong to.
  private func beginFiles() throws {
    if current.batch > 0 { return }
    current.batch = sweepRun.openBatch ?? identities.counters.serial
    if sweepRun.openBatch != nil { return }
    identities.counters.serial += 1
    try record(sweepSubmission)
  }

  private func releaseUnnamed(_ few: Slice) throws {
    try db.run(
      """
      INSERT INTO cascade_released_file(batch, collection, path, at)
      SELECT ?3, n.collection, n.key, ?4
      FROM temp.unused_identities AS u CROSS JOIN cascade_node AS n ON n.id = u.id
      WHERE u.id > ?1 AND u.id <= ?2
      AND NOT EXISTS (SELECT 1 FROM cascade_edge WHERE destination = n.id)
      AND (n.collection, n.key) NOT IN (
        SELECT collection, path FROM cascade_released_file WHERE batch = ?3)
      """, few.bound[0], few.bound[1], .integer(current.batch), .integer(SystemClock.ofFiles()))
    current.counts.filesReleased += db.changes
    try deleteFoundUnusedIdentities(few)
  }

  private func rememberFilesInJournal() throws {
    for lost in try binding.filesInJournal(attachment.watches, db) {
      try forEachSlice(of: "SELECT DISTINCT o.seq AS id \(lost.rows)") { few in
        try addFileIdentities(
          """
          SELECT DISTINCT \(lost.root.id) AS collection, \(lost.path) AS key
          \(lost.rows) AND o.seq > ?1 AND o.seq <= ?2
          """, few.bound, unlessNamed: true)
      }
    }
  }
}

/// Files that lost an edge through changes of other connections that a sweep of edges has not read
/// yet.
package struct FilesInJournal {
  package let root: NodeTable
  /// The paths, to follow SELECT.
  package let path: String
  /// The rest of the query, with rows `o` of the journal.
  package let rows: String
}

extension Binding {
  package func filesInJournal(
    _ watches: [Watch], _ db: borrowing Connection
  ) throws -> [FilesInJournal] {
    var found: [FilesInJournal] = []
    for relation in edgeRelations where relation.leadsToFiles {
      for watch in watches {
        found += try journaledEdge(relation, in: watch, db).map { old in
          FilesInJournal(
            root: relation.destination, path: old.reference,
            rows: """
              FROM main.cascade_journal AS o \(old.elementsJoin)
              WHERE o.what = \(watch.number) AND \(old.isEdge)
              """)
        }
      }
    }
    return found
  }
}
