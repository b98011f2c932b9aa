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
