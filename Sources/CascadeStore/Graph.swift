package import CascadeModel

/// The surroundings of a node, and what its deletion would do to them.
package struct Graph: Sendable {
  package let vertices: [Vertex]
  package let arrows: [Arrow]
  /// What would deny the deletion, also outside of the graph.
  package let denials: [Reason]

  package struct Vertex: Sendable {
    package let end: Destination
    package let depth: Int
    package var isDeleted = false
    /// The number of its edges that lead out of the graph.
    package var hiddenEdgeCount = 0

    package init(end: Destination, depth: Int, isDeleted: Bool = false, hiddenEdgeCount: Int = 0) {
      self.end = end
      self.depth = depth
      self.isDeleted = isDeleted
      self.hiddenEdgeCount = hiddenEdgeCount
    }
  }

  package struct Arrow: Sendable {
    package let edge: Edge
    package let denies: Bool

    package init(edge: Edge, denies: Bool) {
      self.edge = edge
      self.denies = denies
    }
  }

  package init(vertices: [Vertex], arrows: [Arrow], denials: [Reason]) {
    self.vertices = vertices
    self.arrows = arrows
    self.denials = denials
  }
}
