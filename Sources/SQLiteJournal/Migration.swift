internal import CascadeModel
package import CascadeSQLite
internal import SQLiteBinding
package import SQLiteTables

/// A migration: the application may rebuild any of its tables. SQLite refuses to drop a table that a
/// trigger on another table names, and only triggers that deny do that. So these are dropped, and no
/// trigger is created before the end. A table that lost its other triggers meanwhile is then scanned
/// as a whole (`MetaKey.watchGap`).
extension Writer {
  /// Runs within a transaction.
  package func beginMigration() throws {
    try db.setMeta(.migrating, 1)
    for trigger in try db.ourTriggers() where trigger.name.hasPrefix(Trigger.denial) {
      try db.execute("DROP TRIGGER main.\(quoted(trigger.name))")
    }
  }
}

extension Connection {
  package var isMigrating: Bool {
    get throws(SQLiteError) { try meta(.migrating) != nil }
  }
}
