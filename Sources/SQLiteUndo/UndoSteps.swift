internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges
internal import SQLiteDeletion
internal import SQLiteSweeps

/// A large undo, beside other writers: each portion is a transaction of its own.
///
/// After every step, what came back is no longer in the trash, and what is in the trash did not
/// come back. So an undo that was stopped continues with what is left.
extension Writer {
  /// Continues an undo that a crash or the end of the daemon interrupted. One that would fail at
  /// each attempt is not tried again by itself.
  package func resumeUndo(at now: Int64, manners: StepPolicy) throws -> UndoResult? {
    guard !attachment.isDetached, let batch = try db.meta(.undoBatch) else { return nil }
    let author = try db.first(
      "SELECT undone_by FROM cascade_ledger WHERE seq = ?", .integer(batch)
    ) { $0.text(0) }
    do {
      return try undo(batch, by: author ?? "", at: now, manners: manners)
    } catch let error where error.isPermanentFailure {
      try group { try db.deleteMeta(.undoBatch, ifEqual: batch) }
      throw UndoFailed(batch: batch, reason: "\(error)")
    }
  }

  package var unfinishedUndo: Int64? {
    get throws { attachment.isDetached ? nil : try db.meta(.undoBatch) }
  }

  /// Whether a sweep or an undo is unfinished.
  package var isUnfinished: Bool {
    get throws { try unfinishedSweep != nil || unfinishedUndo != nil }
  }
}

extension Undo {
  /// Whether it is large enough that a single transaction would be noticed.
  var needsSteps: Bool { writer.model.limits.lock != nil && trashedCount > writer.lock.fewNodes }

  /// How much of the batch is in the trash.
  private var trashedCount: Int64 { layouts.reduce(0) { $0 + Int64($1.remaining) } }

  mutating func runInSteps() throws {
    defer { writer.removeBarrier() }
    progress.total = Int(trashedCount)
    try writer.withStepSettings {
      try step(of: 1) { try $0.begin() }
      try restore()
    }
    try writer.checkpointAfterSweep()
    try writer.group { try end() }
  }

  private func begin() throws {
    try writer.db.setMeta(.undoBatch, batch)
    try writer.db.run(
      "UPDATE cascade_ledger SET undone_by = ? WHERE seq = ? AND undone_at IS NULL", .text(author),
      .integer(batch))
  }

  /// -1, which is all, where the undo is one transaction.
  var mostAtOnce: Int64 { isStepped ? writer.lock.pace.rows : -1 }

  /// Handles `count` things in one transaction. The size of the next portion follows from the time
  /// that this one took.
  mutating func step(of count: Int, _ body: (inout Undo) throws -> Void) throws {
    if !isStepped { return try body(&self) }
    var worked = Duration.zero
    try writer.group {
      let start = ContinuousClock.now
      writer.lock.pace.noteForeignCommits(foreignCommits: try writer.foreignCommits())
      try body(&self)
      worked = .now - start
    }
    // Some things are handled a second time, for their edges.
    progress.done = min(progress.done + count, progress.total)
    writer.lock.policy.reportProgress(progress)
    if count > 1 {
      writer.lock.pace.note(
        rows: Int64(count), worked: worked, held: writer.lock.durations.last ?? .zero)
    }
    try writer.yieldLock()
  }

  // MARK: - What is in the trash, in portions

  mutating func forEachPortion(
    of kept: NumberedLayout, removing: Bool = true,
    _ body: (inout Undo, Slice, _ count: Int) throws -> Void
  ) throws {
    let ids: Query = """
      SELECT id FROM main.cascade_trash
      WHERE batch = \(bind: batch) AND layout = \(bind: kept.number) AND part = 0
      """
    try forEachPortion(ids) { undo, slice, count in
      try body(&undo, slice, count)
      if removing { try undo.removeRestored(slice, of: kept) }
    }
  }

  mutating func forEachPortion(
    _ ids: Query, _ body: (inout Undo, Slice, _ count: Int) throws -> Void
  ) throws {
    writer.lock.pace.lowerRate()
    var low = Int64.min
    while true {
      let few = try writer.db.all(
        """
        SELECT max(id), count(*) FROM (
          SELECT id FROM (\(ids)) WHERE id > \(bind: low) ORDER BY id LIMIT \(bind: mostAtOnce))
        """
      ) { (high: $0.integer(0), count: Int($0.integer(1))) }[0]
      if few.count == 0 { return }
      try step(of: few.count) { try body(&$0, Slice(low: low, high: few.high), few.count) }
      low = few.high
    }
  }

  /// Removes what came back from the trash. Nodes are remembered until their edges are restored.
  func removeRestored(_ slice: Slice, of kept: NumberedLayout) throws {
    let bound = kept.bound(slice)
    if [.row, .object].contains(kept.layout.kind) {
      try writer.db.run(
        generated: """
          INSERT INTO temp.restored
          SELECT t.id, t.layout, \(TrashLayout.key(keys: "\(kept.layout.keys)"))
          FROM main.cascade_trash AS t
          WHERE \(TrashLayout.isInSlice) AND t.id NOT IN (SELECT id FROM temp.left_alone)
          """, bound)
    }
    if kept.layout.kind == .row { try forgetEnds(slice, of: kept) }
    try writer.db.run(
      generated: """
        DELETE FROM main.cascade_trash WHERE batch = ?1 AND layout = ?2 AND id > ?3 AND id <= ?4
        AND id NOT IN (SELECT id FROM temp.left_alone)
        """, bound)
  }

  /// A row that came back is the very row again, whatever became of others of its key meanwhile.
  private func forgetEnds(_ slice: Slice, of kept: NumberedLayout) throws {
    if try writer.db.integer("SELECT 1 FROM main.cascade_ended LIMIT 1") == nil { return }
    try writer.db.run(
      generated: """
        DELETE FROM main.cascade_ended
        WHERE collection = ?5 AND batch >= \(origin) AND key IN (
          SELECT \(TrashLayout.key(keys: "\(kept.layout.keys)")) FROM main.cascade_trash AS t
          WHERE \(TrashLayout.isInSlice) AND \(Undo.isNotLeft))
        """, kept.bound(slice) + [.integer(kept.layout.collection)])
  }

  /// Removes trash that only has the names of nodes. What was trashed, and how much of it, stays
  /// known for the list of batches; and so do the names of what the application deleted itself, for
  /// `why`. The names of files go: files come back too.
  mutating func emptyTrash() throws {
    let trash: Query = """
      main.cascade_trash WHERE batch = \(bind: batch) AND layout NOT IN (
        SELECT layout FROM main.cascade_trash_layout WHERE batch = \(bind: batch)
        AND kind = 'name' AND collection NOT IN (\(Writer.fileCollections)))
      """
    for rows in [trash, "main.cascade_trash_node WHERE batch = \(bind: batch)"] {
      try forEachPortion("SELECT DISTINCT id FROM \(rows)") { undo, slice, _ in
        try undo.writer.db.run("DELETE FROM \(rows) AND \(slice.contains("id"))")
      }
    }
  }
}
