internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import Synchronization

extension Store {
  /// How a write reaches the daemon.
  public enum Way: Hashable, Sendable {
    /// Over the socket: whoever may connect may write.
    case socket
    /// As a file in the queue. It is durable before the daemon sees it, and while it is away.
    case spool
  }

  /// Writes. All of it takes effect, or nothing; afterwards the receipt says what it did.
  ///
  /// A program that holds a write transaction of its own must end it before: the daemon waits for
  /// it, and the program for the daemon, until `timeout`.
  ///
  /// - Parameters:
  ///   - way: How the changes reach the daemon.
  ///   - timeout: How long to wait for the receipt. Then it throws ``WriteError/pending(id:why:)``.
  ///   - body: Makes the changes. If it throws, nothing is written.
  /// - Returns: What the write did.
  /// - Throws: ``WriteError``, or what `body` throws.
  @discardableResult
  public func write(
    by way: Way = .socket, timeout: Duration = .seconds(30),
    _ body: (inout Transaction) throws -> Void
  ) async throws -> Receipt {
    var transaction = Transaction()
    try body(&transaction)
    return try await submit(completed(transaction), by: way, timeout: timeout)
  }

  /// The same, with what `body` returns.
  @_disfavoredOverload
  public func write<T>(
    by way: Way = .socket, timeout: Duration = .seconds(30),
    _ body: (inout Transaction) throws -> T
  ) async throws -> (T, Receipt) {
    var transaction = Transaction()
    let value = try body(&transaction)
    let receipt = try await submit(completed(transaction), by: way, timeout: timeout)
    return (value, receipt)
  }

  private func completed(_ transaction: Transaction) async throws -> Transaction {
    if !transaction.needsLookup { return transaction }
    do {
      return try await read { snapshot in try transaction.completed(by: snapshot) }
    } catch is ReadError {
      // There is no store yet, or it cannot be opened: the daemon compares by itself.
      return transaction
    }
  }

  /// Writes a transaction that was made before. If it is submitted again, for example after
  /// ``WriteError/unavailable(why:isQueued:)``, it takes effect once.
  @discardableResult
  public func submit(
    _ transaction: Transaction, by way: Way = .socket, timeout: Duration = .seconds(30)
  ) async throws(WriteError) -> Receipt {
    let file = ChangeFile(
      id: transaction.id, bytes: transaction.file(author: author), end: .now + timeout)
    let receipt: Receipt
    switch way {
    case .socket: receipt = try await send(file)
    case .spool:
      try await enqueue(file)
      receipt = try await waitForReceipt(file)
    }
    let checked = try receipt.checked()
    for hook in transaction.hooks { hook(checked) }
    return checked
  }
}

/// A change file on its way.
struct ChangeFile: Sendable {
  let id: UUIDv7
  let bytes: [UInt8]
  /// When its sender stops waiting.
  let end: ContinuousClock.Instant

  var name: String { "\(id).json" }
  var timeLeft: Duration { max(.zero, end - .now) }
}

// MARK: - Over the socket

extension Store {
  /// Sends a file until there is a receipt. The daemon recognises a repetition by the id.
  private func send(_ file: ChangeFile) async throws(WriteError) -> Receipt {
    let progress = SendingProgress()
    while true {
      do {
        return try await callers.run(isBroken: { $0 is VarlinkClientError }) { client in
          try client.send(file, progress)
        }
      } catch VarlinkClientError.refused(let error) where progress.isSent {
        try await checkQueue(file, AskError(.refused(error)))
      } catch let error as VarlinkClientError {
        try progress.check(error, file)
      } catch {
        throw .unavailable(why: "\(error)", isQueued: false)
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }
}

extension Store {
  /// After the daemon could not apply a file, which it may have in its queue nevertheless.
  private func checkQueue(_ file: ChangeFile, _ error: AskError) async throws(WriteError) {
    let state = try? await receipt(of: file.id)
    if case .waiting = state { throw .pending(id: file.id, why: "\(error)") }
    throw .unavailable(why: "\(error)", isQueued: false)
  }
}

/// What is known of a file while it is being sent.
private final class SendingProgress: Sendable {
  private let state = Mutex<(isSent: Bool, waiting: String?)>((false, nil))

  /// Whether the daemon may have the whole file.
  var isSent: Bool { state.withLock { $0.isSent } }
  /// Why the file waits, as the daemon said last.
  var waiting: String? { state.withLock { $0.waiting } }

  func noteSent() { state.withLock { $0.isSent = true } }
  func noteWaiting(_ why: String) { state.withLock { $0.waiting = why } }

  /// Whether to send the file again: the connection broke, or could not be made for now. Otherwise
  /// throws what the sender is told.
  func check(_ error: VarlinkClientError, _ file: ChangeFile) throws(WriteError) {
    let why = waiting ?? "\(error)"
    if error == .timedOut || file.timeLeft == .zero {
      throw isSent ? .pending(id: file.id, why: why) : .unavailable(why: why, isQueued: false)
    }
    if case .refused = error { throw .unavailable(why: "\(error)", isQueued: false) }
    // A connection that was kept may lead to a daemon that has ended.
    if !isSent && error != .disconnected { throw .unavailable(why: why, isQueued: false) }
  }
}

extension ControlClient {
  fileprivate mutating func send(
    _ file: ChangeFile, _ progress: SendingProgress
  ) throws -> Receipt {
    var parameters: [JSON.Field] = [JSON.Field("name", .string(file.name))]
    if file.bytes.count <= ControlClient.partSize {
      parameters.append(JSON.Field("data", .string(Base64.encode(file.bytes[...]))))
    } else {
      parameters.append(JSON.Field("upload", try upload(file)))
    }
    progress.noteSent()
    return try finalReceipt("Apply", .object(parameters), file, progress)
  }

  private mutating func upload(_ file: ChangeFile) throws -> JSON {
    var upload: JSON = .null
    for start in stride(from: 0, to: file.bytes.count, by: ControlClient.partSize) {
      let part = file.bytes[start..<min(start + ControlClient.partSize, file.bytes.count)]
      let parameters: JSON = ["upload": upload, "data": .string(Base64.encode(part))]
      upload = try call("Upload", parameters, timeout: file.timeLeft)["upload"] ?? .null
    }
    return upload
  }

  /// Reads the replies to a call that waits for a receipt.
  fileprivate mutating func finalReceipt(
    _ method: String, _ parameters: JSON, _ file: ChangeFile, _ progress: SendingProgress
  ) throws -> Receipt {
    try start(method, parameters, timeout: file.timeLeft)
    while let reply = try next(timeout: file.timeLeft) {
      if let why = reply["waiting"]?.string { progress.noteWaiting(why) }
      if let receipt = Receipt(reply["receipt"]) { return receipt }
    }
    throw VarlinkClientError.malformed
  }
}

// MARK: - By the queue

extension Store {
  /// Puts a file into the queue. When this returns, it is on the disk.
  private func enqueue(_ file: ChangeFile) async throws(WriteError) {
    do {
      try await queues.run { queue in try queue.append(file) }
    } catch {
      throw .unavailable(why: "\(error)", isQueued: false)
    }
  }

  private func waitForReceipt(_ file: ChangeFile) async throws(WriteError) -> Receipt {
    let progress = SendingProgress()
    do {
      return try await callers.run(isBroken: { $0 is VarlinkClientError }) { client in
        let parameters: JSON = ["id": .string(file.id.description), "wait": true]
        return try client.finalReceipt("Receipt", parameters, file, progress)
      }
    } catch VarlinkClientError.timedOut {
      throw .pending(id: file.id, why: progress.waiting ?? "the daemon did not answer in time")
    } catch {
      throw .unavailable(why: "\(error)", isQueued: true)
    }
  }
}

/// The directories of the queue, opened for each file: they may be replaced.
struct SpoolQueue: ~Copyable, SendableMetatype {
  private let path: String

  init(_ path: String) { self.path = path }

  borrowing func append(_ file: ChangeFile) throws {
    let temporary = try Directory.open("\(path)/tmp")
    let queue = try Directory.open("\(path)/new")
    let name = FileName(file.name)
    // An earlier attempt to submit the same file may have left its part here.
    _ = try temporary.remove(name)
    let written = try temporary.file(name, .createNew, mode: 0o600)
    try written.writeAll(file.bytes)
    try written.sync()
    try temporary.rename(name, to: queue, as: name)
    try queue.sync()
  }
}
