internal import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
internal import CascadeStore
internal import CascadeEngine
package import SQLiteTables
internal import SQLiteJournal

extension Writer {
  // MARK: - Between the steps of a sweep

  /// Yields the lock to other connections after a step, and checkpoints the log if it is long.
  package func yieldLock() throws {
    try pauseForOthers()
    if !Connection.checkpointsAreSafe { try checkpointIfLong() }
    try keepLogWithinBounds(attempts: 20)
  }

  private func checkpointIfLong() throws {
    let frames = db.framesInLog
    if frames < log.framesNotCopied { log.framesNotCopied = 0 }
    if log.barrier?.isInLog == false { _ = try checkpointToNewBarrier() }
    if frames - log.framesNotCopied <= lock.pace.mostFrames { return }
    try checkpointLog()
    try pauseForOthers()
  }

  /// Leaves the lock free for a while. Meanwhile a background sync writes to the disk what a
  /// checkpoint, or an application's commit, would have to sync.
  private func pauseForOthers() throws {
    let start = ContinuousClock.now
    let before = OtherConnections.commits(at: path)
    // Starts after the previous sync. If it fails, the next checkpoint syncs.
    log.sync = nil
    log.sync = BackgroundWork { [file = "\(path)-wal"] in
      try? FileDescriptor.open(file).syncData()
    }
    if !OtherConnections.mayExist(at: path) { return try lock.policy.pause(.zero) }
    let breath = lock.pace.yieldDuration(behind: lock.durations.last ?? .zero)
    var left: Duration
    repeat {
      let hadTurn = OtherConnections.commits(at: path) != before
      left = (hadTurn ? breath.lowerBound : breath.upperBound) - (.now - start)
      try lock.policy.pause(min(.milliseconds(1), max(.zero, left)))
    } while left > .milliseconds(1)
  }

  /// Syncs the frames that were appended to the log while a snapshot was open. No checkpoint could
  /// copy them, and the next one would have to sync them.
  ///
  /// Others go on appending to the log meanwhile. A page on its way to the disk cannot be written
  /// to, and a busy disk delays a process that extends a file. So the log is written out in parts,
  /// and its end last.
  package func syncLogInParts() {
    if let file = try? FileDescriptor.open("\(path)-wal") {
      for start in stride(from: 0, to: Writer.mostSynced, by: Writer.partOfLog) {
        let end = start + Writer.partOfLog
        guard let size = try? file.status().size, size > end else { break }
        file.writeOut(start..<end)
      }
    }
    db.syncLog()
  }

  /// Sets the fence before the first step. A sweep that makes another plan keeps the fence it has.
  package func setFirstBarrier() throws {
    if Connection.checkpointsAreSafe || log.barrier != nil || db.isWithoutLog { return }
    log.barrier = try CheckpointBarrier(path, isInLog: false)
  }

  /// Checkpoints what a large sweep has left in the log.
  package func checkpointAfterSweep() throws {
    if Connection.checkpointsAreSafe || db.framesInLog <= Writer.fewFrames { return }
    try checkpointLog()
    dropCachedLogPages()
  }

  /// Drops the end of the log's file from the kernel's page cache. The next commit restarts the log
  /// and truncates its file to the limit. Where the kernel caches 400 MB of the file, the
  /// truncation takes a tenth of a second.
  private func dropCachedLogPages() {
    let limit = Connection.LogLimit.ordinary.rawValue
    try? FileDescriptor.open("\(path)-wal").forgetPages(behind: limit)
  }

  /// Checkpoints the log. Most of it, and what others write meanwhile, is copied without the lock.
  /// A checkpoint of the whole log ends with a sync of the database, which takes little time if
  /// most of the database is synced already.
  func checkpointLog() throws {
    log.sync = nil
    var done = 0
    for _ in 0..<Writer.mostPasses {
      guard let brought = try checkpointToNewBarrier() else { return }
      if brought.copiedFrames == done { break }
      db.syncDatabase()
      if brought.copiedFrames - done < Writer.fewFrames { break }
      done = brought.copiedFrames
    }
    try checkpointTail()
    log.framesNotCopied = db.framesInLog
  }

  /// Checkpoints up to a new fence, which stands after the old one. Nil where other connections are
  /// at work with the log.
  ///
  /// A checkpoint of another connection examines every read mark that a new fence could use, and
  /// may leave only that of the old fence. So the new fence is set while no checkpoint runs.
  private func checkpointToNewBarrier() throws -> Connection.CheckpointResult? {
    var hasMoved = false
    return try retryingCheckpoint {
      if !hasMoved, let next = try? CheckpointBarrier(path, isInLog: true) {
        log.barrier = next
        hasMoved = true
      }
      return hasMoved ? try db.passiveCheckpoint() : nil
    }
  }

  private func checkpointTail() throws {
    try lock.patience.begin(at: path, {}, undo: {})
    let tail = try retryingCheckpoint {
      try db.checkpoint(
        keptBy: lockHolder().db, at: path, behind: { log.barrier = nil },
        then: { log.barrier = try? CheckpointBarrier(path, isInLog: false) })
    }
    if let tail { lock.durations.append(tail.held) }
  }

  /// Tries again for a while if other connections checkpoint, and then gives up. Giving up at once
  /// would leave more to copy the next time.
  private func retryingCheckpoint<T>(_ body: () throws -> T?) throws -> T? {
    for _ in 0..<30 {
      if let result = try OtherConnections.withoutCheckpoints(at: path, body) { return result }
      try lock.policy.pause(.microseconds(200))
    }
    return nil
  }

  // MARK: - Outside of sweeps

  /// Bounds the length of the log where SQLite must not do so itself. `atLeisure`, when there is
  /// nothing else to do, already a short log is checkpointed.
  package func limitLogLength(atLeisure: Bool) throws {
    let most = atLeisure ? Writer.fewFrames : 4 * Writer.fewFrames
    if Connection.checkpointsAreSafe || db.framesInLog <= most { return }
    lock.patience.start { SystemClock.sleep(for: $0) }
    defer { lock.patience.stop() }
    try checkpointLog()
    dropCachedLogPages()
    removeBarrier()
  }

  /// Copies the whole log into the database file, for a program that copies only that file.
  package func copyLogIntoDatabase() throws {
    if db.isWithoutLog { return }
    let came = try db.checkpoint(keptBy: lockHolder().db, at: path)
    if came?.brought.isWhole == true { db.truncateLog() }
  }

  /// Opened on first use, and kept as long as there is work.
  private func lockHolder() throws -> WriteLockHolder {
    let keeper = try log.lockHolder ?? WriteLockHolder(path)
    log.lockHolder = keeper
    return keeper
  }

  /// 4 MB of 4 KB pages, as for SQLite's own automatic checkpoint.
  private static let fewFrames = 1_000
  /// The log is written out 4 MB at a time, up to 4 GB: others may write faster than the disk.
  private static let partOfLog = 4 << 20
  private static let mostSynced = 4 << 30
  private static let mostPasses = 4
}

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
      if Connection.checkpointsAreSafe {
        _ = try db.passiveCheckpoint()
      } else {
        try checkpointLog()
      }
      if logUse.allowance(at: path).isDiskFull { try releaseLogFile() }
      if noteRoom() { return }
    }
    throw LogIsFull(description: reasonForNoRoom)
  }

  /// Returns whether there is room for the next step, and tells the pace how much.
  private func noteRoom() -> Bool {
    let allowance = logUse.allowance(at: path)
    if allowance.isDiskFull { return false }
    let log = OtherConnections.log(at: path)
    let added = log.map {
      let beginsAnew = $0.copiedFrames == $0.frames && longestReader == nil
      return beginsAnew ? 0 : logUse.added(in: $0)
    }
    lock.pace.roomInLog = allowance.bytes - (added ?? 0)
    return lock.pace.roomInLog >= min(logUse.largest, allowance.bytes)
  }

  private var longestReader: OtherConnections.ReadLock? {
    OtherConnections.transactions(at: path).filter(\.keepsLog).min { $0.mark < $1.mark }
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
