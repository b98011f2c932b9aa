internal import CascadeSQLite
internal import SQLiteJournal
package import SQLiteTables

extension Writer {
  /// Noted behind what was held, as plans come from many places. A plan of a file has its age from the spool.
  package func noteHeldPlans(at now: Int64) throws -> Int64? {
    if attachment.isDetached { return nil }
    let isWaiting = "NOT approved AND ended IS NULL AND substr(file, 1, 1) = '/'"
    let isNew = "\(isWaiting) AND at IS NULL"
    if try db.integer(generated: "SELECT 1 FROM cascade_plan WHERE \(isNew) LIMIT 1") != nil {
      try group {
        try db.run(
          generated: "UPDATE cascade_plan SET at = ? WHERE \(isNew)", [.integer(now)])
      }
    }
    return try db.integer(generated: "SELECT min(at) FROM cascade_plan WHERE \(isWaiting)")
  }
}
