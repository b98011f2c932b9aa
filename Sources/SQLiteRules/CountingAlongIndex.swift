internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

/// Rule 32 where a large part of a table goes in one level.
///
/// The index on the reference column has all references to one node side by side. So one walk along
/// it tells how many edges each node loses, and how many stay. This is faster than looking up each
/// row that goes, and then counting at each node that loses one.
extension Closure {
  /// Whether the walk pays off, and this index has every edge of the name that a row can be.
  func canCountAlongIndex(
    _ db: borrowing Connection, _ effect: RuleEffect, _ relation: EdgeRelation, _ level: Level
  ) throws -> Bool {
    guard case .column(let columns) = relation.form, columns.count == 1,
      let table = relation.source.table, table.hasIndex(on: columns), relation.destination.isMapped,
      relation.tellsKeysApart,
      counted[effect]!.filter(relation.hasSameEdgesAs) == [relation],
      numbers.isEachByRow(in: relation.source), numbers.isEachByRow(in: relation.destination)
    else { return false }
    let going = level.ends.byRow(of: relation.source)
    return try going > 0 && going * 2 >= db.rowCountUpperBound(of: relation.source)
  }

  func collectAlongIndex(
    _ db: borrowing Connection, _ effect: RuleEffect, _ relation: EdgeRelation, _ level: Level
  ) throws {
    try db.run(
      generated: """
        INSERT INTO temp.level_losses
        SELECT \(effect.bit), \(relation.destination.number("d", numbers)), \(relation.nameId), sum(l.goes), min(l.via),
          \(relation.rules.rawValue & effect.bit) <> 0, \(relation.destination.id), sum(l.stays)
        FROM (
          SELECT \(relation.reference.value) AS reference, count(iif(g.seq > ?1, 1, NULL)) AS goes,
            min(iif(g.seq > ?1, g.id, NULL)) AS via, count(*) - count(g.id) AS stays
          FROM \(relation.source.rows) AS s
          LEFT JOIN temp.gone AS g ON g.id = \(relation.source.number("s", numbers))
          WHERE \(relation.isEdge) AND \(relation.source.isNode("s", numbers)) GROUP BY 1
        ) AS l \(relation.destinationRow(of: Reference("l.reference"))) GROUP BY 2 HAVING sum(l.goes) > 0
        \(LossQuery.addUp)
        """, [.integer(level.slice.low)])
  }
}

extension EdgeRelation {
  /// Whether values that are equal for the column always lead to the same node.
  fileprivate var tellsKeysApart: Bool {
    let column = referringColumns.first.flatMap { referringTable?.column($0) }
    let own = column?.collation.uppercased() ?? "BINARY"
    return own == "BINARY" || own == destination.collations?.first?.uppercased()
  }

  /// Whether both have the same name and lead to the same collection.
  fileprivate func hasSameEdgesAs(_ other: EdgeRelation) -> Bool {
    nameId == other.nameId && destination == other.destination
  }
}

extension NodeCounts {
  fileprivate func byRow(of table: NodeTable) -> Int64 {
    rows.reduce(0) {
      $1.key.collection == table.id && $1.key.form == .byRowid ? $0 + Int64($1.value) : $0
    }
  }
}

extension Connection {
  /// An upper bound of the number of rows: the range of the rowids. This takes two searches instead
  /// of a count. It is too large where rows were deleted.
  fileprivate func rowCountUpperBound(of table: NodeTable) throws(SQLiteError) -> Int64 {
    let (rows, row) = (table.rows, table.row("d"))
    return try integer(
      generated: """
        SELECT (SELECT max(\(row)) FROM \(rows) AS d) - (SELECT min(\(row)) FROM \(rows) AS d) + 1
        """) ?? 0
  }
}
