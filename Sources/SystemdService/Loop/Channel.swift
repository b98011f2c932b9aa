package import CascadeSystem
internal import Glibc

/// A socket on the event loop. Reads, writes and waits suspend only the calling task.
@EventLoopActor
package final class Channel {
  private let readiness: Readiness
  private let descriptor: FileDescriptor

  package init(_ descriptor: consuming FileDescriptor) throws(SystemError) {
    readiness = try Readiness(descriptor)
    self.descriptor = descriptor
  }

  // The number must be removed from epoll before the descriptor is closed, because the kernel then
  // assigns the number again.
  isolated deinit { readiness.close() }

  package func peer() throws(SystemError) -> Peer { try descriptor.peer() }

  /// Waits for bytes and appends at most `count`. Returns how many were read, 0 at the end.
  package func read(into bytes: inout [UInt8], upTo count: Int) async throws -> Int {
    while true {
      if let got = try descriptor.read(into: &bytes, upTo: count) { return got }
      try await readiness.wait(.readable)
    }
  }

  /// Returns when the socket has taken all bytes.
  package func send(_ bytes: [UInt8]) async throws {
    var sent = 0
    while sent < bytes.count {
      if let count = try descriptor.send(bytes, from: sent) {
        sent += count
      } else {
        try await readiness.wait(.writable)
      }
    }
  }

  /// Returns when the peer has closed both directions.
  package func hungUp() async throws {
    while !readiness.isHungUp { try await readiness.wait(.hungUp) }
  }

  package var isHungUp: Bool { readiness.isHungUp }

  /// Ends the connection. A read returns 0 from then on.
  package func shutdown() { descriptor.shutdownBoth() }

  /// Whether bytes have come that were not read.
  package var hasInput: Bool {
    (try? descriptor.waitBlocking(for: .readable, milliseconds: 0)) ?? false
  }

  /// Waits for the next connection of a listener.
  package func accept() async throws -> FileDescriptor {
    while true {
      do {
        if let connection = try descriptor.accept() { return connection }
        try await readiness.wait(.readable)
      } catch let error as SystemError {
        try await Self.recover(from: error)
      }
    }
  }

  /// A connection that the client gave up is not an error of the listener. A lack of descriptors or
  /// memory passes, so the listener waits a little instead of trying again at once.
  private static func recover(from error: SystemError) async throws {
    switch error.code {
    case ECONNABORTED, EPROTO: return
    case EMFILE, ENFILE, ENOBUFS, ENOMEM:
      try await EventLoop.sleep(for: .milliseconds(100), tolerance: .milliseconds(100))
    default: throw error
    }
  }
}
