internal import Glibc
internal import Synchronization

/// The connections of this process, by database.
///
/// If a process closes any descriptor of a file, it loses all its locks on that file. So what else
/// is opened of a database stays open until the last connection is closed.
package enum OwnConnections {
  private struct Place {
    var count = 0
    /// What the last connection left when it was closed.
    var trace: [FileTrace] = []
  }
  private static let places = Mutex<[String: Place]>([:])

  /// Runs `body` if this process does not have the database open. It cannot be opened meanwhile.
  /// Nil if it is open.
  package static func unlessOpen<T: Sendable>(
    _ path: String, _ body: () throws -> T
  ) throws -> T? {
    let place = name(of: path)
    return try places.withLock { try $0[place]?.count ?? 0 > 0 ? nil : body() }
  }

  /// Whether no program has written to the database since this process closed it.
  package static func isAsLeft(_ path: String) -> Bool {
    let place = name(of: path)
    return places.withLock {
      guard let place = $0[place], place.count == 0 else { return false }
      return !place.trace.isEmpty && place.trace == FileTrace.all(of: path)
    }
  }

  static func isOpen(_ path: String) -> Bool {
    let place = name(of: path)
    return places.withLock { $0[place]?.count ?? 0 > 0 }
  }

  /// The path without symbolic links; the database itself may be yet to be created.
  static func name(of path: String) -> String {
    if let real = real(path) { return real }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let parent = parts.dropLast().joined(separator: "/")
    return "\(real(parent.isEmpty ? "." : parent) ?? parent)/\(parts.last ?? "")"
  }

  private static func real(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  fileprivate static func add(_ place: String) {
    places.withLock { $0[place, default: Place()].count += 1 }
  }

  fileprivate static func remove(_ place: String) {
    places.withLock { places in
      places[place]!.count -= 1
      if places[place]!.count > 0 { return }
      OtherConnections.closeIndex(of: place)
      places[place]!.trace = FileTrace.all(of: place)
    }
  }
}

/// Counts a connection as long as it exists.
final class OwnConnection {
  private let place: String

  init(_ path: String) {
    place = OwnConnections.name(of: path)
    OwnConnections.add(place)
  }

  deinit { OwnConnections.remove(place) }
}

/// The state of a file, as far as a write to it changes that.
private struct FileTrace: Equatable {
  var inode: ino_t = 0
  var size: off_t = 0
  var seconds = 0
  var nanoseconds = 0

  /// Of the database, its log and its rollback journal. Of those, a file may be missing.
  static func all(of path: String) -> [FileTrace] {
    ["", "-wal", "-journal"].map { FileTrace(path + $0) }
  }

  private init(_ path: String) {
    var status = stat()
    // An empty log is as good as none.
    if unsafe stat(path, &status) != 0 || status.st_size == 0 { return }
    (inode, size) = (status.st_ino, status.st_size)
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}
