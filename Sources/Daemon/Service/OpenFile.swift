internal import Store
internal import CascadeSystem
/// Which file is open as the store: another may come to be where it was, renamed over it or
/// restored from a backup, and its log may be taken away (DESIGN 7).
struct OpenFile {
  private let path: String
  private let database: FileStatus?
  private let log: FileStatus?

  enum Standing {
    /// What is open is what others open.
    case there
    case replaced
    /// The same file, with another one's content: the log is not its own.
    case overwritten
    /// What only the log had would be lost, unless we save it: nobody has made another one yet.
    case logRemoved
    /// Others may have written what the old log knows nothing of: it is of no use any more.
    case logReplaced
  }

  /// `database` is what was there before it was opened: one that came in between is taken for
  /// another, and opened again.
  init(_ path: String, opened database: FileStatus?) throws {
    self.path = path
    self.database = try database ?? FileStatus.of(path)
    log = try FileStatus.of(OpenFile.log(of: path))
  }

  var standing: Standing {
    get throws {
      guard let database, let now = try FileStatus.of(path), database.isSame(as: now)
      else { return .replaced }
      guard let log else { return .there }
      guard let nowLog = try FileStatus.of(OpenFile.log(of: path)) else { return .logRemoved }
      return log.isSame(as: nowLog) ? .there : .logReplaced
    }
  }

  /// SQLite would read the log of the old file into the new one.
  func refuseItsLog() throws {
    guard let log, let now = try FileStatus.of(OpenFile.log(of: path)),
      log.isSame(as: now), now.size > 0
    else { return }
    throw StoreError(
      "\(path) is another file now, but \(path)-wal is still the old one's: stop what uses the "
        + "store, remove \(path)-wal and \(path)-shm, and start it again")
  }

  private static func log(of path: String) -> String { "\(path)-wal" }
}

/// The store's file is not the one that was opened.
struct FileReplaced: Error {}
