internal import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges

/// Files that an edge once named, that none names now, and that no rule released. `sweep files`
/// releases them too.
extension Writer {
  func sweepFiles(_ result: inout SweepResult, _ manners: StepPolicy) throws {
    if model.files.isEmpty || isPartlyBound { return }
    let submission = nextSweep
    current = TransactionState()
    try rememberFilesInJournal(manners)
    try findUnusedIdentities(Writer.fileCollections)
    try forEachSlice(of: "SELECT id FROM temp.unused_identities", manners) { few in
      try beginFiles(submission)
      try releaseUnnamed(few)
    }
    result.add(stepReceipt(submission), current)
  }

  /// Begins the batch that all of the files belong to.
  private func beginFiles(_ submission: Submission) throws {
    if current.batch > 0 { return }
    current.batch = sweepRun.openSweepBatch ?? identities.counters.serial
    if sweepRun.openSweepBatch != nil { return }
    identities.counters.serial += 1
    try record(submission)
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

  private func rememberFilesInJournal(_ manners: StepPolicy) throws {
    for lost in try binding.filesInJournal(attachment.watches, db) {
      try forEachSlice(of: "SELECT DISTINCT o.seq AS id \(lost.rows)", manners) { few in
        try addFileIdentities(
          """
          SELECT DISTINCT \(lost.root.id) AS collection, \(lost.path) AS key
          \(lost.rows) AND o.seq > ?1 AND o.seq <= ?2
          """, few.bound, unlessNamed: true)
      }
    }
  }
}
