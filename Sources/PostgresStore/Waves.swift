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
  var count = Removal.Count()
  /// Whether also constraints that are deferred are checked by each statement.
  var checksAtOnce = false
  /// How many rows the last step worked on for each node that was gone, by the number of its table.
  private var fanOut: [Int64: Int] = [:]
  /// How far the destinations of a relation were looked at that lost edges.
  private var passes: [Int64: Pass] = [:]
  private struct Pass {
    /// The last key.
    let after: String?
    /// How many rows had gone when it began.
    let rows: Int
  }
  /// Whether there are nodes that had to stay.
  var hasBlocked = false
  /// Whether a lease held some of them.
  var hasLeased = false
  /// As the transaction has to respect them.
  var leases: LiveLeases

  var db: Session { _read { yield store.db } }
  var binding: Binding { store.binding }
  var removal: Removal { Removal(store: store, batch: batch) }

  init(_ store: StoreConnection, batch: Int64, isSweep: Bool) throws {
    (self.store, self.batch, self.isSweep) = (store, batch, isSweep)
    leases = try LiveLeases(store)
    hasBlocked = try isSweep && BlockedNodes(store).isAny
  }

  func isNotBlocked(_ table: MappedTable, _ row: String) -> String {
    hasBlocked ? BlockedNodes.isNotBlocked(table, row, byLease: !isSweep) : "true"
  }

  private struct Taken {
    let seq: [String]
    let subject: Int64
    let keys: [String]
    let others: [String]

    var seqs: String { arrayText(seq) }
    func without(_ dropped: Set<String>) -> Taken {
      let left = seq.indices.filter { !dropped.contains(seq[$0]) }
      return Taken(
        seq: left.map { seq[$0] }, subject: subject, keys: left.map { keys[$0] },
        others: left.map { others[$0] })
    }

    func beginning(_ count: Int) -> Taken {
      let count = max(1, count)
      return Taken(
        seq: Array(seq.prefix(count)), subject: subject, keys: Array(keys.prefix(count)),
        others: Array(others.prefix(count)))
    }

    /// Whether a row `j` of the journal is one of them.
    var isRow: String { "j.seq = ANY('\(seqs)'::bigint[])" }
  }

  /// Takes open rows of one kind about one subject. In an order, the server would look for them among
  /// all rows of the journal.
  private func take(_ what: JournalSubject, _ limit: Int) throws -> Taken? {
    let isOpen = "j.what = \(what.rawValue) AND NOT j.done AND j.batch = \(batch)"
    let first = try db.run("SELECT j.subject FROM cascade.journal j WHERE \(isOpen) LIMIT 1")
    guard let subject = first.integer else { return nil }
    let most = what == .gone ? limit / max(1, fanOut[subject] ?? 1) : limit
    let rows = try db.run(
      """
      SELECT j.seq, j.key, j.other FROM cascade.journal j
      WHERE \(isOpen) AND j.subject = \(subject) LIMIT \(max(1, most)) FOR UPDATE
      """
    ).rows
    return Taken(
      seq: rows.map { $0[0]! }, subject: subject, keys: rows.map { $0[1]! },
      others: rows.map { $0[2] ?? "" })
  }

  /// Removes those for which a condition holds, and returns the others.
  @discardableResult
  private func drop(_ taken: Taken, where condition: String = "true") throws -> Taken {
    let dropped = try db.run(
      "DELETE FROM cascade.journal j WHERE j.seq = ANY($1::bigint[]) AND \(condition) RETURNING j.seq",
      [taken.seqs]
    ).texts
    return dropped.isEmpty ? taken : taken.without(Set(dropped))
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
    if let taken = try take(.lost, limit) { return try follow(taken, lost: .source) }
    if let taken = try take(.widowed, limit) { return try follow(taken, lost: .destination) }
    return nil
  }

  private mutating func followGone(_ taken: Taken, _ limit: Int) throws -> Int {
    guard let table = binding.table(taken.subject) else {
      try drop(taken)
      return taken.seq.count
    }
    var (taken, isAll) = (taken, try fits(taken, table, limit))
    while !isAll && taken.seq.count > 1 {
      taken = taken.beginning(taken.seq.count / 4)
      isAll = try fits(taken, table, limit)
    }
    try drop(taken, where: table.has("j.key"))
    var (worked, isComplete) = (taken.seq.count, true)
    func note(_ went: Int, _ isAll: Bool = false) {
      worked += went
      if went >= limit && !isAll { isComplete = false }
    }
    for relation in binding.relations(to: table) {
      let isAll = isAll && relation.columns != nil
      note(try followLostDestination(relation, taken, isAll ? .max : limit), isAll)
    }
    for relation in binding.relations(from: table) {
      note(try unlink(relation, lost: .source, taken, limit))
    }
    if isComplete { try close(taken) }
    fanOut[table.number] = worked / taken.seq.count
    return worked
  }

  /// Whether so few rows refer to these nodes that they can go at once. To stop at a limit, a
  /// statement has to look at each row twice.
  private func fits(_ taken: Taken, _ table: MappedTable, _ limit: Int) throws -> Bool {
    if limit == .max { return true }
    return try binding.relations(to: table).allSatisfy { relation in
      try relation.columns == nil || !relation.isFollowed(.widowed) || fits(relation, taken, limit)
    }
  }

  private func fits(_ relation: EdgeRelation, _ taken: Taken, _ limit: Int) throws -> Bool {
    let most = 2 * limit
    return try db.run(
      """
      SELECT count(*) <= \(most) FROM (SELECT FROM \(relation.source.name) s
        WHERE \(relation.leads(toAny: "$1")) LIMIT \(most + 1)) s
      """, [arrayText(taken.keys)]
    ).bool
  }

  /// Takes along what refers to the nodes that are gone, or removes the join rows that did.
  private mutating func followLostDestination(
    _ relation: EdgeRelation, _ taken: Taken, _ limit: Int
  ) throws -> Int {
    if relation.join != nil { return try unlink(relation, lost: .destination, taken, limit) }
    guard relation.rules.contains(.deleteSourceIfDestinationDeleted) else { return 0 }
    return try delete(
      from: relation.source,
      Removal.Selection(
        row: "s", condition: relation.hasLost(any: "$1"),
        values: [arrayText(taken.keys)]),
      Removal.Cause(
        rule: .deleteSourceIfDestinationDeleted, relation: relation,
        other: relation.lostDestination(in: "d")), limit)
  }

  private mutating func unlink(
    _ relation: EdgeRelation, lost end: EdgeEnd, _ taken: Taken, _ limit: Int
  ) throws -> Int {
    guard let join = relation.join else { return 0 }
    let went = try removal.unlink(
      relation, join, lost: end, keys: arrayText(taken.keys), limit: limit)
    count.edges += went
    return went
  }

  /// Takes along what lost its edge to that end, where no edge is there again.
  private mutating func follow(_ taken: Taken, lost end: EdgeEnd) throws -> Int {
    guard let relation = binding.relation(taken.subject) else {
      try drop(taken)
      return taken.seq.count
    }
    let isSource = end == .source
    let taken = try drop(
      taken,
      where: isSource
        ? relation.hasEdge("j.key", "j.other") : relation.isRestored("j.key", "j.other"))
    let (rule, row, keys): (Rules, String, [String]) =
      isSource
      ? (.deleteDestinationIfSourceDeleted, "t", taken.others)
      : (.deleteSourceIfDestinationDeleted, "s", taken.keys)
    var went = 0
    if relation.rules.contains(rule) {
      let table = relation.table(at: end.other)
      went = try delete(
        from: table,
        Removal.Selection(
          row: row, condition: table.key.isAny(row, "$1"), values: [arrayText(keys)]),
        Removal.Cause(
          rule: rule, relation: relation, other: lost(end, of: relation, where: taken.isRow)))
    }
    try close(taken)
    return taken.seq.count + went
  }

  /// The key of an end, of the relation's edges, to which the row `d` lost its edge.
  private func lost(
    _ end: EdgeEnd, of relation: EdgeRelation, where condition: String
  ) -> String {
    let (key, other) = end == .source ? ("key", "other") : ("other", "key")
    return """
      (SELECT min(j.\(key)) FROM cascade.journal j WHERE \(condition)
        AND j.\(other) = \(relation.table(at: end.other).key.text("d")))
      """
  }

  /// Returns how many rows it deleted, or had to leave.
  private mutating func delete(
    from table: MappedTable, _ selection: Removal.Selection, _ cause: Removal.Cause,
    _ limit: Int = .max
  ) throws -> Int {
    var selection = selection
    let left = try leaveLeased(table, selection)
    selection.condition += " AND \(isNotBlocked(table, selection.row))"
    return try left
      + (isSweep
        ? deleteUnlessRefused(from: table, selection, cause, limit)
        : deleteAll(from: table, selection, cause, limit))
  }

  mutating func deleteAll(
    from table: MappedTable, _ selection: Removal.Selection, _ cause: Removal.Cause,
    _ limit: Int = .max
  ) throws -> Int {
    let went = try removal.delete(from: table, selection, because: cause, limit: limit)
    count.rows += went.rows
    count.edges += went.edges
    return went.rows
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

  private mutating func deleteSources(_ relation: EdgeRelation, _ limit: Int) throws -> Int {
    let isRow = isDone(.widowed, relation)
    var went = try deleteSources(
      relation, limit,
      relation.source.key.isIn("s", "SELECT j.key FROM cascade.journal j WHERE \(isRow)"),
      because: lost(.destination, of: relation, where: isRow))
    if relation.join == nil {
      went += try deleteSources(
        relation, limit, relation.hasLost(anyOf: gone(relation.destination)),
        because: relation.lostDestination(in: "d"))
    }
    return went
  }

  private mutating func deleteSources(
    _ relation: EdgeRelation, _ limit: Int, _ hasLost: String, because other: String
  ) throws -> Int {
    try deleteUncounted(
      from: relation.source, "s", hasLost, [], "NOT \(binding.hasDestination(relation))",
      Removal.Cause(
        rule: .deleteSourceIfAllDestinationsDeleted, relation: relation, other: other),
      limit, skipsLocked: relation.join != nil)
  }

  /// Looks at the next destinations, in the order of their keys, and begins anew if anything was
  /// deleted since it began. Returns 0 when it came to an end without that.
  private mutating func deleteDestinations(_ relation: EdgeRelation, _ limit: Int) throws -> Int {
    let isRow = isDone(.lost, relation)
    let pass = passes[relation.number] ?? Pass(after: nil, rows: count.rows)
    let next = try db.run(
      """
      SELECT j.other FROM cascade.journal j WHERE \(isRow) AND ($1::text IS NULL OR j.other > $1)
      ORDER BY j.other LIMIT \(limit)
      """, [pass.after]
    ).texts
    _ = try deleteUncounted(
      from: relation.destination, "t", relation.destination.key.isAny("t", "$1"),
      [arrayText(Set(next).sorted())], "NOT \(binding.hasSource(relation))",
      Removal.Cause(
        rule: .deleteDestinationIfAllSourcesDeleted, relation: relation,
        other: lost(.source, of: relation, where: isRow)), .max, skipsLocked: true)
    let isEnd = next.count < limit
    passes[relation.number] = isEnd ? nil : Pass(after: next.last, rows: pass.rows)
    return isEnd && count.rows == pass.rows ? 0 : 1
  }

  /// The rows are locked first, and looked at again in a second statement: an edge that was
  /// committed before the lock is seen, and one that is not yet committed has the row locked.
  private mutating func deleteUncounted(
    from table: MappedTable, _ row: String, _ hasLost: String, _ values: [String?],
    _ isFree: String,
    _ cause: Removal.Cause, _ limit: Int, skipsLocked: Bool
  ) throws -> Int {
    let locked = try db.run(
      """
      SELECT \(table.key.text(row)) FROM \(table.name) \(row)
      WHERE \(hasLost) AND \(isFree) AND \(isNotBlocked(table, row))
      ORDER BY \(table.key.values(row)) LIMIT \(limit)
      FOR UPDATE \(isSweep && skipsLocked ? "SKIP LOCKED" : "")
      """, values
    ).texts
    if locked.isEmpty { return 0 }
    return try delete(
      from: table,
      Removal.Selection(
        row: row, condition: "\(table.key.isAny(row, "$1")) AND \(isFree)",
        values: [arrayText(locked)]), cause)
  }

  /// Whether an edge leads to one of the keys that a query returns, with its values. The keys of
  /// lists are read first: with them, an index is used.
  func leads(_ relation: EdgeRelation, toAnyOf keys: String) throws -> Removal.Selection {
    if relation.list == nil {
      return Removal.Selection(row: "s", condition: relation.leads(toAnyOf: keys))
    }
    return Removal.Selection(
      row: "s", condition: relation.leads(toAny: "$1"),
      values: [arrayText(try db.run(keys).texts)])
  }

  /// The keys of a table that are gone.
  func gone(_ table: MappedTable) -> String {
    """
    SELECT j.key FROM cascade.journal j
    WHERE j.what = \(JournalSubject.gone.rawValue) AND j.subject = \(table.number) AND j.done
    AND j.batch = \(batch)
    """
  }

  func isDone(_ what: JournalSubject, _ relation: EdgeRelation) -> String {
    """
    j.what = \(what.rawValue) AND j.subject = \(relation.number) AND j.done
    AND j.batch = \(batch)
    """
  }
}
