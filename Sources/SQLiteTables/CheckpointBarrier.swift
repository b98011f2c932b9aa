package import CascadeSQLite
package import CascadeSystem

/// Control of the write-ahead log where SQLite's own checkpoints are not safe
/// (`Connection.checkpointsAreSafe`).
///
/// A large sweep changes the same pages in step after step. The longer the log, the fewer of them
/// are written to the database file. But SQLite's automatic checkpoint makes the application's next
/// commit copy whatever is in the log, and wait for the disk. So the daemon keeps a reader in the
/// log, the fence: no checkpoint copies frames beyond what the oldest reader sees, and no commit
/// restarts a log that has a reader.
///
/// 1. A fence is set before the first step. Every frame of ours before the fence is already in the
///    database, so an application's checkpoint has nothing to copy. A fence that stands before all
///    frames stops a checkpoint only at the last moment, so another one replaces it after the first
///    step.
/// 2. While a fence stands after some frames, our checkpoint up to the fence needs no lock: it
///    cannot coincide with a commit that restarts the log, which is what corrupts a database.
/// 3. What remains after the fence is small. It is copied while no other connection can write, so
///    that the next commit restarts the log. A new fence is set before the lock is released.
package struct CheckpointState: ~Copyable {
  package var lockHolder: WriteLockHolder?
  package var barrier: CheckpointBarrier?
  /// Frames that stayed in the log after a checkpoint of all of it, because a reader needs them.
  package var framesNotCopied = 0
  /// The background sync of what the last step wrote.
  package var sync: BackgroundWork?

  package init() {}
}

/// A connection that holds the write lock while another connection checkpoints.
package final class WriteLockHolder {
  package let db: Connection

  package init(_ path: String) throws {
    db = try Connection(path: path, access: .readWrite)
    try db.disableCheckpoints()
  }
}

/// A reader that sees what is in the log now, and nothing that is appended later.
package final class CheckpointBarrier {
  private let db: Connection
  /// Whether there are frames before it that were not copied to the database when it was set.
  package let isInLog: Bool

  package init(_ path: String, isInLog: Bool) throws {
    db = try Connection(path: path, access: .readOnly)
    db.keepLogOnClose()
    try db.execute("BEGIN; PRAGMA data_version")
    self.isInLog = isInLog
  }
}
