package import CascadeModel

/// A node as it is stored.
package struct StoredNode: Sendable {
  package let node: Node
  package let exists: Bool
  package let type: String?
  package let value: JSONText?

  package init(node: Node, exists: Bool, type: String?, value: JSONText?) {
    self.node = node
    self.exists = exists
    self.type = type
    self.value = value
  }
}
