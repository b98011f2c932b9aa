internal import CascadeModel
internal import CascadePostgres
package import PostgresBinding

/// What a constraint or a trigger of the application refuses is left by a sweep, which goes on with the
/// rest. A change file is rejected instead.
extension Waves {
  /// As long as nothing was refused, a refusal ends the step, which is then taken once more.
  private func isRefused(_ body: () throws -> Void) throws -> PostgresError? {
    if !expectsRefusals {
      try body()
      return nil
    }
    do {
      try db.savepoint { try body() }
      return nil
    } catch let refusal as PostgresError where refusal.isAboutTheValue {
      return refusal
    }
  }

  private mutating func block(
    _ key: String, of table: MappedTable, because refusal: PostgresError
  ) throws {
    try BlockedNodes(store).add(key, of: table, because: refusal.message)
    hasBlocked = true
  }

  package func keys(of table: MappedTable, _ selection: RowRemoval.Selection, _ limit: Int = .max)
    throws -> [String]
  {
    try db.run(
      """
      SELECT \(table.key.text(selection.row)) FROM \(selection.from(table))
      WHERE \(selection.condition) LIMIT \(limit)
      """, selection.values
    ).texts
  }

  // MARK: - Rows

  /// Returns how many rows it deleted, or had to leave.
  mutating func deleteUnlessRefused(
    from table: MappedTable, _ selection: RowRemoval.Selection, _ cause: RowRemoval.Cause,
    _ limit: Int
  ) throws -> Int {
    var (next, went) = (self, 0)
    let refusal = try isRefused { went = try next.deleteAll(from: table, selection, cause, limit) }
    if refusal == nil {
      self = next
      return went
    }
    let keys = try keys(of: table, selection, limit)
    try deleteUnlessRefused(from: table, keys, selection, cause)
    return keys.count
  }

  /// Deletes rows after what follows from them, as foreign keys want it. If that is refused too, halves
  /// the rows until those are found that the application keeps.
  private mutating func deleteUnlessRefused(
    from table: MappedTable, _ keys: [String], _ selection: RowRemoval.Selection,
    _ cause: RowRemoval.Cause
  ) throws {
    if keys.isEmpty { return }
    var next = self
    let refusal = try isRefused {
      try next.deleteDependents(of: table, keys, beyond: [:])
      _ = try next.deleteAll(from: table, selection.only(keys, of: table), cause)
    }
    guard let refusal else {
      self = next
      return
    }
    if keys.count == 1 { return try block(keys[0], of: table, because: refusal) }
    let middle = keys.count / 2
    try deleteUnlessRefused(from: table, Array(keys[..<middle]), selection, cause)
    try deleteUnlessRefused(from: table, Array(keys[middle...]), selection, cause)
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
    try deleteDependents(of: source, self.keys(of: source, selection), beyond: seen)
    let cause = RowRemoval.Cause(
      rule: .deleteSourceIfDestinationDeleted, relation: relation, other: relation.to(in: "d"))
    _ = try deleteAll(from: source, selection, cause)
  }

  // MARK: - Changes

  /// Runs `change` for the selected rows of a table, but for those that the application keeps as they
  /// are. `keys` are those of the rows, once it is known that not all of them can be changed. Returns
  /// what `change` does, in sum.
  mutating func changeUnlessRefused(
    _ table: MappedTable, _ selection: RowRemoval.Selection, keys: [String]? = nil,
    _ change: (Waves, RowRemoval.Selection) throws -> Int
  ) throws -> Int {
    if keys?.isEmpty == true { return 0 }
    let rows = keys.map { selection.only($0, of: table) } ?? selection
    var changed = 0
    let refusal = try isRefused { changed = try change(self, rows) }
    guard let refusal else { return changed }
    if let keys, keys.count == 1 {
      try block(keys[0], of: table, because: refusal)
      return 0
    }
    let all = try keys ?? self.keys(of: table, selection)
    let middle = all.count / 2
    return try changeUnlessRefused(table, selection, keys: Array(all[..<middle]), change)
      + changeUnlessRefused(table, selection, keys: Array(all[middle...]), change)
  }
}
