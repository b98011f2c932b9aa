package import CascadeStore
package import SQLiteTables
internal import SQLiteJournal

extension Writer {
  package var operatorPause: OperatorPause? {
    get throws {
      guard let at = try db.meta(.paused) else { return nil }
      return OperatorPause(
        at: at, user: try db.meta(.pausedBy) ?? 0, isForMigration: try db.isMigrating)
    }
  }

  package func set(_ pause: OperatorPause?) throws {
    try group {
      guard let pause else { return try db.deleteMeta(.paused, .pausedBy, .migrating) }
      try db.setMeta(.paused, pause.at)
      try db.setMeta(.pausedBy, pause.user)
      if pause.isForMigration { try beginMigration() }
    }
  }
}
