internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// Carries out what follows from the journal. The journal is the list of what is to be done.
///
/// 1. A step takes some rows of the journal, deletes what hangs on them, and journals that in the
///    same transaction. So a daemon that is killed goes on where it stopped.
/// 2. Each statement has the reason in its condition: what was given another reference meanwhile is
///    not hit, also if the statement had to wait for it.
/// 3. Counts are asked when no step is left, and notices are written when no count deletes more.
///    The set of what goes only grows, so the order does not matter.
struct Waves {
  let store: StoreConnection
  let batch: Int64
  /// Whether rows that another session has locked are left for later.
  let isSweep: Bool
  /// Rows and edges that went.
  private(set) var count = Removal.Count()

  private var db: Session { _read { yield store.db } }
  private var binding: Binding { store.binding }
  private var removal: Removal { Removal(store: store, batch: batch) }

  init(_ store: StoreConnection, batch: Int64, isSweep: Bool) {
    (self.store, self.batch, self.isSweep) = (store, batch, isSweep)
  }

  private struct Taken {
    let seq: [String]
    let subject: Int64
    let keys: [String]
    let others: [String]

    var seqs: String { arrayText(seq) }
  }

  /// Takes open rows of one kind about one subject, the oldest first.
  private func take(_ what: JournalSubject, _ limit: Int) throws -> Taken? {
    let rows = try db.run(
      """
      SELECT j.seq, j.subject, j.key, j.other FROM cascade.journal j
      WHERE j.what = \(what.rawValue) AND NOT j.done AND j.batch = \(batch) AND j.subject = (
        SELECT j.subject FROM cascade.journal j
        WHERE j.what = \(what.rawValue) AND NOT j.done AND j.batch = \(batch) ORDER BY j.seq LIMIT 1)
      ORDER BY j.seq LIMIT \(limit) FOR UPDATE
      """
    ).rows
    guard let first = rows.first else { return nil }
    return Taken(
      seq: rows.map { $0[0]! }, subject: Int64(first[1]!)!, keys: rows.map { $0[2]! },
      others: rows.map { $0[3] ?? "" })
  }

  private func drop(_ taken: Taken, where condition: String = "true") throws {
    try db.run(
      "DELETE FROM cascade.journal j WHERE j.seq = ANY($1::bigint[]) AND \(condition)",
      [taken.seqs])
  }

  private func close(_ taken: Taken) throws {
    try db.run(
      "UPDATE cascade.journal j SET done = true WHERE j.seq = ANY($1::bigint[])",
      [taken.seqs])
  }

  // MARK: - Steps

  /// Takes the next step, within a transaction. Returns how many rows of the journal and of the
  /// application it worked on; nil if there is none left.
  mutating func step(_ limit: Int) throws -> Int? {
    if let taken = try take(.gone, limit) { return try followGone(taken, limit) }
    if let taken = try take(.lost, limit) { return try followLost(taken, limit) }
    return nil
  }

  private mutating func followGone(_ taken: Taken, _ limit: Int) throws -> Int {
    guard let table = binding.table(taken.subject) else {
      try drop(taken)
      return taken.seq.count
    }
    try drop(taken, where: isThere("j.key", in: table))
    var worked = taken.seq.count
    var isComplete = true
    for relation in binding.relations(to: table)
    where relation.rules.contains(.deleteSourceIfDestinationDeleted) {
      let condition = """
        x.\(relation.column) = ANY\("$1".array(of: table.family))
        AND NOT \(isThere("x.\(relation.column)", in: table))
        """
      let went = try delete(
        from: relation.source, condition, [arrayText(taken.keys)],
        Removal.Cause(
          rule: .deleteSourceIfDestinationDeleted, relation: relation,
          other: "d.\(relation.column)::text"), limit)
      worked += went
      if went >= limit { isComplete = false }
    }
    if isComplete { try close(taken) }
    return worked
  }

  private mutating func followLost(_ taken: Taken, _ limit: Int) throws -> Int {
    guard let relation = binding.relation(taken.subject) else {
      try drop(taken)
      return taken.seq.count
    }
    try drop(taken, where: isEdge(relation))
    var went = 0
    if relation.rules.contains(.deleteDestinationIfSourceDeleted) {
      let table = relation.destination
      went = try delete(
        from: table, "x.\(table.key) = ANY\("$1".array(of: table.family))",
        [arrayText(taken.others)],
        Removal.Cause(
          rule: .deleteDestinationIfSourceDeleted, relation: relation,
          other: source(of: relation, where: "j.seq = ANY('\(taken.seqs)'::bigint[])")), limit)
    }
    if went < limit { try close(taken) }
    return taken.seq.count + went
  }

  /// The key of a source that lost its edge to the row `d`.
  private func source(of relation: ColumnRelation, where condition: String) -> String {
    """
    (SELECT min(j.key) FROM cascade.journal j WHERE \(condition)
      AND j.other = d.\(relation.destination.key)::text)
    """
  }

  private mutating func delete(
    from table: MappedTable, _ condition: String, _ values: [String?], _ cause: Removal.Cause,
    _ limit: Int
  ) throws -> Int {
    let selection = Removal.Selection(
      condition: "\(condition) AND \(Removal.isNotBlocked(table, binding))", values: values)
    let went = try removal.delete(from: table, selection, because: cause, limit: limit)
    count.rows += went.rows
    count.edges += went.edges
    return went.rows
  }

  private func isThere(_ key: String, in table: MappedTable) -> String {
    "EXISTS (SELECT FROM \(table.name) t WHERE t.\(table.key) = \(key.cast(to: table.family)))"
  }

  /// Whether the journal's row `j` names an edge that is there again.
  private func isEdge(_ relation: ColumnRelation) -> String {
    let source = relation.source
    return """
      EXISTS (SELECT FROM \(source.name) s
        WHERE s.\(source.key) = \("j.key".cast(to: source.family))
        AND s.\(relation.column) = \("j.other".cast(to: relation.destination.family)))
      """
  }

  // MARK: - Counts

  /// Deletes what lost its last edge, within a transaction, when no step is left.
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

  private mutating func deleteSources(_ relation: ColumnRelation, _ limit: Int) throws -> Int {
    let table = relation.destination
    return try delete(
      from: relation.source,
      """
      x.\(relation.column) IN (\(gone(table))) AND NOT (\(binding.hasDestination(relation)))
      """, [],
      Removal.Cause(
        rule: .deleteSourceIfAllDestinationsDeleted, relation: relation,
        other: "d.\(relation.column)::text"), limit)
  }

  /// The keys of a table that are gone.
  private func gone(_ table: MappedTable) -> String {
    """
    SELECT \("j.key".cast(to: table.family)) FROM cascade.journal j
    WHERE j.what = \(JournalSubject.gone.rawValue) AND j.subject = \(table.number) AND j.done
    AND j.batch = \(batch)
    """
  }

  /// The rows are locked first, and looked at again in a second statement: a reference that was
  /// committed before the lock is seen, and one that is not yet committed has the row locked.
  private mutating func deleteDestinations(_ relation: ColumnRelation, _ limit: Int) throws -> Int {
    let table = relation.destination
    let isFree = """
      x.\(table.key) IN (\(lostDestinations(relation))) AND NOT (\(hasSource(relation)))
      """
    let locked = try db.run(
      """
      SELECT x.\(table.key)::text FROM \(table.name) x
      WHERE \(isFree) AND \(Removal.isNotBlocked(table, binding))
      ORDER BY x.\(table.key) LIMIT \(limit) FOR UPDATE \(isSweep ? "SKIP LOCKED" : "")
      """
    ).texts
    if locked.isEmpty { return 0 }
    return try delete(
      from: table,
      "x.\(table.key) = ANY\("$1".array(of: table.family)) AND NOT (\(hasSource(relation)))",
      [arrayText(locked)],
      Removal.Cause(
        rule: .deleteDestinationIfAllSourcesDeleted, relation: relation,
        other: source(of: relation, where: isLost(relation))), limit)
  }

  private func isLost(_ relation: ColumnRelation) -> String {
    """
    j.what = \(JournalSubject.lost.rawValue) AND j.subject = \(relation.number) AND j.done
    AND j.batch = \(batch)
    """
  }

  private func lostDestinations(_ relation: ColumnRelation) -> String {
    "SELECT \("j.other".cast(to: relation.destination.family)) FROM cascade.journal j "
      + "WHERE \(isLost(relation))"
  }

  /// Whether an edge of the relation's name leads to the row `x`.
  private func hasSource(_ relation: ColumnRelation) -> String {
    binding.relations(to: relation.destination).filter { $0.name == relation.name }.map { alike in
      "EXISTS (SELECT FROM \(alike.source.name) s "
        + "WHERE s.\(alike.column) = x.\(relation.destination.key))"
    }.joined(separator: " OR ")
  }

  // MARK: - The end

  /// Nullifies references and writes notices, when nothing goes any more, and empties the journal.
  /// Returns how many notices there are, and whether nodes are left that another session has locked.
  mutating func finish(at now: Int64) throws -> (notices: Int, hasLocked: Bool) {
    var notices = 0
    for relation in binding.relations { notices += try notify(relation, now) }
    for relation in binding.relations(with: .nullifySourceIfDestinationDeleted) {
      count.edges += try nullify(relation)
    }
    let hasLocked = try keepLocked()
    try LateReferences(store).remember(batch)
    try db.run("DELETE FROM cascade.journal WHERE batch = \(batch) AND done")
    return (notices, hasLocked)
  }

  private func notify(_ relation: ColumnRelation, _ now: Int64) throws -> Int {
    var notices = 0
    if relation.rules.contains(.notifyIfSourceDeleted) {
      notices += try db.run(
        """
        INSERT INTO cascade.notice(relation, source, destination, lost_source, batch, at)
        SELECT DISTINCT \(relation.number), j.key, j.other, true, \(batch), \(now)
        FROM cascade.journal j WHERE \(isLost(relation)) AND NOT \(isEdge(relation))
        AND \(isThere("j.other", in: relation.destination))
        """
      ).changed
    }
    if relation.rules.contains(.notifyIfDestinationDeleted) {
      notices += try db.run(
        """
        INSERT INTO cascade.notice(relation, source, destination, lost_source, batch, at)
        SELECT \(relation.number), x.\(relation.source.key)::text, x.\(relation.column)::text,
        false, \(batch), \(now) FROM \(relation.source.name) x WHERE \(isWidowed(relation))
        """
      ).changed
    }
    return notices
  }

  /// Whether the destination of the row `x` is gone.
  private func isWidowed(_ relation: ColumnRelation) -> String {
    """
    x.\(relation.column) IN (\(gone(relation.destination)))
    AND NOT \(isThere("x.\(relation.column)", in: relation.destination))
    """
  }

  private func nullify(_ relation: ColumnRelation) throws -> Int {
    let column = relation.column
    return try db.run(
      """
      WITH w AS (SELECT x.\(relation.source.key) AS key, x.\(column) AS value
        FROM \(relation.source.name) x WHERE \(isWidowed(relation)) FOR UPDATE),
      u AS (UPDATE \(relation.source.name) x SET \(column) = NULL FROM w
        WHERE x.\(relation.source.key) = w.key AND x.\(column) = w.value)
      INSERT INTO cascade.nullified(batch, relation, key, value)
      SELECT \(batch), \(relation.number), w.key::text, w.value::text FROM w
      """
    ).changed
  }

  /// What could go, but was locked by another session, stays in the journal.
  private func keepLocked() throws -> Bool {
    var isAny = false
    for relation in binding.relations(with: .deleteDestinationIfAllSourcesDeleted) {
      let table = relation.destination
      let kept = try db.run(
        """
        UPDATE cascade.journal j SET done = false, batch = NULL WHERE \(isLost(relation))
        AND EXISTS (SELECT FROM \(table.name) x
          WHERE x.\(table.key) = \("j.other".cast(to: table.family))
          AND NOT (\(hasSource(relation))) AND \(Removal.isNotBlocked(table, binding)))
        """)
      if kept.changed > 0 { isAny = true }
    }
    return isAny
  }
}
