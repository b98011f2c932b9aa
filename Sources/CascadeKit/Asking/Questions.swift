internal import CascadeModel
internal import CascadeVarlink

/// What a deletion would do.
public struct DeletionPlan: Hashable, Sendable {
  /// The first of the nodes that would be deleted, those that were asked for among them.
  public let deleted: [NodeName]
  /// The number of all nodes that would be deleted.
  public let deletedCount: Int
  /// What would deny the deletion. If there is anything, nothing would be deleted.
  public let denied: [Reason]
  /// Whether the deletion would wait for approval.
  public let isHeld: Bool
}

/// Why a node exists, or why it was deleted.
public struct Explanation: Hashable, Sendable {
  /// Whether there is such a node.
  public enum State: String, Hashable, Sendable {
    /// It exists.
    case alive
    /// It was deleted.
    case deleted
    /// Nothing is known of it.
    case unknown
  }

  /// One step of a deletion.
  public struct Step: Hashable, Sendable {
    /// The node that was deleted.
    public let node: EdgeEnd
    /// The edge by which it followed the step before; nil for the first.
    public let edge: EdgeName?
    /// The rule by which it followed.
    public let rule: String?
  }

  /// Whether there is such a node.
  public let state: State
  /// The edges that lead to it.
  public let holders: [EdgeName]
  /// What ``Store/undo(batch:)`` takes, if it was deleted.
  public let batch: Int?
  /// Who deleted it.
  public let author: String?
  /// The steps that led to the deletion.
  public let chain: [Step]
}

/// What an undo did.
public struct UndoResult: Hashable, Sendable {
  /// How many nodes are back.
  public let restored: Int
  /// How many things could not be brought back, for example because their key was taken.
  public let leftCount: Int
}

/// What became of a change file.
public enum ChangeFileState: Hashable, Sendable {
  /// No file with this id was seen.
  case unknown
  /// It is in the queue; what it waits for, if that is known.
  case waiting(String?)
  /// It took effect.
  case applied(Receipt)
  /// It was rejected.
  case rejected(Receipt)
  /// It waits for approval.
  case held(Receipt)
}

extension Store {
  /// What the deletion of nodes would delete as well, and what would deny it. It writes nothing.
  public func plan<each M: Model>(_ ids: repeat ID<each M>) async throws(AskError) -> DeletionPlan {
    let reply = try await ask("Plan", ["nodes": .array(names(repeat each ids))])
    guard let plan = reply["plan"] else { throw .unreadable("a plan without a plan") }
    return DeletionPlan(
      deleted: (plan["deleted"]?.array ?? []).compactMap { NodeName($0) },
      deletedCount: plan["deletedCount"]?.int ?? 0,
      denied: (plan["denied"]?.array ?? []).compactMap { Reason($0) },
      isHeld: plan["held"]?.bool ?? false)
  }

  /// Why a node exists, or why and when it was deleted.
  public func why<M: Model>(_ id: ID<M>) async throws(AskError) -> Explanation {
    let reply = try await ask("Why", ["node": .string(NodeName(id).json.text)])
    guard let why = reply["why"], let state = why["state"]?.string.flatMap(Explanation.State.init)
    else { throw .unreadable("an explanation without a state") }
    let deleted = why["deleted"]
    return Explanation(
      state: state, holders: (why["holders"]?.array ?? []).compactMap { EdgeName($0) },
      batch: deleted?["batch"]?.int, author: deleted?["author"]?.string,
      chain: (deleted?["chain"]?.array ?? []).compactMap { Explanation.Step($0) })
  }

  /// Brings back what a write deleted, as it was. No rule runs. A write that deleted nothing has
  /// nothing to bring back.
  @discardableResult
  public func undo(_ receipt: Receipt) async throws(AskError) -> UndoResult {
    guard let batch = receipt.batch, receipt.deletedCount > 0 else {
      return UndoResult(restored: 0, leftCount: 0)
    }
    return try await undo(batch: batch)
  }

  /// Brings back what a batch deleted, as it was. No rule runs.
  @discardableResult
  public func undo(batch: Int) async throws(AskError) -> UndoResult {
    try await undo(["batch": .integer(Int64(batch))])
  }

  /// Brings back one node with what went because of it, out of whatever batches, and nothing else.
  @discardableResult
  public func undo<M: Model>(_ id: ID<M>) async throws(AskError) -> UndoResult {
    try await undo(["node": .string(NodeName(id).json.text)])
  }

  private func undo(_ subject: JSON) async throws(AskError) -> UndoResult {
    let reply = try await ask("Undo", subject)
    guard let undone = reply["undone"] else { throw .unreadable("an undo without a result") }
    return UndoResult(
      restored: undone["restored"]?.int ?? 0, leftCount: undone["leftCount"]?.int ?? 0)
  }

  /// What became of a change file, whichever way it came.
  ///
  /// - Parameters:
  ///   - id: The id of the change file.
  ///   - wait: Whether to wait while the file is in the queue.
  public func receipt(
    of id: UUIDv7, wait: Bool = false
  ) async throws(AskError) -> ChangeFileState {
    let reply = try await ask("Receipt", ["id": .string(id.description), "wait": .bool(wait)])
    let receipt = Receipt(reply["receipt"])
    switch (reply["state"]?.string, receipt) {
    case ("unknown", _): return .unknown
    case ("waiting", _): return .waiting(reply["waiting"]?.string)
    case ("applied", let receipt?): return .applied(receipt)
    case ("rejected", let receipt?): return .rejected(receipt)
    case ("held", let receipt?): return .held(receipt)
    default: throw .unreadable("an unknown state of a change file: \(reply.text)")
    }
  }

  /// Compares a model with the one that is served. What only the served one says, such as its
  /// schedules, is no difference.
  ///
  /// - Returns: A text for each difference; none if the models say the same.
  public func check(_ model: ModelFile) async throws(AskError) -> [String] {
    let served = try await ask("Model", [:])["model"] ?? .null
    do {
      return try model.differences(from: served)
    } catch {
      throw .unreadable(error.problems.map { "\($0)" }.joined(separator: "; "))
    }
  }

  // MARK: -

  func ask(_ method: String, _ parameters: JSON) async throws(AskError) -> JSON {
    do {
      return try await askOnce(method, parameters)
    } catch VarlinkClientError.disconnected {
      // The connection was kept from an earlier call, and the daemon was started again meanwhile.
      do {
        return try await askOnce(method, parameters)
      } catch {
        throw AskError(any: error)
      }
    } catch {
      throw AskError(any: error)
    }
  }

  private func askOnce(_ method: String, _ parameters: JSON) async throws -> JSON {
    try await callers.run(isBroken: { $0 as? VarlinkClientError != nil }) { client in
      try client.call(method, parameters)
    }
  }

  func names<each M: Model>(_ ids: repeat ID<each M>) -> [JSON] {
    var names: [JSON] = []
    for id in repeat each ids { names.append(.string(NodeName(id).json.text)) }
    return names
  }
}

extension AskError {
  init(any error: any Error) {
    self = (error as? VarlinkClientError).map { AskError($0) } ?? .unavailable("\(error)")
  }
}

extension Explanation.Step {
  fileprivate init?(_ json: JSON) {
    guard let node = EdgeEnd(json["node"]) else { return nil }
    self.node = node
    edge = EdgeName(json["edge"])
    rule = json["rule"]?.string
  }
}
