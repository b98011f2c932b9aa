internal import CascadeModel
internal import CascadePostgres
package import PostgresTables

/// Nodes of a table to which one relation leads, and from which nothing follows, only have to be
/// counted. They are most of what goes.
extension Closure {
  /// Whether the sources of a relation are such nodes.
  func isLeaf(_ relation: EdgeRelation) -> Bool {
    let table = relation.source
    let others = binding.relations.filter {
      $0.number != relation.number
        && ($0.source.number == table.number || $0.destination.number == table.number)
        && ($0.join != nil || !$0.rules.isDisjoint(with: .deciding)
          || binding.mayKeepDestination($0) || binding.mayKeepSource($0))
    }
    let hasFiles = binding.files.contains { $0.source.number == table.number }
    return relation.columns != nil && relation.alternatives.isEmpty && !hasFiles
      && relation.destination.number != table.number
      && relation.rules.isDisjoint(with: .deciding.subtracting(.deleteSourceIfDestinationDeleted))
      && relation.rules.contains(.deleteSourceIfDestinationDeleted) && others.isEmpty
      && !binding.mayKeepDestination(relation) && !isJournaled(.widowed, relation)
  }

  /// Which leaves `s` of a relation would go, with the node `g` by which they do.
  package func leaves(of relation: EdgeRelation) -> String {
    let table = relation.source
    return """
      FROM \(scratch[.gone]) g, \(relation.edges())
      WHERE g.collection = \(relation.destination.number) AND \(relation.leads(toText: "g.key"))
      AND \(stays(table, "s")) AND NOT \(leases.holds(table, table.key.text("s")))
      """
  }

  mutating func countLeaves() throws {
    for relation in binding.relations(with: .deleteSourceIfDestinationDeleted)
    where counts[relation.destination.number] != nil && isLeaf(relation) {
      let count = try Int(db.run("SELECT count(*) \(leaves(of: relation))").integer ?? 0)
      if count > 0 { leaves.append((relation, count)) }
    }
  }
}

extension Rules {
  /// The rules by which nodes go or stay.
  fileprivate static let deciding: Rules = [
    .deleteSourceIfDestinationDeleted, .deleteDestinationIfSourceDeleted,
    .deleteSourceIfAllDestinationsDeleted, .deleteDestinationIfAllSourcesDeleted,
    .denyDestinationDeletion, .denySourceDeletion,
  ]
}
