package import CascadeModel
internal import CascadeSQLite
internal import CascadePlanning
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges

extension Writer {
  /// Opens a store. Waits up to `busyMilliseconds` for another writer, and while it opens up to
  /// `openingMilliseconds`. Creates a missing database if `creates` is set.
  package convenience init(
    path: String, model: StoreModel, busyMilliseconds: Int32 = 5_000,
    openingMilliseconds: Int32? = nil, creates: Bool = true
  ) throws {
    let db = try Connection.openForWriting(
      path, busyMilliseconds: openingMilliseconds ?? busyMilliseconds, creates: creates)
    if let mode = model.secureDelete {
      try db.execute("PRAGMA main.secure_delete = \(mode.rawValue)")
    }
    let counters = try Counters(db, behind: model.lastBatchInTrash)
    self.init(db, path: path, model: model, counters: counters)
    try model.hasTables ? bindOnOpen() : dropObsoleteTriggers()
    self.db.setBusyTimeout(milliseconds: busyMilliseconds)
    try rebuildReferences()
  }
}
