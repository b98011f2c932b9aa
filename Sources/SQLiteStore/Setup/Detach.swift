internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteEdges
internal import SQLiteTables

/// Detaching a database that no daemon serves.
extension SQLiteEngine {
  package func detach(_ path: String) throws -> DetachReport {
    let isAlone = ExclusiveTurn.user(of: path) == nil
    do {
      let writer = try Writer(
        path: path, model: .empty, creates: false, attaches: false, keepsJournalMode: true)
      try writer.refuseUnfinishedUndo()
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

extension Writer {
  /// The rows that are still to come back are only in the trash.
  fileprivate func refuseUnfinishedUndo() throws {
    if let batch = try? db.meta(.undoBatch) {
      throw StoreAway(
        "\(path): batch \(batch) is undone in part only; serve the store until the rest is back")
    }
  }
}
