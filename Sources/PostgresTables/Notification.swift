package import CascadePostgres

/// Whether triggers notify a daemon that sleeps, or it looks by itself.
///
/// A transaction that has notified cannot be prepared, and a trigger cannot know whether its own will be. So
/// where transactions can be prepared no trigger notifies, unless the URI says that none is (`notify=on`).
package enum Notification {
  package static func isUsed(_ db: borrowing Session, _ location: Location) throws -> Bool {
    if location.dialect == .portable { return false }
    return try location.notifies || db.run("SELECT \(noneIsPrepared)").bool
  }

  private static let noneIsPrepared = "current_setting('max_prepared_transactions') = '0'"

  /// What a trigger does for a daemon that sleeps. A daemon that was killed may have left its row, and the
  /// server may have been started with other settings since.
  static func wake(_ location: Location) -> String {
    if location.dialect == .portable { return "" }
    let mayNotify = location.notifies ? "" : " AND \(noneIsPrepared)"
    return "IF EXISTS (SELECT FROM cascade.asleep)\(mayNotify) THEN "
      + "PERFORM pg_notify('cascade', ''); END IF;"
  }
}
