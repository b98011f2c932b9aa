internal import CascadeSQLite
package import SQLiteTables
internal import SQLiteJournal

/// An operator's request to do nothing for a while. Kept in the store, so that it outlives the
/// daemon.
package struct OperatorPause: Hashable, Sendable {
  /// In milliseconds since 1970.
  package let at: Int64
  package let user: Int64

  package init(at: Int64, user: Int64) {
    self.at = at
    self.user = user
  }
}

extension Writer {
  package var operatorPause: OperatorPause? {
    get throws {
      guard let at = try db.meta(.paused) else { return nil }
      return OperatorPause(at: at, user: try db.meta(.pausedBy) ?? 0)
    }
  }

  package func set(_ pause: OperatorPause?) throws {
    try group {
      guard let pause else {
        try db.deleteMeta(.paused, .pausedBy)
        return
      }
      try db.setMeta(.paused, pause.at)
      try db.setMeta(.pausedBy, pause.user)
    }
  }
}
