package import CascadeModel
package import CascadePostgres
package import CascadeStore
package import PostgresBinding
package import PostgresTables

/// Carries out what follows from the work of a batch: what it took from the journal, and what it has
/// deleted since.
///
/// 1. A step takes some of it, deletes what hangs on it, and notes in the same transaction how far it
///    came. So a daemon that is killed goes on where it stopped.
/// 2. Each statement has the reason in its condition: what was given another reference meanwhile is
///    not hit, also if the statement had to wait for it.
/// 3. Counts are asked when no step is left, and notices are written when no count deletes more.
///    The set of what goes only grows, so the order does not matter.
package struct Waves {
  package let store: StoreConnection
  package let batch: Int64
  /// Whether rows that another session has locked are left for later.
  package let isSweep: Bool
  /// The approved plan to which what is left for later still belongs.
  package var plan: Int64?
  /// Rows and edges that went.
  package var count = RowRemoval.Count()
  /// Whether also constraints that are deferred are checked by each statement.
  package var checksAtOnce = false
  /// Whether the application's constraints and triggers may refuse what is done.
  package var expectsRefusals = false
  /// Whether a step looks how many rows would go before it deletes them. To stop at a limit, a
  /// statement has to look at each row twice; so one that is bounded by time does not, until it has
  /// met nodes that take too long.
  package var looksFirst = false
  var work: Work
  /// How many rows went of each table, and by which rule.
  package internal(set) var deletions: [Int64: [Int64: Int]] = [:]
  /// How many join rows were removed: with them edges are lost later than their ends.
  private(set) var unlinked = 0
  /// Whether this is all that the batch has deleted.
  package let isWhole: Bool
  /// How far the destinations of a relation were looked at that lost edges.
  var passes: [Int64: Pass] = [:]
  struct Pass {
    /// The last key; nil at the beginning.
    var after: String?
    /// How many rows had gone that may have had such edges, when it began.
    let sources: Int
    var isOver = false
    /// Whether rows are looked at before they are locked, too: so that those that stay are not locked. While
    /// none stays, that would be done twice for nothing.
    var looksFirst = true
  }
  /// The relations of which a destination was examined and stayed. Another session may have it locked.
  var keptDestinations: Set<Int64> = []
  /// Whether there are nodes that had to stay.
  var hasBlocked = false
  /// Whether some of them are only locked by other sessions.
  var hasLocked = false
  /// With triggers of the application that take long.
  var patience: Patience
  /// What had to stay, and is no node.
  package var remarks: [Reason] = []
  /// Whether what was held back is left to the sweep that looks at it again.
  package var leavesWaiting = false
  /// Whether a lease held some of them.
  var hasLeased = false
  /// As the transaction has to respect them.
  package private(set) var leases: LiveLeases
  var settled = SettledNodes()

  package var db: Session { _read { yield store.db } }
  package var binding: Binding { store.binding }
  package var removal: RowRemoval {
    var removal = RowRemoval(store: store, batch: batch, isInSteps: isSweep)
    (removal.level, removal.place) = (level, place)
    return removal
  }
  /// Of what a job has planned, while that is deleted.
  var level: Int?
  /// Of a cause that is deleted after what follows from it.
  var place: Int64?

  /// `last` is the last row of `deleted` at the last flush of a change file. Each transaction of a
  /// sweep sets the leases when it begins.
  package init(
    _ store: StoreConnection, batch: Int64, isSweep: Bool, isNew: Bool = true,
    hasBlocked: Bool = false, after last: Int64 = 0
  ) throws {
    (self.store, self.batch, self.isSweep, isWhole) = (store, batch, isSweep, isNew)
    work = Work(store: store, batch: batch, last: last)
    leases = try isSweep ? .unknown(store) : LiveLeases(store)
    patience = try Patience(after: hasBlocked ? BlockedNodes(store).delay : nil)
    self.hasBlocked = hasBlocked
    if !isNew { try work.resume() }
  }

  /// What the first step does first.
  package mutating func begin(with statements: [Statement]) { work.pending = statements }

  /// `rows` are what `LiveLeases.sql` returned at the beginning of a transaction.
  package mutating func beginTransaction(_ rows: Rows) {
    leases = LiveLeases(store, rows)
    settled.begin(leases.snapshot)
  }

  /// What a transaction has to do before its commit.
  package mutating func endTransaction() throws {
    try leases.verify(after: work.takePending())
  }

  func isNotBlocked(_ table: MappedTable, _ row: String) -> String {
    hasBlocked ? BlockedNodes.isNotBlocked(table, row, byLease: !isSweep) : "true"
  }

  func isNotWaiting(_ relation: EdgeRelation) -> String {
    leavesWaiting ? relation.isNotHeldBack(lost: relation.to()) : "true"
  }

  // MARK: - Steps

  /// Does what is next, within a transaction. Returns how many nodes, edges and rows of the
  /// application it worked on; nil if nothing is left.
  package mutating func next(_ limit: Int) throws -> Int? {
    if let worked = try step(limit) { return worked }
    let worked = try deleteUncounted(limit)
    return worked > 0 ? worked : nil
  }

  private mutating func step(_ limit: Int) throws -> Int? {
    if let gone = work.takeDeleted(limit) { return try followGone(gone, limit) }
    guard let taken = try work.take(limit) else { return nil }
    if taken.what == .gone { return try followGone(.work(taken), limit) }
    return try follow(taken, lost: taken.what == .lost ? .source : .destination)
  }

  private mutating func followGone(_ gone: Work.Gone, _ limit: Int) throws -> Int {
    guard let table = binding.table(gone.table) else {
      try work.giveBack(gone)
      return gone.count
    }
    var (gone, isAll) = (gone, try fits(gone, table, limit))
    while !isAll {
      let part = gone.beginning(gone.count / 4)
      if part.count == gone.count { break }
      gone = part
      isAll = try fits(gone, table, limit)
    }
    work.drop(returned: gone, of: table)
    let (count, keys) = (gone.count, work.keys(of: gone))
    var (worked, isComplete) = (count, true)
    func note(_ went: Int, _ isAll: Bool = false) {
      worked += went
      if went >= limit && !isAll { isComplete = false }
    }
    for relation in binding.relations(to: table) {
      let isAll = isAll && relation.columns != nil
      note(try followLostDestination(relation, keys, isAll ? .max : limit), isAll)
    }
    for relation in binding.relations(from: table) {
      note(try unlink(relation, lost: .source, keys, limit))
    }
    note(try unlinkFiles(of: table, keys, limit))
    try loseEdgesOfBlockedRows(at: table, keys)
    if isComplete {
      worked += try noteWidowed(at: table, keys)
      close(gone)
    }
    work.fanOut[table.number] = worked / count
    return worked
  }

  private mutating func close(_ gone: Work.Gone) {
    work.close(gone)
    looksFirst = false
    if let range = gone.deletedRows {
      settled.noteFollowed(gone.table, from: range.lowerBound, to: range.upperBound)
    }
  }

  /// Whether so few rows refer to these nodes that they can go at once.
  private func fits(_ gone: Work.Gone, _ table: MappedTable, _ limit: Int) throws -> Bool {
    if limit == .max || !looksFirst { return true }
    let keys = work.keys(of: gone)
    return try binding.relations(to: table).allSatisfy { relation in
      try relation.columns == nil || !relation.isFollowed(.widowed) || fits(relation, keys, limit)
    }
  }

  private func fits(_ relation: EdgeRelation, _ keys: KeyArray, _ limit: Int) throws -> Bool {
    let most = 2 * limit
    return try db.run(
      """
      SELECT count(*) <= \(most) FROM (SELECT FROM \(relation.source.name) s
        WHERE \(relation.leads(toAny: keys.sql)) LIMIT \(most + 1)) s
      """, keys.values
    ).bool
  }

  /// Takes along what refers to the nodes that are gone, or removes the join rows that did.
  private mutating func followLostDestination(
    _ relation: EdgeRelation, _ keys: KeyArray, _ limit: Int
  ) throws -> Int {
    if relation.looseJoin != nil { return try unlink(relation, lost: .destination, keys, limit) }
    guard relation.join == nil, relation.rules.contains(.deleteSourceIfDestinationDeleted)
    else { return 0 }
    return try delete(
      from: relation.source,
      RowRemoval.Selection(
        row: "s", condition: hasLost(relation, any: keys.sql, where: isNotWaiting(relation)),
        values: keys.values),
      RowRemoval.Cause(
        rule: .deleteSourceIfDestinationDeleted, relation: relation,
        other: relation.lostDestination(in: "d")), limit)
  }

  /// Edges whose row went before their destination did. It is done once for all nodes of a step, so not
  /// before the step has followed them.
  private func noteWidowed(at table: MappedTable, _ keys: KeyArray) throws -> Int {
    try binding.relations(to: table).filter { $0.join?.nodes != nil }
      .reduce(0) { try $0 + noteWidowed($1, keys) }
  }

  private func noteWidowed(_ relation: EdgeRelation, _ keys: KeyArray) throws -> Int {
    try db.run(
      """
      INSERT INTO cascade.work(what, subject, key, other, batch, done)
      SELECT DISTINCT \(JournalSubject.widowed.rawValue), j.subject, j.key, j.other, \(batch),
        \(!relation.isFollowed(.widowed))
      FROM cascade.work j WHERE \(isDone(.rowless, relation))
      AND \(OwnSchema.survivor("j")) = ANY(\(keys.sql)::text[]) AND NOT \(relation.destination.has("j.other"))
      """, keys.values
    ).changed
  }

  /// `goesNext`: the nodes with these keys are still there.
  @discardableResult
  package mutating func unlink(
    _ relation: EdgeRelation, lost end: EdgeEnd, _ keys: KeyArray, _ limit: Int = .max,
    goesNext: Bool = false
  ) throws -> Int {
    guard let join = relation.looseJoin else { return 0 }
    let went =
      isSweep && !goesNext
      ? try unlinkUnlessRefused(relation, join, lost: end, keys, limit)
      : try removal.unlink(
        relation, join, lost: end, keys: keys, limit: limit, goesNext: goesNext)
    count.edges += went
    unlinked += went
    return went
  }

  /// Takes along what lost its edge to that end, where no edge is there again.
  private mutating func follow(_ taken: Work.Part, lost end: EdgeEnd) throws -> Int {
    guard let relation = binding.relation(taken.subject) else {
      try work.giveBack(taken)
      return taken.rows.count
    }
    let (isSource, count) = (end == .source, taken.rows.count)
    let isOver =
      isSource
      ? binding.hasEdge(relation, lostIn: "j") : relation.isRestored(lostIn: "j")
    let taken = try work.drop(taken, where: isOver)
    let (rule, row, keys): (Rules, String, [String]) =
      isSource
      ? (.deleteDestinationIfSourceDeleted, "t", taken.others)
      : (.deleteSourceIfDestinationDeleted, "s", taken.keys)
    // Causes are looked up among what is done.
    work.close(taken)
    try work.send()
    if !relation.rules.contains(rule) { return count }
    let table = relation.table(at: end.other)
    let went = try delete(
      from: table,
      RowRemoval.Selection(
        row: row,
        condition: """
          \(table.key.isAny(row, "$1")) AND EXISTS (
            SELECT FROM cascade.work j WHERE \(isDone(taken.what, relation))
            AND \(OwnSchema.survivor("j")) = \(table.key.text(row)) AND NOT \(isOver))
          """, values: [arrayText(keys)]),
      RowRemoval.Cause(
        rule: rule, relation: relation, other: lost(end, of: relation, where: "NOT \(isOver)")))
    return count + went
  }

  /// The key of an end, of the relation's edges, to which the row `d` lost its edge.
  func lost(
    _ end: EdgeEnd, of relation: EdgeRelation, where condition: String = "true"
  ) -> String {
    let (what, key): (JournalSubject, String) =
      end == .source ? (.lost, "key") : (.widowed, "other")
    return """
      (SELECT min(j.\(key)) FROM cascade.work j WHERE \(isDone(what, relation)) AND \(condition)
        AND \(OwnSchema.survivor("j")) = \(relation.table(at: end.other).key.text("d")))
      """
  }

  /// Returns how many rows it deleted, or had to leave.
  mutating func delete(
    from table: MappedTable, _ selection: RowRemoval.Selection, _ cause: RowRemoval.Cause,
    _ limit: Int = .max
  ) throws -> Int {
    let left = try leaveLeased(table, selection)
    let selection = selection.only(where: isNotBlocked(table, selection.row))
    return try left
      + (isSweep
        ? deleteUnlessRefused(from: table, selection, cause, limit)
        : deleteAll(from: table, selection, cause, limit))
  }

  mutating func deleteAll(
    from table: MappedTable, _ selection: RowRemoval.Selection, _ cause: RowRemoval.Cause,
    _ limit: Int = .max
  ) throws -> Int {
    let went = try removal.delete(from: table, selection, because: cause, limit: limit)
    if !isSweep { try store.refuseKept(table, selection) }
    count.rows += went.rows
    count.edges += went.edges
    if went.rows > 0 {
      deletions[table.number, default: [:]][cause.rule.rawValue, default: 0] += went.rows
      work.note(went.groups, of: table.number)
      settled.noteDeletion(from: table.number)
    }
    return went.rows
  }
}
