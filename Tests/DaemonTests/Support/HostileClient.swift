import CascadeSystem

/// A client that keeps to nothing. It never waits: what the socket does not take is not said.
final class HostileClient {
  private let descriptor: FileDescriptor
  /// What was received since it was last looked at.
  private var received: [UInt8] = []
  private(set) var answers = 0
  private(set) var isClosed = false

  /// Nil when too many others are on their way in.
  init?(_ socket: String) {
    guard let descriptor = try? UnixSocket.connect(socket) else { return nil }
    self.descriptor = descriptor
  }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    do {
      while sent < bytes.count, let count = try descriptor.send(bytes, from: sent) { sent += count }
    } catch {
      isClosed = true
    }
  }

  func stopWriting() { try? descriptor.shutdownWriting() }

  /// Takes what is there.
  func listen() {
    do {
      while let count = try descriptor.read(into: &received, upTo: 1 << 16) {
        answers += received.count(where: { $0 == 0 })
        received.removeAll(keepingCapacity: true)
        if count == 0 {
          isClosed = true
          return
        }
      }
    } catch {
      isClosed = true
    }
  }
}
