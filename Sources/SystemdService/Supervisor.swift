package import CascadeSystem
internal import CSystemd
internal import Glibc

/// The service manager, if the process runs under one.
package enum Supervisor {
  package static var isThere: Bool { Process.environment("NOTIFY_SOCKET") != nil }

  /// Sends "READY=1", "STATUS=…" or "STOPPING=1". Does nothing without a service manager.
  package static func notify(_ state: String...) {
    _ = unsafe sd_notify(0, state.joined(separator: "\n"))
  }

  /// The listening socket that the service manager passed under this name. If it passed only one,
  /// that one, regardless of its name. Each socket can be taken once.
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

  /// Reports that the process serves none of the sockets. A client that connects to one waits
  /// forever.
  private static func complain(of names: [String], wanting name: String) {
    Log.write(
      .error,
      "none of the sockets that systemd passed is served: one of them needs "
        + "FileDescriptorName=\(name), but their names are \(names.joined(separator: ", "))")
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
