internal import CascadeSystem

/// The open directories of a spool.
///
/// Who can write to them commands the store, so they are opened only if nobody else can replace or write
/// them.
final class SpoolParts: Sendable {
  let root: Directory
  let incoming: Directory
  let temporary: Directory
  let held: Directory
  let rejected: Directory

  /// Directories that are missing are made.
  init(making path: String, _ paths: SafePaths) throws {
    root = try paths.makeDirectory(path)
    temporary = try paths.makeDirectory("tmp", in: root)
    incoming = try paths.makeDirectory("new", in: root)
    held = try paths.makeDirectory("held", in: root)
    rejected = try paths.makeDirectory("rejected", in: root)
  }

  init(_ path: String, _ paths: SafePaths) throws {
    root = try paths.directory(path)
    temporary = try paths.directory("tmp", in: root)
    incoming = try paths.directory("new", in: root)
    held = try paths.directory("held", in: root)
    rejected = try paths.directory("rejected", in: root)
  }

  /// What tells these directories from others at the same paths.
  struct Identity: Equatable {
    private let files: [[UInt64]]

    /// Of the directory itself, and those in it.
    fileprivate init(_ statuses: [FileStatus]) { files = statuses.map { [$0.device, $0.inode] } }
  }

  var identity: Identity {
    get throws {
      let all = try [
        root.descriptor.status(), temporary.descriptor.status(), incoming.descriptor.status(),
        held.descriptor.status(), rejected.descriptor.status(),
      ]
      return Identity(all)
    }
  }

  /// The same of those that are at the paths now, which are not opened for it; nil if one is missing.
  static func identity(at path: String, _ paths: SafePaths) throws -> Identity? {
    let all = [path] + ["tmp", "new", "held", "rejected"].map { "\(path)/\($0)" }
    let statuses = try all.compactMap { path in
      let status = try FileStatus.of(path)
      if let status { try paths.refuseUnsafe(status, path: path, isAtEnd: true) }
      return status
    }
    return statuses.count == all.count ? Identity(statuses) : nil
  }
}
