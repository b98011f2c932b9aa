package import CascadeModel

/// What a deletion would delete as well, and what would deny it. Nothing is written.
package struct Plan: Sendable {
  /// The nodes, each with its reason. The nodes whose deletion was asked for have none.
  package let steps: [Step]
  package let deletedCount: Int
  package let byCollection: [String: Int]
  package let byRule: [String: Int]
  package var denials: [Reason]
  /// Files that would lose their last edge.
  package var files: Int
  /// For a sweep: edges that would be removed, including join rows and nulled references.
  package var edgesRemoved = 0
  /// Batches whose trash would be deleted.
  package var batchesToDelete = 0
  /// Whether it deletes more than the hold limit allows without approval.
  package var isOverLimit: Bool

  /// A node, and the rule and the edge by which another node's deletion deletes it.
  package struct Step: Sendable {
    package let node: Node
    package let edge: Edge?
    package let rule: String?

    package init(node: Node, edge: Edge?, rule: String?) {
      self.node = node
      self.edge = edge
      self.rule = rule
    }
  }

  package init(
    steps: [Step], deletedCount: Int, byCollection: [String: Int], byRule: [String: Int],
    denials: [Reason], files: Int, edgesRemoved: Int = 0, batchesToDelete: Int = 0,
    isOverLimit: Bool
  ) {
    self.steps = steps
    self.deletedCount = deletedCount
    self.byCollection = byCollection
    self.byRule = byRule
    self.denials = denials
    self.files = files
    self.edgesRemoved = edgesRemoved
    self.batchesToDelete = batchesToDelete
    self.isOverLimit = isOverLimit
  }
}
