package import CascadeModel

/// What a walk over a list of edges does not reach from some nodes: what the sweep from the roots
/// of a model means.
package enum Unreached {
  private static let backwards: Rules = [
    .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
  ]

  /// `ties` are join rows, each with a node by which it lives; they are no path between these.
  package static func nodes(
    _ nodes: Set<Node>, from roots: Set<Node>, by edges: [Edge], ties: [(row: Node, end: Node)] = []
  ) -> Set<Node> {
    var reached = roots
    var count = -1
    while count != reached.count {
      count = reached.count
      for tie in ties where reached.contains(tie.end) { reached.insert(tie.row) }
      for edge in edges {
        guard let destination = edge.destination.node else { continue }
        if reached.contains(edge.source) { reached.insert(destination) }
        if reached.contains(destination) && !edge.rules.isDisjoint(with: backwards) {
          reached.insert(edge.source)
        }
      }
    }
    return nodes.subtracting(reached)
  }

  /// Whether edges of these rules lead back to their sources.
  package static func leadsBack(_ rules: Rules) -> Bool { !rules.isDisjoint(with: backwards) }
}
