package import CascadeModel

/// A durable message for the owner of a surviving node.
package struct Notice: Sendable {
  package let id: Int64
  package let node: Node
  package let edge: Edge
  package let reason: String
  package let receiverDeleted: Bool
  package let batch: Int64

  package init(
    id: Int64, node: Node, edge: Edge, reason: String, receiverDeleted: Bool, batch: Int64
  ) {
    self.id = id
    self.node = node
    self.edge = edge
    self.reason = reason
    self.receiverDeleted = receiverDeleted
    self.batch = batch
  }
}
