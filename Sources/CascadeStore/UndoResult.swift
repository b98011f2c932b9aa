package import CascadeModel

/// What an undo brought back, and what it left.
package struct UndoResult: Sendable {
  package let batch: Int64
  /// The user who asked for it, possibly before a restart.
  package let author: String
  /// Number of nodes.
  package var restored = 0
  package var byCollection: [String: Int] = [:]
  package var edges = 0
  /// References of rows and objects that were not deleted, as they were before nulling.
  package var references = 0
  /// Rows of the application that are not nodes, for instance those of join tables.
  package var rows = 0
  package var files = 0
  /// The first of the things that were left in the trash; `leftCount` counts them all.
  package var left: [Left] = []
  package var leftCount = 0
  /// The first references of restored rows to what does not exist. A sweep would apply their rules
  /// again.
  package var dangling: [Edge] = []
  package var danglingCount = 0

  /// What was left out for rows that came back, such as the application's triggers; each remark once.
  package private(set) var remarks: [String] = []

  package struct Left: Sendable {
    /// Nil for what is not a node.
    package let node: Node?
    package let what: String
    package let reason: String

    package init(node: Node?, what: String, reason: String) {
      (self.node, self.what, self.reason) = (node, what, reason)
    }
  }

  package init(batch: Int64, author: String) {
    self.batch = batch
    self.author = author
  }

  /// Whether everything is still in the trash.
  package var restoredNothing: Bool {
    leftCount > 0 && restored + edges + references + rows + files == 0
  }

  /// A reply lists at most this many: it has to fit into a message.
  package static let mostListed = 1_000

  package mutating func remark(_ text: String) {
    if !remarks.contains(text) { remarks.append(text) }
  }

  /// What another batch had of the same node.
  package mutating func add(_ other: UndoResult) {
    restored += other.restored
    byCollection.merge(other.byCollection, uniquingKeysWith: +)
    edges += other.edges
    references += other.references
    rows += other.rows
    files += other.files
    left += other.left.prefix(UndoResult.mostListed - left.count)
    leftCount += other.leftCount
    dangling += other.dangling.prefix(UndoResult.mostListed - dangling.count)
    danglingCount += other.danglingCount
    for text in other.remarks { remark(text) }
  }

  /// Leaves a file that was already counted as restored.
  package mutating func leave(_ file: Destination, because reason: String) {
    files -= 1
    leave(nil, file.json.text, because: reason)
  }

  package mutating func leave(_ node: Node?, _ what: String, because reason: String) {
    leftCount += 1
    if left.count < UndoResult.mostListed {
      left.append(Left(node: node, what: what, reason: reason))
    }
  }
}

/// Why a batch cannot be undone at all.
package enum UndoUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
  case unknown
  case undone(at: Int64, by: String)
  /// Nothing of it is in the trash, or no longer.
  case notInTrash
  case nodeNotInTrash(Node)

  package var description: String {
    switch self {
    case .unknown: "there is no such batch"
    case .undone(_, let by): "the batch was undone by \(by)"
    case .notInTrash: "the trash of the batch was deleted"
    case .nodeNotInTrash(let node): "\(node) is not in the trash"
    }
  }
}

/// An undo that was stopped and cannot continue.
package struct UndoFailed: Error, CustomStringConvertible {
  package let batch: Int64
  package let reason: String
  package var description: String { "the undo of batch \(batch) cannot continue: \(reason)" }

  package init(batch: Int64, reason: String) {
    self.batch = batch
    self.reason = reason
  }
}
