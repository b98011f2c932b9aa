internal import Store
internal import System

/// Which file is open as the store: another may come to be where it was, renamed over it or
/// restored from a backup (DESIGN 7).
struct OpenFile {
  private let path: String
  private let database: FileStatus?
  private let log: FileStatus?

  /// `database` is what was there before it was opened: one that came in between is taken for
  /// another, and opened again.
  init(_ path: String, opened database: FileStatus?) throws {
    self.path = path
    self.database = try database ?? FileStatus.of(path)
    log = try FileStatus.of(OpenFile.log(of: path))
  }

  /// Whether it is still the one that others open.
  var isThere: Bool {
    get throws {
      guard let database, let now = try FileStatus.of(path) else { return false }
      return database.isSame(as: now)
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
