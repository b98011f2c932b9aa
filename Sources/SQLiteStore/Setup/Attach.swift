internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges

extension MissingIndex {
  var name: String { "cascade_index_\(description)" }
  var quotedColumns: String { columns.map(quoted).joined(separator: ", ") }
}

extension Writer {
  /// Creates the missing tables and triggers in one transaction. It can be run again.
  package func attach(createIndexes: Bool) throws -> AttachReport {
    try db.begin()
    do {
      let report = try attachWithin(createIndexes: createIndexes)
      try identities.counters.save(db)
      try db.commit()
      attachment.isDetached = false
      try rebuildReferences()
      return report
    } catch {
      db.rollback()
      clearCachedState()
      throw error
    }
  }

  private func attachWithin(createIndexes: Bool) throws -> AttachReport {
    try db.makeTables()
    if attachment.isDetached {
      identities.clearCaches()
      identities.counters = try Counters(db, behind: model.lastBatchInTrash)
    }
    guard model.hasTables else { return AttachReport() }
    let changes = try rebind()
    var report = AttachReport()
    if createIndexes { report.indexesMade = try makeIndexes() }
    report.collections = binding.collections.keys.sorted()
    report.triggersMade = changes.made.map(\.name)
    report.missingIndexes = binding.missingIndexes
    report.problems = binding.problems
    report.hasWatchGap = try db.meta(.watchGap) == 1
    report.hasFirstWatch = try db.meta(.firstWatch) == 1
    return report
  }

  /// Removes everything of Cascade's from the file. After that, the writer can only attach again.
  @discardableResult
  package func detach() throws -> DetachReport {
    if !attachment.isDetached, let batch = try? db.meta(.undoBatch) {
      throw StoreError("batch \(batch) is undone in part only; resume the store first")
    }
    if !attachment.isDetached { try giveUpRoots() }
    try db.begin()
    defer { db.rollback() }
    let removed = try db.dropCascadeObjects()
    try db.commit()
    clearCachedState()
    attachment.isDetached = true
    return removed
  }

  /// Clears what was read from the file and may no longer be in it.
  private func clearCachedState() {
    identities.clearCaches()
    identities.counters.forgetSaved()
    unbind()
  }
}

extension Connection {
  /// Drops triggers first: they name Cascade's tables. Dropping a table drops its indexes too. An
  /// object of the application's with a similar name stays.
  fileprivate func dropCascadeObjects() throws -> DetachReport {
    let names = try (
      views: ownParts("view"), triggers: ownParts("trigger"), tables: ownParts("table"),
      indexes: ownParts("index")
    )
    // The tables may have been dropped already.
    let files = try? integer(
      """
      SELECT (SELECT count(*) FROM cascade_released_file)
        + (SELECT count(*) FROM cascade_trash_file WHERE fate = ?)
      """, .integer(FileFate.toRestore.rawValue))
    try drop("view", names.views)
    try drop("trigger", names.triggers)
    try drop("table", names.tables)
    try drop("index", names.indexes)
    return DetachReport(
      triggers: names.triggers, tables: names.tables, indexes: names.indexes, files: files ?? 0)
  }

  private func drop(_ type: String, _ names: [String]) throws {
    for name in names { try execute("DROP \(type) main.\(quoted(name))") }
  }
}

/// Detaching a database that no daemon serves.
extension SQLiteEngine {
  package func detach(_ path: String) throws -> DetachReport {
    let isAlone = ExclusiveTurn.user(of: path) == nil
    do {
      let writer = try Writer(
        path: path, model: .empty, creates: false, attaches: false, keepsJournalMode: true)
      // The rows that are still to come back are only in the trash.
      if let batch = try? writer.db.meta(.undoBatch) {
        throw StoreAway(
          "\(path): batch \(batch) is undone in part only; serve the store until the rest is back")
      }
      let report = try writer.detach()
      // A copy of the file alone is complete then.
      if isAlone { writer.db.removeLogOnClose() } else { try? writer.copyLogIntoDatabase() }
      return report
    } catch let error as SQLiteError where error.isBusy {
      throw StoreAway("\(path) is locked by another program: try again later")
    } catch let error as SQLiteError where error.isNoDatabase {
      throw StoreError("\(path) is not a SQLite database")
    }
  }
}
