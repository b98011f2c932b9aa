internal import CascadeModel
package import SQLiteBinding

/// What was given up with a rejected plan (`cascade_given_up`), and when that is over.
extension Binding {
  /// Each is a condition on a row `g`: its node is gone, its reference leads elsewhere, or what it led to is
  /// there again. A row of what is gone itself has that as its node, too.
  package var endsOfGivenUp: [String] {
    let keeping: Rules = [
      .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
      .nullifySourceIfDestinationDeleted,
    ]
    let keeps = "g.rule & \(keeping.rawValue)"
    let changed = edgeRelations.filter { !$0.leadsToFiles }.map { relation in
      """
      g.name = \(relation.nameId) AND g.collection = \(relation.source.id)
      AND g.via_collection = \(relation.destination.id) AND \(keeps)
      AND NOT EXISTS (\(relation.edge(fromKey: "g.key", toKey: "g.via_key")))
      """
    }
    let isOfItself = "g.via_collection IS g.collection AND g.via_key IS g.key"
    return changed
      + collections.values.flatMap { table in
        [
          "g.collection = \(table.id) AND \(table.hasNoRow(withKey: "g.key")) AND NOT (\(isOfItself))",
          """
          g.via_collection = \(table.id) AND (\(keeps) OR \(isOfItself))
          AND \(table.hasRow(withKey: "g.via_key"))
          """,
        ]
      }
  }
}
