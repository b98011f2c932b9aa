package import CascadeModel

/// A finding of `check` about the setup of a store: the rules may be slow, or not see everything.
package struct SetupFinding: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// `attach --create-indexes` creates it.
    case missingIndex
    /// A trigger of Cascade's is missing, or is not what it should be.
    case trigger
    /// A part of the model that the tables do not allow.
    case binding
    /// A key by which REPLACE displaces rows without notice.
    case hiddenKey
    case replaceIgnored
    /// A foreign key that the application declared and that some rows violate.
    case foreignKey
    case missingKey
    case affinity
    /// Rows that the daemon cannot delete, because the application alone defines what that needs.
    case cannotDelete
    /// Rows that could never come back, for the same reason.
    case cannotUndo
    /// Rows that come back without triggers or CHECK constraints, for the same reason.
    case undoneWithout
    /// The application chose another journal mode than WAL.
    case journalMode
    case library
    /// The age of rows cannot be told, or seems to be wrong.
    case expires
    /// Rows of a collection cannot be marked.
    case softDelete
  }

  package let kind: Kind
  package let table: String?
  package let message: String

  package init(kind: Kind, table: String?, message: String) {
    self.kind = kind
    self.table = table
    self.message = message
  }
}

/// Something in a store that is not as the model demands.
package struct Finding: Sendable {
  /// `dangling`, or the code of a violation of the model's conditions.
  package let kind: String
  package let message: String
  package let node: Node?
  package let edge: Edge?
  package let file: Destination?

  package init(
    kind: String, message: String, node: Node? = nil, edge: Edge? = nil, file: Destination? = nil
  ) {
    self.kind = kind
    self.message = message
    self.node = node
    self.edge = edge
    self.file = file
  }
}

/// The first findings of each check; `total` counts them all.
package struct Findings: Sendable {
  package var list: [Finding] = []
  package var total = 0

  package init() {}

  package mutating func add(_ finding: Finding, _ limit: Int) {
    if list.count < limit { list.append(finding) }
    total += 1
  }
}

extension Destination {
  /// The notation of messages: root and path.
  package var fileText: String {
    guard case .file(let root, let path) = self else { return json.text }
    return "\(root):\(path.printable)"
  }
}
