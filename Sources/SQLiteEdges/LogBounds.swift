internal import CascadeSQLite
internal import CascadeStore
internal import CascadePlanning
package import SQLiteTables
internal import SQLiteJournal

/// Keeps what sweeps add to the write-ahead log within its bounds.
///
/// 1. Before a step would add too much, the log is checkpointed. The next commit then begins it anew.
/// 2. That cannot be while another connection reads from the log. A sweep that has no room left is
///    cut short, and tried again by the daemon. Meanwhile nothing of the sweep keeps the log.
/// 3. The same holds where the disk is nearly full. The file of the log is then truncated too.
extension Writer {
  /// Throws `LogIsFull` if there is still no room after so many attempts.
  package func keepLogWithinBounds(attempts: Int) throws {
    if !logUse.isSweeping || noteRoom() { return }
    for attempt in 1...attempts {
      if attempt > 1 { try lock.policy.pause(.milliseconds(100)) }
      try checkpointForRoom()
      if noteRoom() { return }
    }
    throw LogIsFull(reason: reasonForNoRoom)
  }

  /// Returns whether there is room for the next step, and tells the pace how much.
  private func noteRoom() -> Bool {
    let allowance = logUse.allowance(at: path)
    if allowance.isDiskFull { return false }
    let log = OtherConnections.log(at: path)
    let added = log.map { beginsAnew($0) ? 0 : logUse.added(in: $0) } ?? 0
    lock.pace.roomInLog = allowance.bytes - added
    return lock.pace.roomInLog >= min(logUse.largest, allowance.bytes)
  }

  /// Whether the next commit writes to the beginning of the log.
  private func beginsAnew(_ log: OtherConnections.LogState) -> Bool {
    log.copiedFrames == log.frames && longestReader == nil
  }

  private var longestReader: OtherConnections.ReadLock? {
    OtherConnections.transactions(at: path).filter(\.keepsLog).min { $0.mark < $1.mark }
  }

  private func checkpointForRoom() throws {
    if Connection.checkpointsAreSafe {
      _ = try db.passiveCheckpoint()
    } else {
      try checkpointLog()
    }
    if logUse.allowance(at: path).isDiskFull { try releaseLogFile() }
  }

  /// Gives the space of the log's file back to the disk, if all of it is in the database.
  package func releaseLogFile() throws {
    removeBarrier()
    try copyLogIntoDatabase()
  }

  private var reasonForNoRoom: String {
    let allowance = logUse.allowance(at: path)
    if let reader = longestReader {
      return "the write-ahead log (\(megabytes(allowance.log))) must not become longer, and cannot "
        + "begin anew while process \(reader.process) reads: the sweep goes on when it ends its "
        + "transaction"
    }
    let free = allowance.free.map(megabytes) ?? "little"
    return "the disk has \(free) left: the sweep goes on when there is more space"
  }

  private func megabytes(_ bytes: Int64) -> String { "\(bytes >> 20) MB" }
}
