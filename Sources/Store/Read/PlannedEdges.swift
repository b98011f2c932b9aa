internal import Model
internal import SQLite

/// What a sweep would take away with the nodes in `temp.gone`, counted as it counts (`Removal.swift`).
extension Connection {
  func edgesOfGone(
    _ binding: Binding, _ numbers: Numbers, _ slice: Slice
  ) throws(SQLiteError) -> Int {
    var kinds = [LosingEdges.all(of: slice).map { $0.identities(.first) }]
    var joins: [String: [String]] = [:]
    for place in binding.places {
      if case .join(let table, let from, let to) = place.form {
        if binding.collection(in: table) != nil { continue }
        let ends: (Table.End, Table.End) = ((from, place.source), (to, place.destination))
        for (end, other) in [ends, (ends.1, ends.0)] {
          let rows = table.joinRows(end, other: other, slice, numbers, .first)
          joins[table.name, default: []] += rows
        }
      } else if place.rules.contains(.nullifySourceIfDestinationDeleted),
        let table = place.source.table
      {
        kinds.append(place.losingRows(of: table, numbers, .first))
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
