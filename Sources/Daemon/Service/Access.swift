internal import CascadeModel
internal import Spool
internal import CascadeSystem

/// Checks who may write to the spool and the socket, and so change the store. Access for the owner
/// and the group is deliberate; access for all users is a mistake.
enum WriteAccess {
  static func findings(spool: String, socket: String?) throws -> [JSON] {
    let parts = ["", "/new", "/held", "/rejected", "/tmp"].map { spool + $0 }
    let open = try parts.first(where: isOpenToOthers).map { ($0, "puts a change file there") }
    let openSocket = try socket.flatMap { try isOpenToOthers($0) ? $0 : nil }
    let found = [open, openSocket.map { ($0, "connects there") }].compactMap(\.self)
    return found.map { path, how in
      [
        "kind": "access",
        "message": .string(
          "\(path) can be written by every user: whoever \(how) can change everything in the store"),
      ]
    }
  }

  /// Whether all users may write there. They cannot if they may not search the parent directory.
  private static func isOpenToOthers(_ path: String) throws -> Bool {
    guard let status = try FileStatus.of(path), status.mode & 0o002 != 0 else { return false }
    let parent = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    let mode = try FileStatus.of(parent.isEmpty ? "/" : parent)?.mode ?? 0
    return mode & 0o001 != 0
  }
}
