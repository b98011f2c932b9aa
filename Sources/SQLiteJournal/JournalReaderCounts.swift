internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

/// A shorter way to read the journal if causes of deletions are not reported. A counting rule only
/// needs to know whether an edge remains at the end of a lost one, so the journal need not be
/// examined row by row.
extension JournalReader {
  /// Relations of whose lost edges only the destination matters. The destination must be known by
  /// its row, so no part of a sweep may give a name to any row of its table.
  func relationsCountedByRow(_ db: borrowing Connection) throws -> Set<EdgeRelation> {
    let watched = binding.edgeRelations.filter(\.isWatched)
    let counted = watched.filter { relation in
      relation.mattersOnlyForCount && !binding.hasNodesAsRows(relation)
        && !watched.contains {
          $0.source == relation.destination
            || $0.destination == relation.destination && !$0.mattersOnlyForCount
        }
    }
    if counted.isEmpty { return [] }
    if try db.integer("SELECT 1 FROM cascade_candidate WHERE rule LIMIT 1") != nil { return [] }
    let numbers = try db.numbers(binding)
    return Set(counted.filter { numbers.isEachByRow(in: $0.destination) })
  }

  /// Whether the deletion of a node of this table has consequences, once its edges are handled.
  func deletionHasConsequences(_ table: NodeTable, _ db: borrowing Connection) throws -> Bool {
    if binding.examinedRelations.contains(where: { $0.isAffectedByDeletion(table) }) { return true }
    return try db.integer(
      """
      SELECT 1 WHERE EXISTS (SELECT 1 FROM cascade_node WHERE collection = ?1)
      OR EXISTS (SELECT 1 FROM cascade_notice WHERE receiver_collection = ?1)
      """, .integer(table.id)) != nil
  }

  /// Finds the destinations at which no edge of the relation is left. While one is left, the rule
  /// does not apply; when that edge is removed too, it is found by its own journal row. If none is
  /// left, the edges in the journal are gone, whatever happened to their rows.
  func findDestinationsWithoutEdges(
    _ db: borrowing Connection, _ relation: EdgeRelation, _ old: JournaledEdge, _ rows: [Value]
  ) throws {
    let destination = relation.destination
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.lost_edges
        SELECT 0, \(relation.nameId), \(destination.numberBase ?? 0) + \(destination.row("d")),
          \(Origin.declared.rawValue), \(relation.rules.rawValue), 0, \(Removal.sourceDeleted.code)
        FROM (
          SELECT \(old.reference) AS key FROM main.cascade_journal AS o \(old.elementsJoin)
          WHERE o.what = ?1 AND o.seq > ?2 AND o.seq <= ?3 AND o.key IS NOT NULL AND \(old.isEdge)
          GROUP BY 1
        ) AS m CROSS JOIN \(destination.rows) AS d ON \(destination.hasKey("d", "m.key"))
        \(relation.noEdgeIsLeft)
        """, rows)
  }
}

extension EdgeRelation {
  /// Whether the loss of an edge matters only for the count of the remaining edges.
  fileprivate var mattersOnlyForCount: Bool {
    let others: Rules = [
      .notifyIfSourceDeleted, .notifyIfDestinationDeleted, .deleteSourceIfDestinationDeleted,
      .deleteDestinationIfSourceDeleted, .deleteSourceIfAllDestinationsDeleted,
    ]
    return rules.contains(.deleteDestinationIfAllSourcesDeleted) && rules.isDisjoint(with: others)
      && destination.numberBase != nil && !losesEdgesByForeignKey
  }

  /// Whether the deletion of a destination has consequences, or a join row outlives one of its
  /// ends.
  fileprivate func isAffectedByDeletion(_ table: NodeTable) -> Bool {
    let ofDestination: Rules = [
      .notifyIfDestinationDeleted, .deleteSourceIfDestinationDeleted,
      .deleteSourceIfAllDestinationsDeleted, .nullifySourceIfDestinationDeleted,
    ]
    if isInJoinTable { return source == table || destination == table }
    return destination == table
      && (!rules.isDisjoint(with: ofDestination) || losesEdgesByForeignKey)
  }

  /// A condition that no edge is left at the destination. It is empty for lists: no index finds
  /// their elements, so the count decides later.
  fileprivate var noEdgeIsLeft: String {
    if case .json = form { return "" }
    return "WHERE NOT EXISTS (SELECT 1 \(sources(of: "m")))"
  }
}
