internal import CascadeSystem

/// The open directories of a spool.
///
/// A user who can write to them commands the store, so they are opened only if no other user can replace or
/// write them.
final class SpoolParts: Sendable {
  let root: Directory
  let incoming: Directory
  let temporary: Directory
  let held: Directory
  let rejected: Directory

  static let names: [FileName] = ["tmp", "new", "held", "rejected"]

  /// Directories that are missing are made only if `makes` says so.
  init(_ path: String, _ paths: SafePaths, makes: Bool = false) throws {
    func part(_ name: FileName, in root: borrowing Directory) throws -> Directory {
      try makes ? paths.makeDirectory(name, in: root) : paths.directory(name, in: root)
    }
    root = try makes ? paths.makeDirectory(path) : paths.directory(path)
    temporary = try part("tmp", in: root)
    incoming = try part("new", in: root)
    held = try part("held", in: root)
    rejected = try part("rejected", in: root)
  }

  /// What tells these directories from others at the same paths.
  struct Identity: Equatable {
    private let files: [[UInt64]]

    /// Of the directory itself, and those in it.
    fileprivate init(_ statuses: [FileStatus]) { files = statuses.map { [$0.device, $0.inode] } }
  }

  var identity: Identity {
    get throws {
      try Identity([
        root.descriptor.status(), temporary.descriptor.status(), incoming.descriptor.status(),
        held.descriptor.status(), rejected.descriptor.status(),
      ])
    }
  }

  /// The same of those that are at the paths now. A link to a directory is not that directory.
  static func identity(at path: String, _ paths: SafePaths) throws -> Identity {
    let root = try paths.directory(path)
    var statuses = [try root.descriptor.status()]
    for name in names {
      guard let status = try root.status(of: name) else { continue }
      try paths.refuseUnsafe(status, path: root.path(of: name), isAtEnd: true)
      statuses.append(status)
    }
    return Identity(statuses)
  }
}
