internal import CascadeModel
internal import Store
internal import CascadeSystem
/// Who owns a store's files. SQLite gives what it makes beside the database the database's mode and
/// its maker's name: a daemon of another user can lock the application out of its own store.
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
    else { throw StoreError("\(path) is not there any more") }
    // Whoever opens a pipe waits for the other end.
    if [.other, .socket].contains(database.kind) {
      throw StoreError("\(path) is no regular file")
    }
    self.database = database
    self.directory = directory
  }

  /// Before anything is read: by then SQLite has made its files.
  func refuseHarm() throws {
    if let message = daemon ?? writing { throw HarmfulOwnership(description: message) }
  }

  var findings: [JSON] {
    get throws {
      (try ["-wal", "-shm"].compactMap { try sidecar("\(path)\($0)") })
        + [daemon, writing].compactMap { $0.map(finding) }
    }
  }

  /// The owner must be able to write what SQLite made.
  private func sidecar(_ path: String) throws -> JSON? {
    guard let file = try FileStatus.of(path) else { return nil }
    let isOwners = file.uid == database.uid && file.mode & 0o200 != 0
    if isOwners || file.gid == database.gid && file.mode & 0o020 != 0 { return nil }
    return finding(
      "\(path) belongs to user \(file.uid) with mode \(String(file.mode, radix: 8)): user "
        + "\(database.uid), whose store it is, cannot write it")
  }

  /// What the daemon makes must be writable for the owner: root gives it to the owner.
  private var daemon: String? {
    if user == 0 || user == database.uid { return nil }
    let setgid: UInt32 = 0o2000
    let groupFits =
      group == database.gid || directory.mode & setgid != 0 && directory.gid == database.gid
    if groupFits && database.mode & 0o020 != 0 { return nil }
    return
      "cascaded runs as user \(user), and \(path) belongs to user \(database.uid), who could not "
      + "write what SQLite makes beside it: run it as that user, or give the file a group that "
      + "both are in and mode 660"
  }

  private var writing: String? {
    // Of a file that may not be written, what SQLite makes beside it may not be either; and that
    // would stay when the file may be written again.
    if !FileStatus.isWritable(path) { return "\(path) cannot be written by cascaded" }
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    if FileStatus.isWritable(parent.isEmpty ? "/" : String(parent)) { return nil }
    return "\(parent) cannot be written by cascaded: SQLite needs its log there"
  }

  private func finding(_ message: String) -> JSON {
    ["kind": "ownership", "message": .string(message)]
  }
}

/// What the daemon would make beside the database would lock out the application, or itself.
package struct HarmfulOwnership: Error, CustomStringConvertible {
  package let description: String
}
