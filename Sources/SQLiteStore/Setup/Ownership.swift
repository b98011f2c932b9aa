internal import CascadeStore
internal import CascadeSystem

/// Checks who owns a store's files. SQLite gives the files that it creates beside the database the
/// database's mode, but the user of the process as their owner. So a daemon of another user can
/// lock the application out of its own store.
struct Ownership {
  private let path: String
  private let database: FileStatus
  private let directory: FileStatus
  private let user = Process.userIdentifier
  private let group = Process.groupIdentifier

  init(of path: String) throws {
    self.path = path
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    guard let database = try FileStatus.of(path),
      let directory = try FileStatus.of(parent.isEmpty ? "/" : String(parent))
    else { throw StoreError("\(path) no longer exists") }
    // Opening a pipe would block until the other end is opened.
    if [.other, .socket].contains(database.kind) {
      throw StoreError("\(path) is not a regular file")
    }
    self.database = database
    self.directory = directory
  }

  /// Refuses an ownership that would do harm. Call it before anything is read, because a reader
  /// creates files too.
  func refuseHarm() throws {
    if let message = daemonUserProblem ?? writeProblem {
      throw HarmfulOwnership(description: message)
    }
  }

  var problems: [String] {
    get throws {
      (try ["-wal", "-shm"].compactMap { try sidecarProblem("\(path)\($0)") })
        + [daemonUserProblem, writeProblem].compactMap(\.self)
    }
  }

  /// Whether the database's owner can write a file that SQLite created.
  private func sidecarProblem(_ path: String) throws -> String? {
    guard let file = try FileStatus.of(path) else { return nil }
    let isOwners = file.uid == database.uid && file.mode & 0o200 != 0
    if isOwners || file.gid == database.gid && file.mode & 0o020 != 0 { return nil }
    return
      "\(path) belongs to user \(file.uid) with mode \(String(file.mode, radix: 8)): user "
      + "\(database.uid), the owner of the database, cannot write it"
  }

  /// What is wrong with the daemon's user: the database's owner must be able to write what the
  /// daemon creates. Root gives the files to the owner.
  private var daemonUserProblem: String? {
    if user == 0 || user == database.uid { return nil }
    let setgid: UInt32 = 0o2000
    let groupFits =
      group == database.gid || directory.mode & setgid != 0 && directory.gid == database.gid
    if groupFits && database.mode & 0o020 != 0 { return nil }
    return
      "cascaded runs as user \(user), and \(path) belongs to user \(database.uid), which could not "
      + "write the files that SQLite creates beside it: run cascaded as that user, or give the "
      + "file a group that both users are in and mode 660"
  }

  private var writeProblem: String? {
    // SQLite's files beside a read-only database are read-only too, and would stay so when the
    // database becomes writable again.
    if !FileStatus.isWritable(path) { return "\(path) cannot be written by cascaded" }
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    if FileStatus.isWritable(parent.isEmpty ? "/" : String(parent)) { return nil }
    return "\(parent) cannot be written by cascaded: SQLite writes its log there"
  }
}
