internal import CascadeEngine
internal import CascadeSQLite
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges

/// Leases, the trash and the ledger end when their time has really passed, also if the wall clock is
/// set.
///
/// If the wall clock jumps (`ClockReview`), the leases that were known by then jump with it. The trash and
/// the ledger keep their times, and the jump is recorded beside them (`MetaKey.clockJump`).
extension Writer {
  /// Notes what the clocks show. To be called before anything ends because of its time.
  package func noteTime(wall: Int64, elapsed: Int64) throws {
    if attachment.isDetached { return }
    // A backup that was restored into the file may have none of our tables.
    try adaptToSchema()
    switch try clock.review.compare(wall: wall, elapsed: elapsed, saved: { try db.meta(.lastTime) })
    {
    case .nothing: break
    case .isOld: try group { try db.setMeta(.lastTime, wall) }
    case .jump(let jump): try recordJump(jump, at: wall)
    }
    clock.lastLease = try db.integer("SELECT max(id) FROM cascade_lease") ?? 0
  }

  /// Saves the time for the next daemon.
  package func saveTime(wall: Int64) throws {
    if !attachment.isDetached { try group { try db.setMeta(.lastTime, wall) } }
  }

  /// Leases that the last daemon knew end by the wall clock.
  private func recordJump(_ jump: Int64, at wall: Int64) throws {
    try group {
      try db.setMeta(.lastTime, wall)
      let key = MetaKey.clockJump(before: identities.counters.serial)
      try db.setMeta(key, (db.meta(key) ?? 0) + jump)
      try db.run(
        "UPDATE cascade_lease SET expires = expires + ? WHERE id <= ?", .integer(jump / 1_000),
        .integer(clock.lastLease))
    }
  }
}
