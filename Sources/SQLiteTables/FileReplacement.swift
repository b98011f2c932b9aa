package import CascadeStore
package import CascadeSystem

/// Identifies the database file and log that were opened. The file may be replaced by a rename or a
/// restored backup, and its log may be removed.
package struct OpenFile: OpenedStore {
  private let path: String
  private let database: FileStatus?
  private let log: FileStatus?

  private init(_ path: String, closed database: FileStatus?) {
    (self.path, self.database, log) = (path, database, nil)
  }

  package var closed: any OpenedStore { OpenFile(path, closed: database) }

  /// `database` is the status of the file before it was opened. If another file took its place in
  /// between, it counts as replaced and is opened again.
  package init(_ path: String, opened database: FileStatus?) throws {
    self.path = path
    self.database = try database ?? FileStatus.of(path)
    log = try FileStatus.of(OpenFile.log(of: path))
  }

  package var standing: StoreStanding {
    get throws {
      guard let database, let now = try FileStatus.of(path), database.isSame(as: now)
      else { return .replaced }
      guard let log else { return .sameFile }
      guard let nowLog = try FileStatus.of(OpenFile.log(of: path)) else { return .logRemoved }
      return log.isSame(as: nowLog) ? .sameFile : .logReplaced
    }
  }

  /// Waits until the file has not changed for a while, because a backup may still be copied. A
  /// half-copied file is not a valid database, and the copy would overwrite what we write now.
  package func waitForQuiet() {
    for _ in 1...OpenFile.mostWaits {
      guard let status = try? FileStatus.of(path),
        0..<OpenFile.quiet ~= SystemClock.wall() - status.modifiedMilliseconds
      else { return }
      SystemClock.sleep(for: .milliseconds(20))
    }
  }

  private static let quiet: Int64 = 200
  private static let mostWaits = 500

  /// Refuses a new file beside the old file's log, because SQLite would apply that log to it.
  package func refuseLeftovers() throws {
    guard let log, let now = try FileStatus.of(OpenFile.log(of: path)),
      log.isSame(as: now), now.size > 0
    else { return }
    throw StoreError(
      "\(path) was replaced, but \(path)-wal belongs to the old file: stop what uses the "
        + "store, remove \(path)-wal and \(path)-shm, and start it again")
  }

  package static func log(of path: String) -> String { "\(path)-wal" }
}
