/// One change of a transaction. An existing value is well-formed: rules and names are
/// valid, values are JSON.
///
/// `mayDeleteItself` says whether the node that it writes may go because an edge that it gives leads
/// nowhere; nil, if the file says it for all of its changes. `ifUnchanged` are values that the node
/// must have.
package enum Change: Hashable, Sendable {
  /// With `merge`, what the value does not give stays as it is.
  case put(
    Node, type: String?, value: JSONText?, edges: [DeclaredEdge]?, merge: Bool = false,
    mayDeleteItself: Bool? = nil)
  case patch(
    Node, set: [Member], unset: [String], ifUnchanged: [Member]? = nil,
    mayDeleteItself: Bool? = nil)
  case delete(Node, ifUnchanged: [Member]? = nil)
  case deleteAll(collection: String)
  case link(
    name: String, from: Node, to: Destination, rules: Rules?, mayDeleteItself: Bool? = nil)
  case unlink(name: String, from: Node, to: Destination, as: Removal)
  /// Makes these all edges of the name from the node that a link may add.
  case relink(
    name: String, from: Node, to: [Destination], rules: Rules?, mayDeleteItself: Bool? = nil)
  case flush
  /// What an archive has of something that was deleted, as it was.
  case restore(RestoredThing)
}

/// A line of an archive. What `kept` says is known to the engine that wrote it.
package struct RestoredThing: Hashable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// A row or an object; without a value, what it lost.
    case node(Node)
    /// A row that is no node, an edge, or a file.
    case other(JSON)
  }

  package let subject: Subject
  /// Of an object.
  package let type: String?
  /// Of a row, its columns; of an object, its value.
  package let value: JSONText?
  package let kept: JSON?

  package init(
    _ subject: Subject, type: String? = nil, value: JSONText? = nil, kept: JSON? = nil
  ) {
    (self.subject, self.type, self.value, self.kept) = (subject, type, value, kept)
  }
}

/// An edge in a node's own list. Without rules, the model's relationship supplies them.
package struct DeclaredEdge: Hashable, Sendable {
  package var name: String
  package var destination: Destination
  package var rules: Rules?

  package init(name: String, destination: Destination, rules: Rules?) {
    self.name = name
    self.destination = destination
    self.rules = rules
  }
}

/// What the removal of an edge counts as.
package enum Removal: String, Hashable, Sendable, CaseIterable {
  case sourceDeleted, destinationDeleted, edgeDeleted
}

/// A valid JSON value, with its text as written.
package struct JSONText: Hashable, Sendable {
  package let text: String
  package init(valid text: String) { self.text = text }
}

/// A member of a JSON object. Escapes in its name are resolved.
package struct Member: Hashable, Sendable {
  package let name: String
  package let value: JSONText

  package init(name: String, value: JSONText) {
    self.name = name
    self.value = value
  }
}
