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
    fileprivate let files: [[UInt64]]
  }

  var identity: Identity {
    get throws {
      let all = try [
        root.descriptor.status(), temporary.descriptor.status(), incoming.descriptor.status(),
        held.descriptor.status(), rejected.descriptor.status(),
      ]
      return Identity(files: all.map { [$0.device, $0.inode] })
    }
  }
}
