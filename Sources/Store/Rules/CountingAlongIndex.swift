internal import CascadeModel
internal import CascadeSQLite

/// Rule 32 where a large part of a table goes in one level.
///
/// The index on the reference column has all references to one node side by side. So one walk along
/// it tells how many edges each node loses, and how many stay. This is faster than looking up each
/// row that goes, and then counting at each node that loses one.
extension Closure {
  /// Whether the walk pays off, and this index has every edge of the name that a row can be.
  func walksIndex(
    _ db: borrowing Connection, of place: Place, _ level: Level
  ) throws -> Bool {
    guard case .column(let column) = place.form, let table = place.source.table,
      table.hasIndex(on: column), place.destination.isMapped, place.tellsKeysApart,
      countedAtDestinations.filter(place.shares) == [place],
      numbers.isEachByRow(in: place.source), numbers.isEachByRow(in: place.destination)
    else { return false }
    let going = level.ends.byRow(of: place.source)
    return try going > 0 && going * 2 >= db.mostRows(of: place.source)
  }

  func collectAlongIndex(_ db: borrowing Connection, _ place: Place, _ level: Level) throws {
    try db.run(
      generated: """
        INSERT INTO temp.losing
        SELECT 32, \(place.destination.number("d", numbers)), \(place.nameId), sum(l.goes), min(l.via),
          \(place.rules.rawValue) & 32 <> 0, \(place.destination.id), sum(l.stays)
        FROM (
          SELECT \(place.reference) AS reference, count(iif(g.seq > ?1, 1, NULL)) AS goes,
            min(iif(g.seq > ?1, g.id, NULL)) AS via, count(*) - count(g.id) AS stays
          FROM \(place.source.rows) AS s
          LEFT JOIN temp.gone AS g ON g.id = \(place.source.number("s", numbers))
          WHERE \(place.isEdge) AND \(place.source.isNode("s", numbers)) GROUP BY 1
        ) AS l \(place.destinationRow(of: "l.reference")) GROUP BY 2 HAVING sum(l.goes) > 0
        \(Closure.losesMore)
        """, [.integer(level.slice.low)])
  }
}

extension Place {
  /// Whether values that are equal for the column always lead to the same node.
  fileprivate var tellsKeysApart: Bool {
    let own = referringColumn?.collation.uppercased() ?? "BINARY"
    return own == "BINARY" || own == destination.collations?.first?.uppercased()
  }

  /// Whether both have the same name and lead to the same collection.
  fileprivate func shares(_ other: Place) -> Bool {
    nameId == other.nameId && destination == other.destination
  }
}

extension Ends {
  fileprivate func byRow(of table: NodeTable) -> Int64 {
    rows.reduce(0) {
      $1.key.collection == table.id && $1.key.form == .byRow ? $0 + Int64($1.value) : $0
    }
  }
}

extension Connection {
  /// An upper bound of the number of rows: the range of the rowids. This takes two searches instead
  /// of a count. It is too large where rows were deleted.
  fileprivate func mostRows(of table: NodeTable) throws(SQLiteError) -> Int64 {
    let (rows, row) = (table.rows, table.row("d"))
    return try integer(
      generated: """
        SELECT (SELECT max(\(row)) FROM \(rows) AS d) - (SELECT min(\(row)) FROM \(rows) AS d) + 1
        """) ?? 0
  }
}
