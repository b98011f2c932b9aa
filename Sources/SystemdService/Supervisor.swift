package import CascadeSystem
internal import CSystemd
internal import Glibc

/// The service manager, where there is one.
package enum Supervisor {
  package static var isThere: Bool { Process.environment("NOTIFY_SOCKET") != nil }

  /// "READY=1", "STATUS=…", "STOPPING=1". Nothing happens without a manager.
  package static func notify(_ state: String...) {
    _ = unsafe sd_notify(0, state.joined(separator: "\n"))
  }

  /// The listening socket that was passed under this name; the only one, whatever its name. Each can
  /// be taken once.
  package static func takeListener(named name: String) throws(SystemError) -> FileDescriptor? {
    let names = try passedNames()
    guard let index = names.firstIndex(of: name) ?? (names.count == 1 ? 0 : nil) else {
      if !names.isEmpty { complain(of: names, wanting: name) }
      return nil
    }
    let descriptor = FileDescriptor(owning: SD_LISTEN_FDS_START + CInt(index))
    try descriptor.setNonBlocking()
    return descriptor
  }

  /// Who connects to one that nobody serves waits for ever.
  private static func complain(of names: [String], wanting name: String) {
    Log.write(
      .error,
      "of the sockets that systemd passed, none is served: FileDescriptorName= of one of them has to "
        + "be \(name), and they are \(names.joined(separator: ", "))")
  }

  private static func passedNames() throws(SystemError) -> [String] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = try unsafe checkedReturn(
      "sd_listen_fds", sd_listen_fds_with_names(0, &names))
    defer { unsafe freeAll(names) }
    return (0..<Int(count)).map { unsafe String(cString: names![$0]!) }
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
