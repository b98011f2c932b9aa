internal import CascadeModel
internal import CascadePostgres
package import PostgresBinding
internal import PostgresTables

/// Join rows that are nodes, and have to stay though an end of theirs is gone: their edge is lost all
/// the same. It is not lost once more when such a row goes. A lease keeps the edge with its row.
extension Waves {
  /// `keys` are those of rows of the table that are gone.
  func loseEdgesOfBlockedRows(at table: MappedTable, _ keys: KeyArray) throws {
    if !hasBlocked { return }
    for relation in binding.relations {
      for end in EdgeEnd.allCases where relation.table(at: end).number == table.number {
        try loseEdgesOfBlockedRows(relation, lost: end, keys)
      }
    }
  }

  private func loseEdgesOfBlockedRows(
    _ relation: EdgeRelation, lost end: EdgeEnd, _ keys: KeyArray
  ) throws {
    guard let join = relation.join, let nodes = join.nodes else { return }
    let (table, what) = (relation.table(at: end), end.lost)
    let isGone =
      "NOT EXISTS (SELECT FROM \(table.name) t WHERE "
      + "\(join.columns(at: end).equal("e", table.key, "t")))"
    try db.run(
      """
      INSERT INTO cascade.work(what, subject, key, other, batch, done, told)
      SELECT \(what.rawValue), \(relation.number), l.source, l.destination, \(batch),
        \(!relation.isFollowed(what)), bool_and(l.told)
      FROM (SELECT \(join.source.text("e")) AS source, \(join.destination.text("e")) AS destination,
          \(removal.isToldOfLoss(relation, of: end, "e")) AS told
        FROM \(join.name) e WHERE \(relation.isAny(at: end, keys.sql, of: join))
        AND \(join.source.isComplete("e")) AND \(relation.isEdge(in: "e")) AND \(isGone)
        AND \(BlockedNodes.isDenied(nodes, "e"))) l
      WHERE NOT EXISTS (SELECT FROM cascade.work j WHERE j.batch = \(batch)
        AND j.what = \(what.rawValue) AND j.subject = \(relation.number)
        AND j.key = l.source AND j.other = l.destination)
      GROUP BY l.source, l.destination
      """, keys.values)
  }
}

extension EdgeEnd {
  /// How the journal tells that an edge has lost this end.
  package var lost: JournalSubject { self == .source ? .lost : .widowed }
}

extension RowRemoval {
  /// Whether a join row that is a node waited when its end went: what lost the edge was told then.
  func isToldOfLoss(_ relation: EdgeRelation, of end: EdgeEnd, _ row: String) -> String {
    let tie = store.binding.relations.first { $0.isTie(of: relation, at: end) }
    guard let tie else { return "false" }
    return """
      EXISTS (SELECT FROM cascade.work j WHERE j.batch = \(batchValue) AND j.told
        AND j.what = \(JournalSubject.widowed.rawValue) AND j.subject = \(tie.number)
        AND j.key = \(tie.source.key.text(row)))
      """
  }
}
