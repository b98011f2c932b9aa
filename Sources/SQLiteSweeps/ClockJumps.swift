internal import CascadeSQLite
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges

/// Leases, the trash and the ledger end when their time has really passed, also if the wall clock is
/// set.
///
/// 1. While the daemon runs, the wall clock is compared with one that is never set. If the wall clock
///    jumps, the leases that were known by then jump with it. The trash and the ledger keep their
///    times, and the jump is recorded beside them (`MetaKey.clockJump`).
/// 2. For the time that the daemon was away, there is only the wall clock. A lease ends by it. Of that
///    time, at most a day counts for the trash and the ledger.
extension Writer {
  private static let day: Int64 = 86_400_000
  private static let hour: Int64 = 3_600_000
  /// A clock that is adjusted slowly does not jump.
  private static let leastJump: Int64 = 2_000

  /// Notes what the clocks show. To be called before anything ends because of its time.
  package func noteTime(wall: Int64, elapsed: Int64) throws {
    if attachment.isDetached { return }
    // A backup that was restored into the file may have none of our tables.
    try adaptToSchema()
    let saved = try db.meta(.lastTime)
    if let last = clock.lastComparison {
      let jump = (wall - last.wall) - (elapsed - last.elapsed)
      if abs(jump) >= Writer.leastJump {
        try recordJump(jump, at: wall, leasesUpTo: last.lease)
      } else if saved.map({ abs(wall - $0) > Writer.hour }) ?? true {
        try group { try db.setMeta(.lastTime, wall) }
      }
    } else {
      let away = wall - (saved ?? wall)
      let jump = away - min(max(0, away), Writer.day)
      if jump != 0 || saved == nil { try recordJump(jump, at: wall, leasesUpTo: .min) }
    }
    let lease = try db.integer("SELECT max(id) FROM cascade_lease") ?? 0
    clock.lastComparison = (wall: wall, elapsed: elapsed, lease: lease)
  }

  /// Saves the time for the next daemon.
  package func saveTime(wall: Int64) throws {
    if !attachment.isDetached { try group { try db.setMeta(.lastTime, wall) } }
  }

  private func recordJump(_ jump: Int64, at wall: Int64, leasesUpTo lease: Int64) throws {
    try group {
      try db.setMeta(.lastTime, wall)
      if jump == 0 { return }
      let key = MetaKey.clockJump(before: identities.counters.serial)
      try db.setMeta(key, (db.meta(key) ?? 0) + jump)
      try db.run(
        "UPDATE cascade_lease SET expires = expires + ? WHERE id <= ?", .integer(jump / 1_000),
        .integer(lease))
    }
  }
}
