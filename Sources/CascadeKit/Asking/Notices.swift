internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink

/// A message for a node that stayed: one of its edges lost its other end.
public struct Notice: Hashable, Sendable {
  /// The number, which ``Store/acknowledge(upTo:)`` takes.
  public let number: Int
  /// The node that it is for.
  public let node: NodeName
  /// The edge that was lost.
  public let edge: EdgeName
  /// Which end was lost.
  public let reason: String
  /// Whether the node has gone since.
  public let isReceiverDeleted: Bool

  init?(_ json: JSON) {
    guard let number = json["notice"]?.int, let node = NodeName(json["node"]),
      let edge = EdgeName(json["edge"])
    else { return nil }
    self.number = number
    self.node = node
    self.edge = edge
    reason = json["reason"]?.string ?? ""
    isReceiverDeleted = json["receiverDeleted"]?.bool ?? false
  }
}

extension Store {
  /// The notices after a number, and then those that come, in batches as they are written. The
  /// sequence ends with an error when the daemon ends.
  public func notices(after number: Int = 0) -> Notices { Notices(store: self, after: number) }

  /// Deletes the notices up to a number, and returns how many there were.
  @discardableResult
  public func acknowledge(upTo number: Int) async throws(AskError) -> Int {
    let reply = try await ask("Acknowledge", ["notice": .integer(Int64(number))])
    return reply["acknowledged"]?.int ?? 0
  }
}

/// Notices as they are written, in batches.
public struct Notices: AsyncSequence, Sendable {
  /// Some notices, in the order of their numbers.
  public typealias Element = [Notice]
  /// What is thrown when the daemon ends.
  public typealias Failure = AskError

  let store: Store
  let after: Int

  /// Begins to follow.
  public func makeAsyncIterator() -> Iterator { Iterator(store, after) }

  /// Follows the notices of a store.
  public struct Iterator: AsyncIteratorProtocol {
    private let store: Store
    private let after: Int
    private let worker = Worker<ControlClient>("cascade-notices")
    private var isStarted = false

    init(_ store: Store, _ after: Int) {
      self.store = store
      self.after = after
    }

    /// The next batch; nil if the task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AskError) -> [Notice]? {
      let parameters: JSON? =
        isStarted ? nil : ["after": .integer(Int64(after)), "follow": true]
      isStarted = true
      do {
        let reply = try await worker.next("Notices", parameters) { [store] in try store.connect() }
        return reply.map { ($0["notices"]?.array ?? []).compactMap { Notice($0) } }
      } catch is CancellationError {
        return nil
      } catch {
        throw AskError(any: error)
      }
    }

    /// The next batch; nil if the task was cancelled.
    public mutating func next() async throws(AskError) -> [Notice]? {
      try await next(isolation: nil)
    }
  }
}

extension Worker<ControlClient> {
  /// Begins to follow where there are parameters, and waits for a reply. Looks twice a second whether the
  /// task was cancelled.
  func next(
    _ method: String, _ parameters: JSON?, connecting connect: @Sendable () throws -> ControlClient
  ) throws -> JSON? {
    try run(connect, { $0 is CancellationError || $0 as? VarlinkClientError != .timedOut }) {
      client in
      if let parameters { try client.start(method, parameters, timeout: .seconds(30)) }
      while true {
        if Task.isCancelled { throw CancellationError() }
        do {
          return try client.next(timeout: .milliseconds(1_000))
        } catch VarlinkClientError.timedOut {}
      }
    }
  }
}
