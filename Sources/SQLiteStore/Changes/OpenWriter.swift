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
    openingMilliseconds: Int32? = nil, creates: Bool = true, attaches: Bool = true,
    keepsJournalMode: Bool? = nil
  ) throws {
    var opening = Connection.Opening()
    opening.busyMilliseconds = openingMilliseconds ?? busyMilliseconds
    (opening.creates, opening.attaches) = (creates, attaches)
    opening.keepsJournalMode = keepsJournalMode ?? model.exclusive
    let db = try Connection.openForWriting(path, opening)
    if let mode = model.secureDelete {
      try db.execute("PRAGMA main.secure_delete = \(mode.rawValue)")
    }
    let counters = try attaches ? Counters(db, behind: model.lastBatchInTrash) : Counters()
    self.init(db, path: path, model: model, counters: counters)
    attachment.isDetached = !attaches
    self.db.setBusyTimeout(milliseconds: busyMilliseconds)
    if attaches { try readStore() }
  }

  private func readStore() throws {
    try model.hasTables ? bindOnOpen() : dropObsoleteTriggers()
    try rebuildReferences()
  }
}
