package import CascadeModel
/// What an undo brought back, and what it did not.
package struct UndoResult: Sendable {
  package let batch: Int64
  /// Who asked for it, maybe before a restart.
  package let author: String
  /// Nodes.
  package internal(set) var restored = 0
  package internal(set) var byCollection: [String: Int] = [:]
  package internal(set) var edges = 0
  /// References of what had survived, as they were before they were nulled.
  package internal(set) var references = 0
  /// Rows of the application that are no nodes, those of join tables for one.
  package internal(set) var rows = 0
  package internal(set) var files = 0
  /// The first of what was left where it is; `leftCount` counts it all. It stays in the trash.
  package internal(set) var left: [Left] = []
  package internal(set) var leftCount = 0
  /// The first references of restored rows to what is not there: a sweep would follow them again.
  package internal(set) var dangling: [Edge] = []
  package internal(set) var danglingCount = 0

  package struct Left: Sendable {
    /// Nil for what is no node.
    package let node: Node?
    package let what: String
    package let reason: String
  }

  init(batch: Int64, author: String) {
    self.batch = batch
    self.author = author
  }

  /// All of it is where it was, in the trash.
  var broughtNothing: Bool {
    leftCount > 0 && restored + edges + references + rows + files == 0
  }

  /// A reply has to fit into a message.
  static let mostListed = 1_000

  /// One that was counted as back.
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
package enum NoUndo: Error, Hashable, Sendable {
  case unknown
  case undone(at: Int64, by: String)
  /// Nothing of it is kept, or not any more.
  case forgotten
}
