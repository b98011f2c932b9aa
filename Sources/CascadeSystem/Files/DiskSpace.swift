internal import Glibc

/// The space of the file system that has a file.
package enum DiskSpace {
  /// The bytes that this process may still write; nil if that cannot be found out.
  package static func free(at path: String) -> Int64? {
    guard let name = try? cString(path) else { return nil }
    var status = statvfs()
    if unsafe statvfs(name, &status) != 0 { return nil }
    return Int64(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
  }
}
