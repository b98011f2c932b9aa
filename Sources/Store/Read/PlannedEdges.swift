internal import CascadeModel
internal import CascadeSQLite

/// Counts the edges that a sweep would remove with the nodes in `temp.gone`, as the sweep itself
/// counts (`Removal.swift`).
extension Connection {
  func edgesOfGone(
    _ binding: Binding, _ numbers: Numbers, _ slice: Slice
  ) throws(SQLiteError) -> Int {
    var kinds = [LosingEdges.all(of: slice).map { $0.identities(.first) }]
    var joins: [String: [String]] = [:]
    for place in binding.places {
      if let (table, ends) = binding.sideRows(of: place) {
        joins[table.name, default: []] += ends.flatMap {
          table.joinRows($0.end, other: $0.other, slice, numbers, .first)
        }
      } else if place.rules.contains(.nullifySourceIfDestinationDeleted),
        let table = place.source.table
      {
        kinds.append(
          place.losingRows(of: table, numbers.forms(of: place.destination), numbers, .first))
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
