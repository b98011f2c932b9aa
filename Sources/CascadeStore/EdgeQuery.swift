package import CascadeModel

/// Selects edges by any combination of name, source and destination; without any, all edges.
package struct EdgeQuery: Sendable {
  package var name: String?
  package var from: Node?
  package var to: Destination?

  package init(name: String? = nil, from: Node? = nil, to: Destination? = nil) {
    self.name = name
    self.from = from
    self.to = to
  }
}

/// The position of an edge in the order of its query; the next page begins after it.
package struct EdgeCursor: Sendable {
  /// Stored edges come first, then each relation in the model's order.
  package let listing: Int
  /// A position that only the engine reads; nil at the beginning of the listing.
  package let position: (any Sendable)?

  package init(listing: Int, position: (any Sendable)? = nil) {
    self.listing = listing
    self.position = position
  }
}

package struct EdgePage: Sendable {
  package let edges: [Edge]
  /// Nil at the end of the listing.
  package let next: EdgeCursor?

  package init(edges: [Edge], next: EdgeCursor?) {
    self.edges = edges
    self.next = next
  }
}
