internal import Glibc

/// Users and groups by their names, or by their numbers.
package enum Account {
  package static func user(_ name: String) -> UInt32? {
    if let number = UInt32(name) { return number }
    guard let entry = unsafe getpwnam(name) else { return nil }
    return unsafe entry.pointee.pw_uid
  }

  package static func group(_ name: String) -> UInt32? {
    if let number = UInt32(name) { return number }
    guard let entry = unsafe getgrnam(name) else { return nil }
    return unsafe entry.pointee.gr_gid
  }
}
