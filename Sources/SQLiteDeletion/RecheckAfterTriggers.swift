internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules

/// Checks after a deletion whether a trigger of the application wrote rows that hold a deleted
/// node: an archive, for example. What triggers do cannot be known before the deletion.
extension Writer {
  /// A node that is held in this way stays, and D is found again without it.
  func recheckAfterTriggers(_ slice: Slice, _ ends: NodeCounts) throws {
    if !binding.hasTriggers || !ends.has(.deleteDestinationIfAllSourcesDeleted) { return }
    let relations = binding.examinedRelations.filter {
      $0.rules.contains(.deleteDestinationIfAllSourcesDeleted)
        && $0.referringTable.map(binding.mayBeWrittenByTrigger) ?? false
    }
    let held = try relations.flatMap { try nodesHeldAfterTriggers(by: $0, slice) }
    if !held.isEmpty { throw ApplicationRefusal(nodes: held) }
  }

  /// Where the application has triggers, all rows have their keys in `temp.known`, however they are
  /// numbered.
  private func nodesHeldAfterTriggers(
    by relation: EdgeRelation, _ slice: Slice
  ) throws -> [Int64] {
    let destination = relation.destination
    let isHeld =
      if case .json = relation.form {
        // The lists are read once for all nodes.
        destination.keyEqualsReference(
          "m.key", byOneOf: relation.reference.value,
          """
          FROM \(relation.source.rows) AS s \(relation.references)
          WHERE \(relation.isEdge) AND \(relation.source.isNode("s"))
          """)
      } else {
        "EXISTS (SELECT 1 FROM \(relation.sources(of: "m")))"
      }
    return try db.all(
      generated: """
        SELECT g.id FROM temp.gone AS g
        CROSS JOIN \(destination.nodes) AS m ON m.id = g.id AND m.collection = \(destination.id)
        WHERE g.seq > ?1 AND g.seq <= ?2 AND g.rule = \(Rules.deleteDestinationIfAllSourcesDeleted.bits) AND g.name = \(relation.nameId) AND \(isHeld)
        """, slice.bound
    ) { $0.integer(0) }
  }
}
