package import CascadeModel

/// The result of a fetched property.
package struct Fetched: Sendable {
  /// In the property's order.
  package let nodes: [StoredNode]
  /// Whether the nodes were found earlier, and no commit has changed that store since.
  package let isCached: Bool

  package init(nodes: [StoredNode], isCached: Bool) {
    self.nodes = nodes
    self.isCached = isCached
  }
}

/// Why a fetched property has no value.
package enum FetchError: Error, CustomStringConvertible {
  case noSuchNode(Node)
  case noSuchProperty(String)
  /// What the model says cannot be evaluated in this store. Another attempt would end the same way.
  case unusable(String)
  /// A later attempt may succeed.
  case unavailable(String)

  package var description: String {
    switch self {
    case .noSuchNode(let node): "there is no node \(node)"
    case .noSuchProperty(let text), .unusable(let text), .unavailable(let text): text
    }
  }
}
