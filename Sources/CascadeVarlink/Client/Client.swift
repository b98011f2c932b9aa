package import CascadeModel
package import CascadeSystem

/// Calls a service, and blocks the thread meanwhile: for programs without a loop.
package struct VarlinkClient: ~Copyable {
  private let descriptor: FileDescriptor
  private var input = FrameBuffer()
  private var isStreaming = false

  /// Bytes of a reply.
  private static let longestReply = 64 << 20

  package init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  package static func connect(_ path: String) throws(VarlinkClientError) -> VarlinkClient {
    do {
      return VarlinkClient(try UnixSocket.connect(path))
    } catch {
      throw .system(error)
    }
  }

  /// The reply to a call.
  package mutating func call(
    _ method: String, _ parameters: JSON = [:], timeout: Duration? = nil
  ) throws(VarlinkClientError) -> JSON {
    let deadline = Deadline(timeout)
    try send(method, parameters, flag: nil, deadline)
    return try receive(deadline).parameters
  }

  /// A call that is never answered. That it was sent says nothing of what became of it.
  package mutating func callOneway(
    _ method: String, _ parameters: JSON = [:], timeout: Duration? = nil
  ) throws(VarlinkClientError) {
    try send(method, parameters, flag: "oneway", Deadline(timeout))
  }

  /// A call whose replies `next` gives.
  package mutating func start(
    _ method: String, _ parameters: JSON = [:], timeout: Duration? = nil
  ) throws(VarlinkClientError) {
    try send(method, parameters, flag: "more", Deadline(timeout))
    isStreaming = true
  }

  /// The next reply to what was started; nil after the last.
  package mutating func next(
    timeout: Duration? = nil
  ) throws(VarlinkClientError) -> JSON? {
    if !isStreaming { return nil }
    // An error ends the call too; only a timeout leaves it as it is.
    do {
      let reply = try receive(Deadline(timeout))
      isStreaming = reply.continues
      return reply.parameters
    } catch {
      isStreaming = error == .timedOut
      throw error
    }
  }

  // MARK: - Messages

  private func send(
    _ method: String, _ parameters: JSON, flag: String?, _ deadline: Deadline
  ) throws(VarlinkClientError) {
    precondition(!isStreaming, "the replies to the last call are not all read")
    var members = [JSON.Field("method", .string(method)), JSON.Field("parameters", parameters)]
    if let flag { members.append(JSON.Field(flag, true)) }
    try send(JSON.object(members).utf8 + [0], deadline)
  }

  private func send(_ bytes: [UInt8], _ deadline: Deadline) throws(VarlinkClientError) {
    var sent = 0
    while sent < bytes.count {
      let count = try attempt { () throws(SystemError) in
        try descriptor.send(bytes, from: sent)
      }
      if let count { sent += count } else { try wait(.writable, deadline) }
    }
  }

  private mutating func receive(_ deadline: Deadline) throws(VarlinkClientError) -> Reply {
    guard let reply = Reply(try receiveFrame(deadline)) else { throw .malformed }
    if let error = reply.error { throw .refused(VarlinkError(error, reply.parameters)) }
    return reply
  }

  private mutating func receiveFrame(
    _ deadline: Deadline
  ) throws(VarlinkClientError) -> [UInt8] {
    while true {
      if let frame = input.next() { return frame }
      if input.pendingCount > Self.longestReply { throw .malformed }
      var bytes: [UInt8] = []
      let count = try attempt { () throws(SystemError) in
        try descriptor.read(into: &bytes, upTo: 1 << 16)
      }
      if count == 0 { throw .disconnected }
      input.append(bytes)
      if count == nil { try wait(.readable, deadline) }
    }
  }

  private func wait(
    _ readiness: FileDescriptor.Readiness, _ deadline: Deadline
  ) throws(VarlinkClientError) {
    let isReady = try attempt { () throws(SystemError) in
      try descriptor.waitBlocking(for: readiness, milliseconds: deadline.milliseconds)
    }
    if !isReady { throw .timedOut }
  }

  private func attempt<Result>(
    _ body: () throws(SystemError) -> Result
  ) throws(VarlinkClientError) -> Result {
    do {
      return try body()
    } catch {
      throw error.isDisconnection ? .disconnected : .system(error)
    }
  }
}

/// When a call has taken too long.
private struct Deadline {
  private let end: Int64?

  init(_ timeout: Duration?) {
    end = timeout.map { SystemClock.monotonic() + Int64(clamping: $0.microseconds / 1000) }
  }

  /// For poll: -1 is for ever.
  var milliseconds: Int {
    end.map { max(0, Int(clamping: $0 - SystemClock.monotonic())) } ?? -1
  }
}
