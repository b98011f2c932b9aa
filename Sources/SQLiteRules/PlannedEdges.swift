internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding

/// Counts the edges that a sweep would remove with the nodes in `temp.gone`, as the sweep itself
/// counts (`Removal.swift`).
extension Connection {
  package func edgesOfGone(
    _ binding: Binding, _ numbers: NumberedTables, _ slice: Slice
  ) throws(SQLiteError) -> Int {
    var kinds = [LosingEdges.all(of: slice).map(\.identities)]
    var joins: [String: [Query]] = [:]
    for relation in binding.edgeRelations {
      if let (table, ends) = binding.joinRowsWithoutNodes(of: relation) {
        joins[table.name, default: []] += ends.flatMap {
          table.joinRows(
            of: relation, $0.end, other: $0.other, slice, numbers, leavesLater: slice.high != .max)
        }
      } else if relation.rules.contains(.nullifySourceIfDestinationDeleted),
        let table = relation.source.table
      {
        let forms = numbers.forms(of: relation.destination)
        kinds.append(relation.losingRows(of: table, forms, in: slice, numbers))
      }
    }
    var count: Int64 = 0
    for rows in kinds + joins.values {
      count += try integer("SELECT count(*) FROM (\(rows.joined(separator: " UNION ")))") ?? 0
    }
    return Int(count)
  }
}
