internal import CascadeModel
package import CascadeStore
internal import CascadeEngine
internal import CascadeSystem
internal import Spool

/// Detaching a database that no daemon serves: a copy, or a backup.
package enum OfflineDetachment {
  /// Throws `StoreAway` if the store is served or locked, or not whole.
  package static func run(_ engine: any StoreEngine, _ store: String) throws -> DetachReport {
    let path = try Process.absolutePath(store)
    let configuration = StoreConfiguration(path: path, model: .empty)
    let paths = try configuration.safePaths()
    try engine.refuseHarm(at: path)
    let lock = try lock(configuration.home, paths, of: path)
    let report = try engine.detach(path)
    _ = consume lock
    return report
  }

  /// The lock that keeps a daemon from serving the database meanwhile. Nil if none ever did, so that
  /// nothing is left beside a copy.
  private static func lock(
    _ home: String, _ paths: SafePaths, of path: String
  ) throws -> FileLock? {
    if try FileStatus.of(home) == nil { return nil }
    guard let lock = try FileLock.take(".lock", in: paths.directory(home)) else {
      throw StoreAway("cascaded serves \(path): `cascadectl --store \(path) detach` is for this")
    }
    return lock
  }
}
