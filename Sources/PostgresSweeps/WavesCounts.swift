internal import CascadeModel
internal import CascadePostgres
package import PostgresTables

/// What lost its last edge.
extension Waves {
  /// Deletes what lost its last edge, when no step is left.
  mutating func deleteUncounted(_ limit: Int) throws -> Int {
    var went = 0
    for relation in binding.relations(with: .deleteSourceIfAllDestinationsDeleted) {
      went += try deleteSources(relation, limit)
    }
    for relation in binding.relations(with: .deleteDestinationIfAllSourcesDeleted) {
      went += try deleteDestinations(relation, limit)
    }
    return went
  }

  private mutating func deleteSources(_ relation: EdgeRelation, _ limit: Int) throws -> Int {
    let rows = "SELECT j.key FROM cascade.work j WHERE \(isDone(.widowed, relation))"
    var went = try deleteSources(
      relation, limit,
      RowRemoval.Selection(row: "s", condition: relation.source.key.isIn("s", rows)),
      because: lost(.destination, of: relation))
    if relation.join == nil {
      went += try deleteSources(
        relation, limit, hasLostGone(relation), because: relation.lostDestination(in: "d"))
    }
    return went
  }

  private mutating func deleteSources(
    _ relation: EdgeRelation, _ limit: Int, _ lost: RowRemoval.Selection, because other: String
  ) throws -> Int {
    var lost = lost
    if relation.list != nil {
      // In an order of keys, the server would look at each row of the table.
      lost = lost.only(try keys(of: relation.source, lost), of: relation.source)
    }
    return try deleteUncounted(
      from: relation.source, "s", lost.condition, lost.values,
      "NOT \(binding.hasDestination(relation))",
      RowRemoval.Cause(
        rule: .deleteSourceIfAllDestinationsDeleted, relation: relation, other: other),
      limit, skipsLocked: relation.join != nil)
  }

  /// Looks at the next destinations, in the order of their keys, and begins anew if rows have gone
  /// since it began that may have led to them. Returns how many it looked at, and 0 when it came to an
  /// end and nothing went.
  private mutating func deleteDestinations(_ relation: EdgeRelation, _ limit: Int) throws -> Int {
    let tables = binding.alikeAtDestination(relation).flatMap(\.sources)
    let sources = countGone(tables)
    var pass = passes[relation.number] ?? Pass(after: nil, sources: sources)
    if pass.isOver {
      if pass.sources == sources { return 0 }
      pass = Pass(after: nil, sources: sources)
    }
    let other = OwnSchema.survivor("j")
    let next = try db.run(
      """
      SELECT \(other) FROM cascade.work j WHERE \(isDone(.lost, relation))
      AND ($1::text IS NULL OR \(other) > $1) ORDER BY 1 LIMIT \(limit)
      """, [pass.after]
    ).texts
    let keys = Set(next).sorted()
    let went = try deleteUncounted(
      from: relation.destination, "t", relation.destination.key.isAny("t", "$1"),
      [arrayText(keys)], "NOT \(binding.hasSource(relation))",
      RowRemoval.Cause(
        rule: .deleteDestinationIfAllSourcesDeleted, relation: relation,
        other: lost(.source, of: relation)), .max, skipsLocked: true)
    if went < keys.count { keptDestinations.insert(relation.number) }
    pass.isOver = next.count < limit
    pass.after = next.last
    passes[relation.number] = pass
    let isMore = countGone(tables) != pass.sources
    return pass.isOver && !isMore && went == 0 ? 0 : max(1, next.count)
  }

  private func countGone(_ tables: [MappedTable]) -> Int {
    Set(tables.map(\.number)).reduce(unlinked) { sum, table in
      sum + (deletions[table]?.values.reduce(0, +) ?? 0)
    }
  }

  /// The rows are locked first, and looked at again in a second statement: an edge that was
  /// committed before the lock is seen, and one that is not yet committed has the row locked.
  private mutating func deleteUncounted(
    from table: MappedTable, _ row: String, _ hasLost: String, _ values: [String?],
    _ isFree: String,
    _ cause: RowRemoval.Cause, _ limit: Int, skipsLocked: Bool
  ) throws -> Int {
    let locked = try lock(
      table, RowRemoval.Selection(row: row, condition: "\(hasLost) AND \(isFree)", values: values),
      limit, skipsLocked: isSweep && skipsLocked)
    if locked.isEmpty { return 0 }
    return try delete(
      from: table,
      RowRemoval.Selection(
        row: row, condition: "\(table.key.isAny(row, "$1")) AND \(isFree)",
        values: [arrayText(locked)]), cause)
  }

  /// The keys of the rows, in their order.
  package func lock(
    _ table: MappedTable, _ selection: RowRemoval.Selection, _ limit: Int, skipsLocked: Bool
  ) throws -> [String] {
    let row = selection.row
    return try db.run(
      """
      SELECT \(table.key.text(row)) FROM \(table.name) \(row)
      WHERE \(selection.condition) AND \(isNotBlocked(table, row))
      ORDER BY \(table.key.values(row)) LIMIT \(limit)
      FOR UPDATE \(skipsLocked ? "SKIP LOCKED" : "")
      """, selection.values
    ).texts
  }
}
