internal import CascadeCSQLite

/// The write-ahead log: its length, and checkpoints.
extension Connection {
  /// Closing the last connection would checkpoint. With this setting it leaves the log as it is.
  package func keepLogOnClose() {
    _ = unsafe cascade_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
  }

  /// Closing the last connection checkpoints, and removes the log. Only for a database that no other
  /// process has open.
  package func removeLogOnClose() {
    _ = unsafe cascade_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
  }

  /// Frames that the log held after this connection's last commit.
  package var framesInLog: Int { log.frames }

  /// Counts the log's frames in the hook that SQLite's automatic checkpoint uses otherwise.
  package func countFramesInLog() {
    unsafe sqlite3_wal_hook(
      handle,
      { context, _, _, frames in
        unsafe Unmanaged<LogFrameCount>.fromOpaque(context!).takeUnretainedValue().frames = Int(
          frames)
        return SQLITE_OK
      }, Unmanaged.passUnretained(log).toOpaque())
  }

  /// The result of a checkpoint: the frames of the log, and how many of them are in the database
  /// now.
  package struct CheckpointResult: Hashable {
    package let frames: Int
    package let copiedFrames: Int

    package var isWhole: Bool { frames >= 0 && frames == copiedFrames }
  }

  /// Checkpoints the log while `keeper`, another connection to the database, holds the write lock.
  /// The next writer restarts the log. Frames that are newer than what the oldest reader sees stay
  /// in it. Nil if another connection writes for longer than the keeper waits, or checkpoints.
  ///
  /// SQLite has checkpoint modes that take the write lock, but they continue without it if they do
  /// not get it.
  ///
  /// While no other connection can write, `letGo` runs before the checkpoint and `settle` after it.
  /// Also returns for how long that was.
  @discardableResult
  package func checkpoint(
    keptBy keeper: borrowing Connection, at path: String,
    behind letGo: () -> Void = {}, then settle: () -> Void = {}
  ) throws(SQLiteError) -> (brought: CheckpointResult, held: Duration)? {
    do {
      try keeper.begin(besideOthersAt: path)
    } catch {
      if error.isBusy { return nil }
      throw error
    }
    defer { keeper.rollback() }
    let start = ContinuousClock.now
    letGo()
    guard let brought = try passiveCheckpoint() else { return nil }
    if brought.isWhole { log.frames = 0 }
    settle()
    return (brought, .now - start)
  }

  /// A checkpoint while others may write. The caller must know that the log has a reader, so that
  /// no commit restarts it. Nil if another checkpoint is running.
  package func passiveCheckpoint() throws(SQLiteError) -> CheckpointResult? {
    var (frames, done): (Int32, Int32) = (0, 0)
    let result = unsafe sqlite3_wal_checkpoint_v2(
      handle, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &done)
    if result & 0xff == SQLITE_BUSY { return nil }
    if result != SQLITE_OK { throw unsafe SQLiteError(result, handle, doing: "checkpoint") }
    // Negative if this connection has not read the log yet.
    return CheckpointResult(frames: Int(frames), copiedFrames: Int(done))
  }

  /// Truncates the log's file if all of the log is in the database.
  package func truncateLog() {
    unsafe sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
  }

  /// Syncs the log to the disk. Every checkpoint begins with that; done before, without a lock, it
  /// delays no other connection.
  package func syncLog() { _ = unsafe file(SQLITE_FCNTL_JOURNAL_POINTER)?.sync() }

  /// Syncs what was committed without a sync.
  package func syncCommits() throws(SQLiteError) {
    let result = unsafe file(SQLITE_FCNTL_JOURNAL_POINTER)?.sync() ?? SQLITE_OK
    if result != SQLITE_OK { throw unsafe SQLiteError(result, handle, doing: "sync the log") }
  }

  /// Syncs the database, with which a checkpoint of the whole log ends.
  package func syncDatabase() { databaseSync() }

  /// The same as a function for another thread. It may be called as long as this connection exists,
  /// and uses only its file.
  package var databaseSync: @Sendable () -> Void {
    nonisolated(unsafe) let database = unsafe file(SQLITE_FCNTL_FILE_POINTER)
    return { _ = unsafe database?.sync() }
  }

  /// Whether the header of the file says that it has no log. So may a copy that was written over
  /// the database.
  package var isWithoutLog: Bool {
    guard let database = unsafe file(SQLITE_FCNTL_FILE_POINTER),
      let methods = unsafe database.pointee.pMethods
    else { return false }
    // The versions of the format for writing and for reading: 1 is the rollback journal, 2 the log.
    var versions: (UInt8, UInt8) = (0, 0)
    let result = unsafe methods.pointee.xRead(database, &versions, 2, 18)
    return result == SQLITE_OK && versions == (1, 1)
  }

  /// SQLite's file object of the database or of its log.
  func file(_ which: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    _ = unsafe sqlite3_file_control(handle, "main", which, &file)
    return unsafe file
  }
}

extension UnsafeMutablePointer<sqlite3_file> {
  fileprivate func sync() -> Int32 {
    guard let methods = unsafe pointee.pMethods else { return SQLITE_OK }
    return unsafe methods.pointee.xSync(self, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY)
  }
}

/// A class, so that SQLite's hook may point to it as long as the connection exists.
final class LogFrameCount {
  var frames = 0
}
