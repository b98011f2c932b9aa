/// Why a write has no effect, or is not known to have one.
public enum WriteError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A rule denies a deletion. Nothing took effect.
  case denied([Reason])
  /// The changes are not valid. Nothing took effect.
  case rejected([Reason])
  /// A node has changed since it was read, and the write demands that it has not. Nothing took effect.
  case changed(NodeName)
  /// A write would delete the very node that it writes: the reference leads nowhere, and its rule
  /// deletes what refers to nothing. Nothing took effect. `mayDeleteItself: true` allows it.
  case deletesItself(EdgeName)
  /// There is no such node to update. Nothing was written.
  case missing(NodeName)
  /// The changes would delete so much that they wait for approval, under the number of a plan.
  case held(plan: Int, Receipt)
  /// The changes are in the queue and take effect later; `why` says what they wait for, if that is
  /// known. ``Store/receipt(of:wait:)`` tells what became of them.
  case pending(id: UUIDv7, why: String)
  /// The daemon is away. If the changes are queued, they take effect when it is back; otherwise
  /// nothing was written.
  case unavailable(why: String, isQueued: Bool)

  /// The reason in words.
  public var description: String {
    switch self {
    case .denied(let reasons), .rejected(let reasons):
      reasons.map(\.message).joined(separator: "; ")
    case .changed(let node): "\(node) has changed since it was read"
    case .deletesItself(let edge):
      "\(edge.source) would delete itself: \(edge.name) leads to \(edge.destination), which is not there"
    case .missing(let node): "there is no \(node)"
    case .held(let plan, let receipt):
      "held as plan \(plan): it would delete \(receipt.deletedCount) nodes"
    case .pending(let id, let why): "\(id) waits in the queue: \(why)"
    case .unavailable(let why, let isQueued): isQueued ? "\(why); it is in the queue" : why
    }
  }
}

extension Receipt {
  private var rejection: WriteError {
    if reasons.contains(where: { $0.code == .denied }) { return .denied(reasons) }
    for reason in reasons {
      if reason.code == .changed, let node = reason.node { return .changed(node) }
      if reason.code == .deletesItself, let edge = reason.edge { return .deletesItself(edge) }
    }
    return .rejected(reasons)
  }

  /// The receipt of changes that took effect. Otherwise throws the reason.
  func checked() throws(WriteError) -> Receipt {
    switch outcome {
    case .applied, .duplicate: return self
    case .held: throw .held(plan: plan ?? 0, self)
    case .rejected: throw rejection
    }
  }
}
