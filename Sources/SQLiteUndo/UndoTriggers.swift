internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteDeletion

/// Rows come back as they were, although triggers of the application may write them.
///
/// 1. The triggers run, because others depend on them: a search index must learn of the row. Then
///    the row is made what it was, without them. What they wrote into other rows stands.
/// 2. In an undo that is one transaction, all rows are made what they were at its end: the trigger
///    of one may have written another.
/// 3. Where triggers cannot run here, or refuse or remove the row, it comes back without them.
///    CHECK constraints that cannot be evaluated here are left out.
extension Undo {
  /// A table into which rows come back.
  struct Target {
    let table: Table
    let fit: RowFit
    let missing: MissingDefinitions
    let isWrittenByTriggers: Bool

    var runsTriggers: Bool { missing.ofInsertTrigger == nil }
    var isChecked: Bool { missing.ofCheck == nil }
  }

  func target(_ table: Table, _ fit: RowFit = .none) throws -> Target {
    Target(
      table: table, fit: fit, missing: try writer.db.missingDefinitions(of: table),
      isWrittenByTriggers: writer.binding.mayBeWrittenByTrigger(table))
  }

  private struct IncompleteInsert: Error, CustomStringConvertible {
    var description: String { "a trigger removed rows that were to come back" }
  }

  /// Inserts the rows of a slice; throws, and inserts none, if not all of them are there afterwards.
  private func insert(
    _ slice: Slice, of kept: NumberedLayout, _ target: Target, _ count: Int,
    withTriggers: Bool
  ) throws {
    try writer.db.savepoint {
      let triggers = withTriggers && target.runsTriggers
      try writer.db.executing(triggers: triggers, checks: target.isChecked) {
        try writer.db.run(
          generated: kept.insertion(into: target.table, target.fit), kept.bound(slice))
        if writer.db.changes != count { throw IncompleteInsert() }
      }
      if !triggers || !target.isWrittenByTriggers { return }
      if try rewrite(slice, of: kept, target) != count { throw IncompleteInsert() }
    }
  }

  /// Makes rows what they were. Returns how many there are.
  private func rewrite(_ slice: Slice, of kept: NumberedLayout, _ target: Target) throws -> Int {
    let isRow = kept.identity(in: target.table) ?? "r.rowid = last_insert_rowid()"
    return try writer.db.executing(triggers: false, checks: target.isChecked) {
      try writer.db.run(
        generated: kept.rewriting(target, where: isRow), kept.bound(slice))
      return writer.db.changes
    }
  }

  /// Returns why a row cannot come back; nil if it is back.
  mutating func restoreOne(
    _ one: Slice, of kept: NumberedLayout, _ target: Target
  ) throws -> String? {
    guard let refusal = try refusal(one, of: kept, target, 1) else { return nil }
    if !target.isWrittenByTriggers { return refusal }
    if let refusal = try self.refusal(one, of: kept, target, 1, withTriggers: false) {
      return refusal
    }
    result.remark(
      "rows of \"\(target.table.name)\" came back without the triggers of the application: \(refusal)"
    )
    return nil
  }

  /// Inserts the rows of a slice. Returns why not all of them can come back; nil if they are back.
  mutating func refusal(
    _ slice: Slice, of kept: NumberedLayout, _ target: Target, _ count: Int,
    withTriggers: Bool = true
  ) throws -> String? {
    do {
      let reason = try writer.refusal {
        try insert(slice, of: kept, target, count, withTriggers: withTriggers)
      }
      if reason == nil { try remarkMissing(of: target, kept, slice) }
      return reason
    } catch is IncompleteInsert {
      return "a trigger of \"\(target.table.name)\" prevents it"
    }
  }

  private mutating func remarkMissing(
    of target: Target, _ kept: NumberedLayout, _ slice: Slice
  ) throws {
    for remark in target.fit.remarks { result.remark(remark) }
    for filling in target.fit.fillings {
      guard let isUnfit = filling.isUnfit else { continue }
      let isAny = try writer.db.integer(
        generated: """
          SELECT 1 \(kept.layout.fromEntries)
          WHERE \(TrashLayout.isInSlice) AND \(Undo.isNotLeft) AND \(isUnfit) LIMIT 1
          """, kept.bound(slice))
      if isAny != nil {
        result.remark(RowFit.unfit(filling.column.name, of: target.table.name))
      }
    }
    let rows = "rows of \"\(target.table.name)\" came back without"
    if let message = target.missing.ofInsertTrigger {
      result.remark("\(rows) the triggers of the application: \(message)")
    }
    if let message = target.missing.ofCheck {
      result.remark("\(rows) CHECK constraints: \(message)")
    }
  }

  // MARK: - At the end

  var finishesRowsAtEnd: Bool { !isStepped && writer.binding.hasTriggers }

  /// Makes all rows of these layouts what they were, and removes them from the trash.
  mutating func finishRows(_ rows: [NumberedLayout]) throws {
    if !finishesRowsAtEnd { return }
    for kept in rows where kept.remaining > 0 {
      if case .success(let (table, fit)) = try table(of: kept) {
        let target = try target(table, fit)
        if target.isWrittenByTriggers && kept.identity(in: table) != nil {
          _ = try rewrite(.allNumbers, of: kept, target)
        }
      }
      try removeRestored(.allNumbers, of: kept)
    }
  }
}

extension Writer {
  /// Why the application refuses what `body` writes; nil if it does not.
  func refusal(_ body: () throws -> Void) throws -> String? {
    do {
      try body()
      return nil
    } catch let error as SQLiteError where error.isAboutTheValue || error.isAboutTheStatement {
      try requireTransaction(error)
      return error.message
    }
  }
}

extension Undo.NumberedLayout {
  /// A condition: the row `r` is the one of the entry `t`. Nil if another row may have taken its
  /// place.
  func identity(in table: Table) -> String? {
    var names = layout.columns.prefix(layout.keys).compactMap(\.self)
    if names.isEmpty {
      let isUnique = table.primaryKey.allSatisfy { table.column($0)?.isRequired == true }
      if table.rowid == nil || table.isRowidColumn || isUnique { names = table.primaryKey }
    }
    let places = names.compactMap { name in
      layout.columns.firstIndex { $0?.folded == name.folded }.map { (name, $0) }
    }
    if places.isEmpty || places.count < names.count { return nil }
    return places.map { "r.\(quoted($0)) IS \(TrashLayout.value($1))" }.joined(separator: " AND ")
  }

  fileprivate func rewriting(_ target: Undo.Target, where isRow: String) -> String {
    let table = target.table
    let values = target.fit.fillings.map { "\(quoted($0.column.name)) = \($0.value)" }
    return """
      UPDATE OR ABORT main.\(quoted(table.name)) AS r SET \(values.joined(separator: ", "))
      \(layout.fromEntries) WHERE \(TrashLayout.isInSlice)
      AND t.id NOT IN (SELECT id FROM temp.left_alone) AND \(isRow)
      """
  }
}
