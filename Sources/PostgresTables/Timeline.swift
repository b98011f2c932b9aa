internal import CascadePostgres

/// Whether the database is the one that was served last, or one that was restored from a backup.
///
/// A server that was promoted, or restored up to a point in time, begins a new timeline, and a dump is
/// loaded into another system. What was written after the backup is not there, so nothing tells what the
/// triggers would have seen: whole tables are looked through.
package struct Timeline {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  /// A named integer: the trash may have files of which this database knows nothing.
  package static let trashKey = "trash_unknown"

  package static func current(_ store: StoreConnection) throws -> Int64 {
    try store.db.run("SELECT \(Server.timeline)").integer ?? 0
  }

  /// Asks for a search of whole tables if the database is another one than the last time.
  func follow() throws {
    let now = try store.db.run(
      """
      SELECT \(Server.timeline), (SELECT system_identifier FROM pg_control_system())
      """
    ).rows[0]
    for (key, value) in zip(["timeline", "system"], now) {
      let value = Int64(value!)!
      let known = try store[meta: key]
      if known == value { continue }
      try store.set(key, value)
      if known == nil { continue }
      try store.set("watch_gap", 1)
      try store.set(Timeline.trashKey, 1)
    }
  }
}
