internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteRules
internal import SQLiteDeletion
internal import SQLiteTables

/// Lists the references of restored rows to what the application deleted itself, which is not ours
/// to bring back.
extension Undo {
  mutating func findDangling() throws {
    for kept in layouts where kept.layout.kind == .row && kept.remaining > 0 {
      for relation in writer.binding.examinedRelations where relation.mayDangle(kept) {
        try findDangling(relation, kept)
      }
    }
  }

  private mutating func findDangling(_ relation: EdgeRelation, _ kept: NumberedLayout) throws {
    let rows = relation.missing(kept)
    let room = max(0, UndoResult.mostListed - result.dangling.count)
    result.dangling += try writer.db.all(
      generated: "SELECT \(relation.source.key("s")), \(relation.reference.value) \(rows) LIMIT ?2",
      [.integer(kept.number), .integer(Int64(room))]
    ) { row in
      Edge(
        name: relation.name,
        source: Node(kept.collection, row.key(0, in: kept.collection, writer.model)),
        destination: row.destination(1, in: relation.destination.collection, writer.model),
        rules: relation.rules, origin: .declared, kind: relation.kind)
    }
    result.danglingCount += Int(
      try writer.db.integer(
        generated: "SELECT count(*) \(rows)", [.integer(kept.number)]) ?? 0)
  }
}

extension EdgeRelation {
  /// Whether rows of this layout hold references in this relation, and a sweep would act on those
  /// that lead to nothing.
  fileprivate func mayDangle(_ kept: Undo.NumberedLayout) -> Bool {
    if case .join = form { return false }
    return reactsToMissingDestination && mayStandForNothing && source.collection == kept.collection
      && source.table?.name == kept.layout.subject
  }

  /// A query: the references of restored rows that lead to nothing.
  fileprivate func missing(_ kept: Undo.NumberedLayout) -> String {
    """
    FROM temp.restored AS r CROSS JOIN \(source.rows) AS s ON \(source.hasKey("s", "r.key"))
    \(references)
    WHERE r.layout = ?1 AND \(isEdge) AND NOT \(destination.hasRow(withKey: reference))
    AND \(leadsNowhereElse) AND \(standsForNothing)
    """
  }
}
