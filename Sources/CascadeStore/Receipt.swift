package import CascadeModel

/// The result of a transaction.
package struct Receipt: Sendable {
  package enum Outcome: String, Sendable {
    case applied, duplicate, rejected, held
  }

  package var id: String
  package var outcome: Outcome
  package var author: String?
  package var batch: Int64?
  /// The first of the deleted nodes; `deletedCount` counts them all.
  package var deleted: [Node] = []
  package var deletedCount = 0
  /// The first of the nodes that went because an edge that the transaction itself added leads
  /// nowhere.
  package var deletedOwn: [Node] = []
  /// How many nodes each rule deleted. Nodes that no rule deleted are not counted.
  package var byRule: [String: Int] = [:]
  package var edgesAdded = 0
  package var edgesRemoved = 0
  package var notices = 0
  /// Files that lost their last edge.
  package var files = 0
  /// Deletes, patches and unlinks of nodes or edges that did not exist.
  package var skippedChanges = 0
  package var reasons: [Reason] = []
  /// Whether it brings back what an archive has, as soon as it is committed; and what that did.
  package var isRestoring = false
  package var restored: UndoResult?
  /// The number to give to `approve`, if the transaction is held.
  package var plan: Int64?

  package init(id: String, outcome: Outcome) {
    self.id = id
    self.outcome = outcome
  }

  /// A receipt lists at most this many nodes: it has to fit into a message.
  package static let mostListed = 10_000
}

/// One reason why a transaction was not applied.
package struct Reason: Error, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The bytes are not a change file, or break a rule of its form.
    case malformed
    /// A change names something that does not exist or that the model does not allow.
    case invalid
    /// The id was used before, for other content.
    case idReused
    /// The violations of the model's conditions.
    case missingMandatory, tooFew, tooMany, notUnique, denied
    /// A node that would go is protected.
    case protected
    /// A node has other values than a change expects.
    case changed
    /// A write would delete the very node that it writes.
    case deletesItself
    /// More nodes than the hold limit allows would be deleted.
    case overLimit
  }

  package var code: Code
  package var message: String
  package var node: Node?
  package var edge: Edge?
  /// Whether the reason is that the node, which exists, must stay.
  package var keepsNode: Bool
  /// Where in the file: the change, and its line and column if they are known.
  package var path: String?
  package var line: Int?
  package var column: Int?

  package init(
    _ code: Code, _ message: String, node: Node? = nil, edge: Edge? = nil,
    keepsNode: Bool = false, path: String? = nil
  ) {
    self.code = code
    self.message = message
    self.node = node
    self.edge = edge
    self.keepsNode = keepsNode
    self.path = path
  }

  package var description: String { message }
}

extension Reason {
  package init(_ held: HeldPlan) {
    let collections = held.byCollection.sorted { $0.key < $1.key }
      .map { "\($0.value) of \"\($0.key)\"" }.joined(separator: ", ")
    self.init(
      .overLimit,
      "\(held.deletedCount.counted("node", "nodes")) would be deleted, "
        + "which is over the hold limit: \(collections)")
  }
}

extension [Reason] {
  package var text: String { map(\.message).joined(separator: "; ") }
}

/// A transaction is rejected as a whole.
package struct Rejection: Error, CustomStringConvertible {
  package var reasons: [Reason]

  package var description: String { reasons.text }

  package init(_ reasons: [Reason]) { self.reasons = reasons }

  /// Adds the path of the change to each reason.
  package func placed(_ path: String) -> Rejection {
    Rejection(
      reasons.map { reason in
        var reason = reason
        reason.path = path
        return reason
      })
  }

  package init(_ code: Reason.Code, _ message: String, node: Node? = nil) {
    reasons = [Reason(code, message, node: node)]
  }
}

/// A transaction is rejected because a trigger of the application rolled back. Everything else that
/// was to be committed with it is rolled back too. Changes that followed would be committed by
/// themselves.
package struct RejectionWithRollback: Error, CustomStringConvertible {
  package let rejection: Rejection

  package init(rejection: Rejection) {
    self.rejection = rejection
  }

  package var description: String { rejection.description }
}
