internal import SQLiteTables
internal import CascadeSystem

/// Identifies the database file and log that were opened. The file may be replaced by a rename or a
/// restored backup, and its log may be removed (DESIGN 7).
struct OpenFile {
  private let path: String
  private let database: FileStatus?
  private let log: FileStatus?

  enum FileState {
    /// The open file is still the one at the path.
    case sameFile
    case replaced
    /// The same file with the content of another database. The log does not belong to it.
    case overwritten
    /// The log was removed, and no other one was made yet. Commits that only the log had are lost
    /// unless we save them.
    case logRemoved
    /// The log was removed and another one was made. Other connections may have written to it, so
    /// the old log is of no use.
    case logReplaced
  }

  /// `database` is the status of the file before it was opened. If another file took its place in
  /// between, it counts as replaced and is opened again.
  init(_ path: String, opened database: FileStatus?) throws {
    self.path = path
    self.database = try database ?? FileStatus.of(path)
    log = try FileStatus.of(OpenFile.log(of: path))
  }

  var fileState: FileState {
    get throws {
      guard let database, let now = try FileStatus.of(path), database.isSame(as: now)
      else { return .replaced }
      guard let log else { return .sameFile }
      guard let nowLog = try FileStatus.of(OpenFile.log(of: path)) else { return .logRemoved }
      return log.isSame(as: nowLog) ? .sameFile : .logReplaced
    }
  }

  /// Refuses a new file beside the old file's log, because SQLite would apply that log to it.
  func refuseForeignLog() throws {
    guard let log, let now = try FileStatus.of(OpenFile.log(of: path)),
      log.isSame(as: now), now.size > 0
    else { return }
    throw StoreError(
      "\(path) was replaced, but \(path)-wal belongs to the old file: stop what uses the "
        + "store, remove \(path)-wal and \(path)-shm, and start it again")
  }

  private static func log(of path: String) -> String { "\(path)-wal" }
}

/// The file at the store's path is not the one that was opened.
struct FileReplaced: Error {}
