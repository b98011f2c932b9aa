internal import CSystemd
internal import Glibc

/// The service manager, where there is one.
package enum Supervisor {
  package static var isThere: Bool { Process.environment("NOTIFY_SOCKET") != nil }

  /// "READY=1", "STATUS=…", "STOPPING=1". Nothing happens without a manager.
  package static func notify(_ state: String...) {
    _ = unsafe sd_notify(0, state.joined(separator: "\n"))
  }

  /// The listening socket that was passed under this name. Each can be taken once.
  package static func takeListener(named name: String) throws(SystemError) -> FileDescriptor? {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = try unsafe checkedReturn(
      "sd_listen_fds", sd_listen_fds_with_names(0, &names))
    defer { unsafe freeAll(names) }
    for index in 0..<Int(count) where unsafe String(cString: names![index]!) == name {
      let descriptor = FileDescriptor(owning: SD_LISTEN_FDS_START + CInt(index))
      try descriptor.setNonBlocking()
      return descriptor
    }
    return nil
  }

  private static func freeAll(_ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
    guard let names = unsafe names else { return }
    var next = unsafe names
    while let name = unsafe next.pointee {
      unsafe free(name)
      unsafe next += 1
    }
    unsafe free(names)
  }
}
