internal import CascadeCSystem
internal import Glibc

/// The process at the other end of a socket, as the kernel recorded it when the connection was
/// made.
package struct Peer: Hashable, Sendable {
  package let pid: Int32
  package let uid: UInt32
  package let gid: UInt32
  /// The other groups of which it has the rights.
  package let groups: [UInt32]
}

extension FileDescriptor {
  /// The next connection of a listener, or nil if there is none yet.
  package func accept() throws(SystemError) -> FileDescriptor? {
    let flags = CInt(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let accepted = try checkedUnlessBlocking("accept4") { accept4(raw, nil, nil, flags) }
    // `map` cannot be used here, because a descriptor cannot be copied.
    guard let accepted else { return nil }
    return FileDescriptor(owning: accepted)
  }

  /// Returns the number of bytes that the socket took, or nil if it takes none now. Raises no
  /// SIGPIPE if the peer is gone.
  package func send(_ bytes: [UInt8], from start: Int) throws(SystemError) -> Int? {
    try checkedUnlessBlocking("send") {
      unsafe bytes.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
        return unsafe Glibc.send(raw, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
      }
    }
  }

  /// Closes the sending direction. Replies can still be received.
  package func shutdownWriting() throws(SystemError) {
    _ = try checked("shutdown") { shutdown(raw, CInt(SHUT_WR)) }
  }

  /// Ends both directions. A wait for the socket ends too.
  package func shutdownBoth() { _ = shutdown(raw, CInt(SHUT_RDWR)) }

  /// The path of a listener in the file system, or nil if it has none.
  package var localPath: String? {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe getsockname(
        raw, UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self), &length)
    }
    let path = unsafe withUnsafeBytes(of: &address.sun_path) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return result == 0 && !path.isEmpty ? path : nil
  }

  package func peer() throws(SystemError) -> Peer {
    var peer = cascade_peer()
    var size = socklen_t(MemoryLayout<cascade_peer>.size)
    _ = try checked("getsockopt") {
      unsafe getsockopt(raw, SOL_SOCKET, SO_PEERCRED, &peer, &size)
    }
    return Peer(pid: peer.pid, uid: peer.uid, gid: peer.gid, groups: peerGroups())
  }

  /// Empty where the kernel does not tell them.
  private func peerGroups() -> [UInt32] {
    var room = 64
    while true {
      var groups = [UInt32](repeating: 0, count: room)
      var size = socklen_t(room * MemoryLayout<UInt32>.size)
      if unsafe getsockopt(raw, SOL_SOCKET, SO_PEERGROUPS, &groups, &size) == 0 {
        return Array(groups.prefix(Int(size) / MemoryLayout<UInt32>.size))
      }
      if errno != ERANGE { return [] }
      room = max(room * 2, Int(size) / MemoryLayout<UInt32>.size)
    }
  }
}
