internal import CascadeCSQLite
/// The write-ahead log: how long it is, and how it comes into the database.
extension Connection {
  /// Closing the last connection would checkpoint; with this it leaves the log alone.
  package func keepLogOnClose() {
    _ = unsafe cascade_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
  }

  /// Frames that the log held after this connection's last commit.
  package var framesInLog: Int { log.frames }

  /// Counts the log's frames, in the place where SQLite's automatic checkpoint would be.
  package func countFramesInLog() {
    unsafe sqlite3_wal_hook(
      handle,
      { context, _, _, frames in
        unsafe Unmanaged<LogLength>.fromOpaque(context!).takeUnretainedValue().frames = Int(frames)
        return SQLITE_OK
      }, Unmanaged.passUnretained(log).toOpaque())
  }

  /// What there was of the log, in frames, and what of that is in the database now.
  package struct Brought: Hashable {
    package let frames: Int
    package let done: Int

    package var isWhole: Bool { frames >= 0 && frames == done }
  }

  /// Brings the log into the database while `keeper`, another connection to it, holds the write
  /// lock; the next writer begins it anew. What came behind the oldest reader's sight stays. Nil where
  /// somebody else writes for longer than the keeper waits, or takes a checkpoint himself.
  ///
  /// SQLite has kinds of checkpoints that take the write lock, but they go on without it if they do
  /// not get it.
  ///
  /// While nobody else can write, `letGo` runs before it, and `settle` behind it. That time is what it
  /// returns, too.
  @discardableResult
  package func checkpoint(
    keptBy keeper: borrowing Connection, at path: String,
    behind letGo: () -> Void = {}, then settle: () -> Void = {}
  ) throws(SQLiteError) -> (brought: Brought, held: Duration)? {
    do {
      try keeper.begin(besideOthersAt: path)
    } catch {
      if error.isBusy { return nil }
      throw error
    }
    defer { keeper.rollback() }
    let start = ContinuousClock.now
    letGo()
    guard let brought = try bringLog() else { return nil }
    if brought.isWhole { log.frames = 0 }
    settle()
    return (brought, .now - start)
  }

  /// The same while others may write: for who knows that somebody reads in the log, so that no commit
  /// begins it anew. Nil where another's checkpoint is at work.
  package func bringLog() throws(SQLiteError) -> Brought? {
    var (frames, done): (Int32, Int32) = (0, 0)
    let result = unsafe sqlite3_wal_checkpoint_v2(
      handle, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &done)
    if result & 0xff == SQLITE_BUSY { return nil }
    if result != SQLITE_OK { throw unsafe SQLiteError(result, handle, doing: "checkpoint") }
    // Below zero, where this connection has not looked at the log yet.
    return Brought(frames: Int(frames), done: Int(done))
  }

  /// Takes the log's length away, where all of it is in the database.
  package func truncateLog() {
    unsafe sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
  }

  /// Writes the log to the disk, which every checkpoint begins with: without a lock nobody waits.
  package func syncLog() { unsafe file(SQLITE_FCNTL_JOURNAL_POINTER)?.sync() }

  /// And the database, where a checkpoint of the whole log ends with that.
  package func syncDatabase() { databaseSync() }

  /// The same for another thread, as long as this connection is there: it only asks which file that is.
  package var databaseSync: @Sendable () -> Void {
    nonisolated(unsafe) let database = unsafe file(SQLITE_FCNTL_FILE_POINTER)
    return { unsafe database?.sync() }
  }

  /// Whether the file itself says that it has no log, as a copy may that somebody wrote over it.
  package var isWithoutLog: Bool {
    guard let database = unsafe file(SQLITE_FCNTL_FILE_POINTER),
      let methods = unsafe database.pointee.pMethods
    else { return false }
    // What reads and what writes it have to know: 1 is a journal for rolling back, 2 the log.
    var versions: (UInt8, UInt8) = (0, 0)
    let result = unsafe methods.pointee.xRead(database, &versions, 2, 18)
    return result == SQLITE_OK && versions == (1, 1)
  }

  /// The database, or its log, as SQLite has it.
  func file(_ which: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    _ = unsafe sqlite3_file_control(handle, "main", which, &file)
    return unsafe file
  }
}

extension UnsafeMutablePointer<sqlite3_file> {
  fileprivate func sync() {
    guard let methods = unsafe pointee.pMethods else { return }
    _ = unsafe methods.pointee.xSync(self, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY)
  }
}

/// Lives as long as its connection, so that SQLite's hook may point at it.
final class LogLength {
  var frames = 0
}
