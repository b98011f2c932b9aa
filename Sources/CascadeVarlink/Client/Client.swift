package import CascadeModel
package import CascadeSystem

/// Calls a service and blocks the thread until the reply comes. For programs without an event loop.
package struct VarlinkClient: ~Copyable {
  private let descriptor: FileDescriptor
  private var input = FrameBuffer()
  private var isStreaming = false

  /// The limit for a reply, in bytes.
  private static let longestReply = 64 << 20

  package init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  package static func connect(_ path: String) throws(VarlinkClientError) -> VarlinkClient {
    do {
      return VarlinkClient(try UnixSocket.connect(path))
    } catch {
      throw .system(error)
    }
  }

  /// Makes a call and returns its reply.
  package mutating func call(
    _ method: String, _ parameters: JSON = [:], timeout: Duration? = nil
  ) throws(VarlinkClientError) -> JSON {
    let deadline = Deadline(timeout)
    try send(method, parameters, flag: nil, deadline)
    return try receive(deadline).parameters
  }

  /// Makes a call that is never answered. Its success only means that the call was sent.
  package mutating func callOneway(
    _ method: String, _ parameters: JSON = [:], timeout: Duration? = nil
  ) throws(VarlinkClientError) {
    try send(method, parameters, flag: "oneway", Deadline(timeout))
  }

  /// Makes a call with several replies, which `next` returns.
  package mutating func start(
    _ method: String, _ parameters: JSON = [:], timeout: Duration? = nil
  ) throws(VarlinkClientError) {
    try send(method, parameters, flag: "more", Deadline(timeout))
    isStreaming = true
  }

  /// The next reply to the call of `start`, or nil after the last one.
  package mutating func next(
    timeout: Duration? = nil
  ) throws(VarlinkClientError) -> JSON? {
    if !isStreaming { return nil }
    // An error ends the call too. Only after a timeout does the call continue.
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
    precondition(!isStreaming, "not all replies to the last call have been read")
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

/// The time at which a call times out.
private struct Deadline {
  private let end: Int64?

  init(_ timeout: Duration?) {
    end = timeout.map { SystemClock.monotonic() + Int64(clamping: $0.microseconds / 1000) }
  }

  /// The remaining time for poll(2), where -1 means no limit.
  var milliseconds: Int {
    end.map { max(0, Int(clamping: $0 - SystemClock.monotonic())) } ?? -1
  }
}
