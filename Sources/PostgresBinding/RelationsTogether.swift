package import CascadeModel

/// What several relations say together.
extension Binding {
  /// For a sweep that leaves some rules to one of another kind.
  package func leaving(_ rules: Rules) -> Binding {
    var binding = self
    for index in relations.indices { binding.relations[index].leave(rules) }
    return binding
  }

  /// Whether it is of a sweep that leaves some.
  package var leavesRules: Bool { relations.contains { !$0.left.isEmpty } }

  /// The relations whose edges count together, seen from their destination.
  package func alikeAtDestination(_ relation: EdgeRelation) -> [EdgeRelation] {
    relations(to: relation.destination).filter { $0.name == relation.name && !$0.isTie }
  }

  /// The same, seen from their source.
  package func alikeAtSource(_ relation: EdgeRelation) -> [EdgeRelation] {
    relations(from: relation.source).filter { $0.name == relation.name && !$0.isTie }
  }

  /// Whether the row `s` has an edge of the relation's name to a node that is there.
  package func hasDestination(_ relation: EdgeRelation) -> String {
    "(" + alikeAtSource(relation).map { $0.hasDestination() }.joined(separator: " OR ") + ")"
  }

  /// Whether an edge of the relation's name leads to the row `t`.
  package func hasSource(_ relation: EdgeRelation) -> String {
    "(" + alikeAtDestination(relation).map { $0.hasSource() }.joined(separator: " OR ") + ")"
  }

  /// Other places of the edges of a relation, apart from stored edges with other rules.
  package func otherPlaces(of relation: EdgeRelation) -> [EdgeRelation] {
    relations(from: relation.source).filter {
      $0.name == relation.name && $0.destination.number == relation.destination.number
        && $0.number != relation.number && !$0.isTie && !($0.isStored && relation.isStored)
    }
  }

  /// Whether the edge of a relation that a row of the journal tells of is there, also in another place of
  /// declared edges: a change may move it. A manual edge is another edge.
  package func hasEdge(_ relation: EdgeRelation, lostIn row: String) -> String {
    let others = otherPlaces(of: relation).map {
      let isIt = $0.isStored ? "e.is_declared" : "\(row).is_manual IS NOT TRUE"
      return $0.hasEdge("\(row).key", "\(row).other", where: isIt)
    }
    return "(\(([relation.hasEdge(lostIn: row)] + others).joined(separator: " OR ")))"
  }

  /// Whether an edge of the relation may keep its destination: it denies, or it counts for a rule,
  /// or for the search of nodes that nothing refers to, whatever its name.
  package func mayKeepDestination(_ relation: EdgeRelation) -> Bool {
    if relation.isTie { return false }
    return relation.rules.contains(.denyDestinationDeletion)
      || relations(to: relation.destination).contains {
        $0.rules.contains(.deleteDestinationIfAllSourcesDeleted)
      }
  }

  /// The same for its source.
  package func mayKeepSource(_ relation: EdgeRelation) -> Bool {
    if relation.isTie { return false }
    return relation.rules.contains(.denySourceDeletion)
      || relations(from: relation.source).contains {
        $0.rules.contains(.deleteSourceIfAllDestinationsDeleted)
      }
  }
}
