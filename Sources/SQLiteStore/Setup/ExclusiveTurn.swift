internal import CascadeSQLite
internal import CascadeStore
internal import CascadeSystem

/// When a store may be opened that its application wants for itself (`exclusive`): no other process
/// has it open, and its directory has been quiet for a while, because an application that begins or
/// ends opens and closes it several times.
enum ExclusiveTurn {
  private static let quiet: Int64 = 1_000
  private static let longestWait = Duration.seconds(3)

  /// Returns when the store may be opened. Throws `StoreAway` if that takes too long. A connection
  /// of this process that is open already has the turn.
  static func wait(for path: String) throws {
    let end = ContinuousClock.now + longestWait
    while let reason = try reasonToWait(for: path) {
      if .now > end || reason.isFinal { throw StoreAway(reason.text) }
      SystemClock.sleep(for: .milliseconds(50))
    }
  }

  /// Who else has the file open, in words.
  static func user(of path: String) -> String? {
    let isOpen = try? OwnConnections.unlessOpen(path) { try FileUse.isOpen(path) }
    return isOpen == true ? text(path) : nil
  }

  private static func text(_ path: String) -> String {
    "\(path) is open in another program, which wants it for itself"
  }

  private static func reasonToWait(for path: String) throws -> (text: String, isFinal: Bool)? {
    // A database that is yet to be created is nobody's.
    if try FileStatus.of(path) == nil { return nil }
    guard let isOpen = try OwnConnections.unlessOpen(path, { try FileUse.isOpen(path) }) else {
      return nil
    }
    if isOpen { return (text(path), true) }
    if try OwnConnections.isAsLeft(path) || isQuiet(path) { return nil }
    return ("\(path) is in use by another program", false)
  }

  private static func isQuiet(_ path: String) throws -> Bool {
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    let directory = parent.isEmpty ? "/" : String(parent)
    let paths = [directory] + ["", "-wal", "-journal"].map { path + $0 }
    let now = SystemClock.wall()
    return try paths.allSatisfy { path in
      guard let status = try FileStatus.of(path) else { return true }
      // A time in the future says nothing.
      return !(0..<quiet ~= now - status.modifiedMilliseconds)
    }
  }
}
