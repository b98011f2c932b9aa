internal import CascadeEngine
package import CascadeModel
internal import CascadePostgres
internal import CascadeStore
package import PostgresBinding
internal import PostgresTables

/// What the application refuses is left by a sweep, which goes on with the rest. A change file is rejected
/// instead.
///
/// 1. As long as nothing was refused, a refusal ends the step, which is then taken once more, with a savepoint
///    for each statement.
/// 2. Rows that other sessions have locked are passed over. Of the others, halves are tried, until those
///    are found that cannot go. If a trigger takes too long, each row is tried alone.
/// 3. A sweep waits for a lock as long as a step may hold one (`limits.lock`), and has patience with triggers that
///    take long. When that is over, rows that may go later are left without a try.
/// 4. What a trigger keeps by returning NULL is still there after the statement.
extension Waves {
  /// `isTimed`: each statement is cancelled that takes longer than the patience lasts.
  private func isRefused(
    isTimed: Bool = false, _ body: () throws -> Void
  ) throws -> PostgresError? {
    let longest = isTimed ? patience.longest : nil
    if !expectsRefusals {
      try store.bounded(longest: longest, body)
      return nil
    }
    do {
      try db.savepoint {
        try store.bounded(longest: longest, lockTimeout: Waves.lockTimeout(store.model), body)
      }
      return nil
    } catch let refusal as PostgresError
      where refusal.isAboutTheValue || refusal.isLocked || isTimed && refusal.isCancelled
    {
      return refusal
    }
  }

  /// How long a sweep waits for a row that another session has locked. For its own tables it waits
  /// longer: a daemon that led before may have locked rows there.
  package static func lockTimeout(_ model: StoreModel) -> Duration {
    max(model.limits.lock ?? .seconds(1), .milliseconds(1))
  }

  private mutating func block(
    _ keys: [String], of table: MappedTable, because refusal: PostgresError
  ) throws {
    let why = try Hindrance(store).text(refusal, table, keys.first, patience.longest)
    try block(keys, of: table, because: why)
    if refusal.isLocked { hasLocked = true }
  }

  private mutating func block(
    _ keys: [String], of table: MappedTable, because why: String
  ) throws {
    if keys.isEmpty { return }
    try BlockedNodes(store).add(keys, of: table, because: why)
    hasBlocked = true
  }

  package func keys(of table: MappedTable, _ selection: RowRemoval.Selection, _ limit: Int = .max)
    throws -> [String]
  {
    try store.keys(of: table, selection, limit)
  }

  // MARK: - Rows that other sessions have locked

  /// Leaves those of the rows that are locked, and returns the others.
  private mutating func leaveLocked(
    _ table: MappedTable, _ selection: RowRemoval.Selection, _ keys: [String],
    because refusal: PostgresError
  ) throws -> [String] {
    let rows = selection.only(keys, of: table)
    let free = try lock(table, rows, .max, skipsLocked: true)
    // A row that is none of them may also be gone, or have changed.
    let locked = try self.keys(of: table, rows.but(free, of: table))
    try block(locked, of: table, because: refusal)
    return free
  }

  /// The same for rows that were to be locked before they are looked at.
  mutating func leaveLocked(
    _ table: MappedTable, _ selection: RowRemoval.Selection, but free: [String]
  ) throws {
    let rows = selection.only(where: isNotBlocked(table, selection.row)).but(free, of: table)
    try block(keys(of: table, rows), of: table, because: .lockTimeout)
  }

  // MARK: - Rows that a trigger keeps

  /// Leaves those of the rows for which the selection holds although they were deleted, or changed. Returns
  /// how many they are.
  private mutating func leaveKept(
    _ table: MappedTable, _ selection: RowRemoval.Selection, by event: AppTrigger.Event
  ) throws -> Int {
    if table.keepers(event).isEmpty { return 0 }
    let kept = try keys(of: table, selection)
    try block(kept, of: table, because: table.keptText(event))
    return kept.count
  }

  // MARK: - Deletions

  /// Returns how many rows it deleted, or had to leave.
  mutating func deleteUnlessRefused(
    from table: MappedTable, _ selection: RowRemoval.Selection, _ cause: RowRemoval.Cause,
    _ limit: Int
  ) throws -> Int {
    let isTimed = looksFirst && table.hasTriggers(.delete)
    if isTimed || !table.keepers(.delete).isEmpty {
      return try deleteEach(from: table, selection, cause, limit, isTimed: isTimed)
    }
    var (next, went) = (self, 0)
    let refusal = try isRefused { went = try next.deleteAll(from: table, selection, cause, limit) }
    guard let refusal else {
      self = next
      return went
    }
    let keys = try keys(of: table, selection, limit)
    try deleteRest(of: table, keys, selection, cause, because: refusal)
    return keys.count
  }

  /// Rows whose keys have to be known before, in parts if a statement may take too long.
  private mutating func deleteEach(
    from table: MappedTable, _ selection: RowRemoval.Selection, _ cause: RowRemoval.Cause,
    _ limit: Int, isTimed: Bool
  ) throws -> Int {
    if isTimed, let refusal = patience.end(for: table.number) {
      let keys = try keys(of: table, selection)
      try block(keys, of: table, because: refusal)
      return keys.count
    }
    let keys = try keys(of: table, selection, limit)
    for part in keys.parts(of: isTimed ? Patience.mostRows : .max) {
      let rows = selection.only(part, of: table)
      var next = self
      let refusal = try isRefused(isTimed: isTimed) {
        _ = try next.deleteAll(from: table, rows, cause)
      }
      if let refusal {
        try deleteRest(of: table, part, selection, cause, because: refusal)
      } else {
        self = next
      }
      _ = try leaveKept(
        table, rows.only(where: isNotBlocked(table, rows.row)), by: .delete)
    }
    return keys.count
  }

  private mutating func deleteRest(
    of table: MappedTable, _ keys: [String], _ selection: RowRemoval.Selection,
    _ cause: RowRemoval.Cause, because refusal: PostgresError
  ) throws {
    patience.note(refusal, of: table.number)
    let isLocked = refusal.isLocked
    let rest = isLocked ? try leaveLocked(table, selection, keys, because: refusal) : keys
    for part in rest.parts(of: refusal.isCancelled ? 1 : .max) {
      try deleteUnlessRefused(from: table, part, selection, cause)
    }
  }

  /// Deletes rows after what follows from them, as foreign keys want it. If that is refused too, halves
  /// the rows until those are found that the application keeps.
  private mutating func deleteUnlessRefused(
    from table: MappedTable, _ keys: [String], _ selection: RowRemoval.Selection,
    _ cause: RowRemoval.Cause
  ) throws {
    if keys.isEmpty { return }
    if let last = patience.end(for: table.number) {
      return try block(keys, of: table, because: last)
    }
    var next = self
    let start = ContinuousClock.now
    let refusal = try isRefused(isTimed: looksFirst && table.hasTriggers(.delete)) {
      let place = try next.takePlace()
      try next.deleteDependents(of: table, keys, beyond: [:])
      _ = try next.at(place) {
        try $0.deleteAll(from: table, selection.only(keys, of: table), cause)
      }
    }
    if refusal == nil { self = next }
    if keys.count == 1 { patience.note(.now - start, for: refusal) }
    guard let refusal else { return }
    if keys.count == 1 { return try block(keys, of: table, because: refusal) }
    patience.note(refusal, of: table.number)
    for part in keys.halves { try deleteUnlessRefused(from: table, part, selection, cause) }
  }

  /// Deletes what goes when the rows with these keys have gone. `seen` are keys of which that is done.
  private mutating func deleteDependents(
    of table: MappedTable, _ keys: [String], beyond seen: [Int64: Set<String>]
  ) throws {
    let new = Set(keys).subtracting(seen[table.number] ?? []).sorted()
    if new.isEmpty { return }
    let seen = seen.merging([table.number: Set(new)]) { $0.union($1) }
    for relation in binding.relations(to: table) {
      try deleteSources(relation, new, beyond: seen)
      try unlink(relation, lost: .destination, KeyArray(new), goesNext: true)
    }
    for relation in binding.relations(from: table) {
      try unlink(relation, lost: .source, KeyArray(new), goesNext: true)
    }
    try unlinkFiles(of: table, KeyArray(new), goesNext: true)
  }

  private mutating func deleteSources(
    _ relation: EdgeRelation, _ keys: [String], beyond seen: [Int64: Set<String>]
  ) throws {
    let source = relation.source
    // Only columns can be in a foreign key.
    if relation.columns == nil || !relation.rules.contains(.deleteSourceIfDestinationDeleted) {
      return
    }
    let all = RowRemoval.Selection(
      row: "s", condition: "\(relation.leads(toAny: "$1"))\(relation.andNowhereElse())",
      values: [arrayText(keys)])
    _ = try leaveLeased(source, all)
    let selection = all.only(where: isNotBlocked(source, "s"))
    let place = try takePlace()
    try deleteDependents(of: source, self.keys(of: source, selection), beyond: seen)
    let cause = RowRemoval.Cause(
      rule: .deleteSourceIfDestinationDeleted, relation: relation, other: relation.to(in: "d"))
    _ = try at(place) { try $0.deleteAll(from: source, selection, cause) }
  }

  /// A place in the order of causes, before what is deleted from now on.
  private func takePlace() throws -> Int64 {
    try db.run("SELECT nextval(pg_get_serial_sequence('cascade.deleted', 'id'))").integer!
  }

  private mutating func at<T>(_ place: Int64, _ body: (inout Waves) throws -> T) rethrows -> T {
    let before = self.place
    self.place = place
    defer { self.place = before }
    return try body(&self)
  }

  // MARK: - Changes

  /// Runs `change` for the selected rows of a table, but for those that the application keeps as they
  /// are. Returns what `change` does, in sum.
  mutating func changeUnlessRefused(
    _ table: MappedTable, _ selection: RowRemoval.Selection, by event: AppTrigger.Event,
    _ change: (Waves, RowRemoval.Selection) throws -> Int
  ) throws -> Int {
    let isTimed = table.hasTriggers(event)
    var (changed, refused) = (0, PostgresError?.none)
    if !isTimed { refused = try isRefused { changed = try change(self, selection) } }
    if !isTimed && refused == nil { return changed }
    var keys = try keys(of: table, selection)
    if let refused, refused.isLocked {
      keys = try leaveLocked(table, selection, keys, because: refused)
    }
    for part in keys.parts(of: isTimed ? Patience.mostRows : .max) {
      changed += try changeUnlessRefused(table, selection, part, isTimed, change)
    }
    let rest = selection.only(keys, of: table).only(where: isNotBlocked(table, selection.row))
    _ = try leaveKept(table, rest, by: event)
    return changed
  }

  private mutating func changeUnlessRefused(
    _ table: MappedTable, _ selection: RowRemoval.Selection, _ keys: [String], _ isTimed: Bool,
    isFirst: Bool = true, _ change: (Waves, RowRemoval.Selection) throws -> Int
  ) throws -> Int {
    if keys.isEmpty { return 0 }
    if let last = patience.end(for: table.number) {
      try block(keys, of: table, because: last)
      return 0
    }
    var changed = 0
    let start = ContinuousClock.now
    let refusal = try isRefused(isTimed: isTimed) {
      changed = try change(self, selection.only(keys, of: table))
    }
    if keys.count == 1 { patience.note(.now - start, for: refusal) }
    guard let refusal else { return changed }
    if keys.count == 1 {
      try block(keys, of: table, because: refusal)
      return 0
    }
    patience.note(refusal, of: table.number)
    let mayBeLocked = isFirst && refusal.isLocked
    let rest = mayBeLocked ? try leaveLocked(table, selection, keys, because: refusal) : keys
    return try (refusal.isCancelled ? rest.parts(of: 1) : rest.halves).reduce(0) {
      try $0 + changeUnlessRefused(table, selection, $1, isTimed, isFirst: false, change)
    }
  }

  // MARK: - Join rows

  /// Join rows that cannot go now are looked for again later, and the others go. They are no nodes, so what
  /// led to them is kept: the nodes that are gone.
  mutating func unlinkUnlessRefused(
    _ relation: EdgeRelation, _ join: JoinTable, lost end: EdgeEnd, _ keys: KeyArray, _ limit: Int
  ) throws -> Int {
    var removal = removal
    var went = 0
    for skipsLocked in [false, true] {
      removal.skipsLocked = skipsLocked
      let refusal = try isRefused {
        went = try removal.unlink(relation, join, lost: end, keys: keys, limit: limit)
      }
      if refusal == nil && !skipsLocked { return went }
      if skipsLocked {
        try leaveJoinRows(relation, join, lost: end, keys, because: refusal ?? .lockTimeout)
      }
    }
    return went
  }

  private mutating func leaveJoinRows(
    _ relation: EdgeRelation, _ join: JoinTable, lost end: EdgeEnd, _ keys: KeyArray,
    because refusal: PostgresError
  ) throws {
    let left = try BlockedNodes(store).keepCauses(ofRowsIn: relation, join, lost: end, keys)
    if left == 0 { return }
    if refusal.isLocked { hasLocked = true }
    let why = try Hindrance(store).text(refusal, of: join.name, patience.longest)
    remarks.append(Reason(.denied, "rows of \(join.name) must stay: \(why)"))
  }
}

extension StoreConnection {
  fileprivate func keys(
    of table: MappedTable, _ selection: RowRemoval.Selection, _ limit: Int
  ) throws -> [String] {
    try db.run(
      """
      SELECT \(table.key.text(selection.row)) FROM \(selection.from(table))
      WHERE \(selection.condition) LIMIT \(limit)
      """, selection.values
    ).texts
  }

  /// Rejects a change file that was to delete such rows.
  package func refuseKept(_ table: MappedTable, _ selection: RowRemoval.Selection) throws {
    if table.keepers(.delete).isEmpty { return }
    let kept = try keys(of: table, selection, Receipt.mostListed)
    if kept.isEmpty { return }
    throw Rejection(
      kept.map { .mustStay(table.node($0), because: table.keptText(.delete)) })
  }
}

extension Array {
  /// All elements in parts of at most so many.
  fileprivate func parts(of most: Int) -> [[Element]] {
    if count <= most { return isEmpty ? [] : [self] }
    return stride(from: 0, to: count, by: most).map {
      Array(self[$0..<Swift.min($0 + most, count)])
    }
  }

  fileprivate var halves: [[Element]] { parts(of: Swift.max(1, (count + 1) / 2)) }
}
