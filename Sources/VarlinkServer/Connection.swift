internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import SystemdService

/// Why a reply is not sent.
enum ReplyRefused: Error, CustomStringConvertible {
  case tooLong(limit: Int)
  case tooManyUnread

  var description: String {
    switch self {
    case .tooLong(let limit):
      "the reply is longer than \(limit >> 20) MiB: ask for less, or with `more`"
    case .tooManyUnread:
      "replies that this user's clients do not read need too much memory: end those clients"
    }
  }
}

/// The connection of one client. Its calls are answered one after another, in order.
@EventLoopActor
final class Connection {
  private let channel: Channel
  private let peer: Peer
  private let server: VarlinkServer
  private var input = FrameBuffer()
  /// The part of the input that the user's share of the memory has.
  var sharedInput = 0
  private var isReading = false
  private(set) var lastUse = ContinuousClock.now
  private var isSending = false

  init(_ descriptor: consuming FileDescriptor, _ server: VarlinkServer) throws {
    channel = try Channel(descriptor)
    peer = try channel.peer()
    self.server = server
  }

  var user: UInt32 { peer.uid }

  /// Whether no call is being answered, and none has come.
  var isIdle: Bool { isReading && !channel.hasInput }

  /// Ends the connection, while it is idle.
  func end() { channel.shutdown() }

  /// Returns when the client has no more calls, has left, or has sent something that is not
  /// Varlink. A client that has closed only its sending side has no more calls, but its earlier
  /// calls are answered.
  func run() async {
    defer { server.clients.giveBackMemory(sharedInput, of: self) }
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
    let frame = try sendableFrame(reply)
    let shared = frame.count > Clients.free ? frame.count : 0
    defer { server.clients.giveBackMemory(shared, of: self) }
    try await channel.send(frame)
    isSending = false
  }

  /// The reply as it is sent, or an error if it is too long. The caller gives its memory back.
  private func sendableFrame(_ reply: Reply) throws -> [UInt8] {
    let frame = reply.frame
    if frame.count <= Clients.free { return frame }
    var problem: ReplyRefused?
    if frame.count > server.limits.reply {
      problem = .tooLong(limit: server.limits.reply)
    } else if !server.clients.takeMemory(frame.count, for: self) {
      problem = .tooManyUnread
    }
    guard let problem else { return frame }
    if !reply.continues { return Reply(server.failure(problem)).frame }
    isSending = false
    throw problem
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
    lastUse = .now
    isReading = true
    defer { isReading = false }
    let count = try await channel.read(into: &bytes, upTo: Self.readSize)
    input.append(bytes)
    return shareInput() ? count : 0
  }

  /// Counts a long message that has begun. False if there is no room for it.
  private func shareInput() -> Bool {
    let more = max(0, input.pendingCount - Clients.free) - sharedInput
    if more > 0 && !server.clients.takeMemory(more, for: self) { return false }
    if more < 0 { server.clients.giveBackMemory(-more, of: self) }
    sharedInput += more
    return true
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
