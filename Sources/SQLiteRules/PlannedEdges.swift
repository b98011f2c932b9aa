internal import CascadeModel
package import CascadeSQLite
package import SQLiteTables

/// Counts the edges that a sweep would remove with the nodes in `temp.gone`, as the sweep itself
/// counts (`Removal.swift`).
extension Connection {
  package func edgesOfGone(
    _ binding: Binding, _ numbers: NumberedTables, _ slice: Slice
  ) throws(SQLiteError) -> Int {
    var kinds = [LosingEdges.all(of: slice).map { $0.identities(.first) }]
    var joins: [String: [String]] = [:]
    for relation in binding.edgeRelations {
      if let (table, ends) = binding.joinRowsWithoutNodes(of: relation) {
        joins[table.name, default: []] += ends.flatMap {
          table.joinRows($0.end, other: $0.other, slice, numbers, .first)
        }
      } else if relation.rules.contains(.nullifySourceIfDestinationDeleted),
        let table = relation.source.table
      {
        kinds.append(
          relation.losingRows(of: table, numbers.forms(of: relation.destination), numbers, .first))
      }
    }
    var count: Int64 = 0
    for rows in kinds + joins.values {
      let rows = rows.joined(separator: " UNION ")
      count += try integer(generated: "SELECT count(*) FROM (\(rows))", slice.bound) ?? 0
    }
    return Int(count)
  }
}
