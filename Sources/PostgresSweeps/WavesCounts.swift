internal import CascadeModel
internal import CascadePostgres
package import PostgresBinding
internal import PostgresTables

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
        relation, limit, hasLostGone(relation, untold: true, where: isNotWaiting(relation)),
        because: relation.lostDestination(in: "d"))
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
    let isFree = "NOT \(binding.hasDestination(relation))"
    let free = lost.only(where: isFree)
    let keys = try lock(relation.source, free, limit, skipsLocked: isSweep)
    // Of join rows, the journal has what led to them.
    if isSweep && relation.join == nil && keys.count < limit {
      try leaveLocked(relation.source, free, but: keys)
    }
    if keys.isEmpty { return 0 }
    return try delete(
      from: relation.source,
      RowRemoval.Selection(row: lost.row, condition: isFree).only(keys, of: relation.source),
      RowRemoval.Cause(
        rule: .deleteSourceIfAllDestinationsDeleted, relation: relation, other: other))
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
    let next = try nextDestinations(relation, after: pass.after, limit)
    let (went, count) = try deleteDestinations(relation, next, looksFirst: pass.looksFirst)
    if went < count { keptDestinations.insert(relation.number) }
    pass.looksFirst = went < count
    pass.isOver = next.count < limit
    pass.after = next.last?.key
    passes[relation.number] = pass
    let isMore = countGone(tables) != pass.sources
    return pass.isOver && !isMore && went == 0 ? 0 : max(1, next.count)
  }

  private typealias Loss = (key: String, source: String)

  /// Destinations that lost an edge, with its source, in the order of both.
  private func nextDestinations(
    _ relation: EdgeRelation, after last: String?, _ limit: Int
  ) throws -> [Loss] {
    let key = OwnSchema.survivor("j")
    return try db.run(
      """
      SELECT \(key), j.key FROM cascade.work j WHERE \(isDone(.lost, relation))
      AND ($1::text IS NULL OR \(key) > $1) ORDER BY 1, 2 LIMIT \(limit)
      """, [last]
    ).rows.map { ($0[0]!, $0[1]!) }
  }

  /// Returns how many went, and how many there were.
  private mutating func deleteDestinations(
    _ relation: EdgeRelation, _ losses: [Loss], looksFirst: Bool
  ) throws -> (went: Int, count: Int) {
    let (table, isFree) = (relation.destination, "NOT \(binding.hasSource(relation))")
    let firsts = losses.indices
      .filter { $0 == 0 || !losses[$0].key.utf8.elementsEqual(losses[$0 - 1].key.utf8) }
      .map { losses[$0] }
    func rows(_ losses: [Loss]) -> RowRemoval.Selection {
      RowRemoval.Selection(
        row: "t", of: table, keys: losses.map(\.key), others: losses.map(\.source))
    }
    let all = rows(firsts)
    let locked = try lock(
      table, looksFirst ? all.only(where: isFree) : all, .max, skipsLocked: isSweep)
    if locked.isEmpty { return (0, firsts.count) }
    var free = all
    if locked.count < firsts.count {
      let keys = Set(locked.map { Array($0.utf8) })
      free = rows(firsts.filter { keys.contains(Array($0.key.utf8)) })
    }
    let went = try delete(
      from: table, free.only(where: isFree),
      RowRemoval.Cause(
        rule: .deleteDestinationIfAllSourcesDeleted, relation: relation,
        other: RowRemoval.Cause.listedOther))
    return (went, firsts.count)
  }

  private func countGone(_ tables: [MappedTable]) -> Int {
    Set(tables.map(\.number)).reduce(unlinked) { sum, table in
      sum + (deletions[table]?.values.reduce(0, +) ?? 0)
    }
  }

  /// Locks rows, so that a second statement can look at them: an edge that was committed before the lock
  /// is seen by it, and one that is not yet committed has the row locked. Returns their keys, in their
  /// order, in which a list is.
  package func lock(
    _ table: MappedTable, _ selection: RowRemoval.Selection, _ limit: Int, skipsLocked: Bool
  ) throws -> [String] {
    let row = selection.row
    let (key, order) =
      selection.isListed
      ? ("n.key", "") : (table.key.text(row), "ORDER BY \(table.key.values(row))")
    return try db.run(
      """
      SELECT \(key) FROM \(selection.from(table))
      WHERE \(selection.condition) AND \(isNotBlocked(table, row))
      \(order) LIMIT \(limit) FOR UPDATE OF \(row) \(skipsLocked ? "SKIP LOCKED" : "")
      """, selection.values
    ).texts
  }
}
