internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import SystemdService

/// The connection of one client. Its calls are answered one after another, in order.
@EventLoopActor
final class Connection {
  private let channel: Channel
  private let peer: Peer
  private let server: VarlinkServer
  private var input = FrameBuffer()
  private var isSending = false

  init(_ descriptor: consuming FileDescriptor, _ server: VarlinkServer) throws {
    channel = try Channel(descriptor)
    peer = try channel.peer()
    self.server = server
  }

  /// Returns when the client has no more calls, has left, or has sent something that is not
  /// Varlink. A client that has closed only its sending side has no more calls, but its earlier
  /// calls are answered.
  func run() async {
    do {
      while let frame = try await nextFrame(), let request = Request(frame) {
        try await handle(request)
        // Otherwise a client that sends as fast as it is read would block all others.
        await EventLoop.turn()
      }
    } catch {
      // The socket failed or the server stops, so the error cannot be reported to the client.
    }
  }

  /// Nothing that follows a part of a message could be understood. So after a send that was
  /// cancelled, or if two sends overlap, the connection ends.
  func send(_ reply: Reply) async throws {
    if isSending { throw SystemError.disconnection }
    isSending = true
    try await channel.send(reply.frame)
    isSending = false
  }

  private func nextFrame() async throws -> [UInt8]? {
    while true {
      if let frame = input.next() {
        return frame.count <= server.limits.message ? frame : nil
      }
      if input.pendingCount > server.limits.message { return nil }
      if try await fill() == 0 { return nil }
      await EventLoop.turn()
    }
  }

  private func fill() async throws -> Int {
    var bytes: [UInt8] = []
    let count = try await channel.read(into: &bytes, upTo: Self.readSize)
    input.append(bytes)
    return count
  }

  private static let readSize = 1 << 16

  /// If the client has left, calls that expect a reply are skipped, but oneway calls are carried
  /// out.
  private func handle(_ request: Request) async throws {
    if request.oneway {
      _ = try await server.outcome(of: request, call(request))
    } else if !channel.isHungUp {
      try await answer(request)
    }
  }

  private func answer(_ request: Request) async throws {
    do {
      try await whileConnected { connection in
        let reply = try await connection.server.outcome(of: request, connection.call(request))
        try await connection.send(reply)
      }
    } catch {
      if !channel.isHungUp { throw error }
      try Task.checkCancellation()
    }
  }

  private func call(_ request: Request) -> Call {
    Call(
      method: request.method, parameters: request.parameters, more: request.more, peer: peer,
      connection: self)
  }

  /// Cancels the work when the client has closed both directions. Otherwise the work might wait for
  /// a very long time for an event.
  private func whileConnected(
    _ work: @escaping @EventLoopActor @Sendable (Connection) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: EventLoop.shared) { try await work(self) }
      group.addTask(executorPreference: EventLoop.shared) { try await self.channel.hungUp() }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}
