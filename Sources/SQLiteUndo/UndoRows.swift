internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteTables

/// Restores rows and objects: all of a portion at once, and one by one if some of them fail.
extension Undo {
  mutating func restoreRows(_ kept: NumberedLayout) throws {
    if kept.remaining == 0 { return }
    let table = try table(of: kept)
    try forEachPortion(of: kept, removing: !finishesRowsAtEnd) { undo, slice, count in
      switch table {
      case .failure(let unusable): try undo.leave(slice, of: kept, because: unusable.reason)
      case .success(let (table, fit)):
        let count = try count - undo.leaveWithoutEnds(slice, of: kept)
        let target = try undo.target(table, fit)
        let isRewritable = !target.isWrittenByTriggers || kept.identity(in: table) != nil
        if try isRewritable && undo.refusal(slice, of: kept, target, count) == nil {
          undo.count(kept, count)
        } else {
          try undo.restoreOneByOne(slice, of: kept, target)
        }
      }
    }
  }

  /// Leaves join rows whose ends do not come back, since they mean nothing without them. Returns
  /// how many. Where the application deleted an end itself, bringing it back is up to the
  /// application.
  private mutating func leaveWithoutEnds(_ slice: Slice, of kept: NumberedLayout) throws -> Int {
    let ends = writer.binding.edgeRelations.flatMap { $0.leftEnds(in: kept.layout) }
    if kept.layout.kind != .side || ends.isEmpty { return 0 }
    let left = try writer.db.all(
      generated: """
        SELECT t.id \(kept.layout.fromEntries)
        WHERE \(TrashLayout.isInSlice) AND (\(ends.joined(separator: " OR ")))
        """, kept.bound(slice)
    ) { $0.integer(0) }
    for id in left { try leaveInTrash(id, kept, because: "a row that it joins does not exist") }
    return left.count
  }

  /// The table as it is now, and how the rows fit it.
  func table(of kept: NumberedLayout) throws -> Result<(Table, RowFit), Catalog.Unusable> {
    let found = try Catalog(writer.db).table(kept.layout.subject, in: writer.db)
    guard case .success(let table) = found else { return found.map { ($0, .none) } }
    let fit = kept.fit(table, of: kept.layout.collection.flatMap(writer.binding.collection))
    if let refusal = fit.refusal { return .failure(Catalog.Unusable(refusal)) }
    return .success((table, fit))
  }

  static let isNotLeft = "t.id NOT IN (SELECT id FROM temp.left_alone)"

  private mutating func restoreOneByOne(
    _ slice: Slice, of kept: NumberedLayout, _ target: Target
  ) throws {
    var restored = 0
    for id in try ids(of: kept, in: slice) {
      if let reason = try restoreOne(Slice(low: id - 1, high: id), of: kept, target) {
        try leaveInTrash(id, kept, because: reason)
      } else {
        restored += 1
      }
    }
    count(kept, restored)
  }

  func ids(of kept: NumberedLayout, in slice: Slice) throws -> [Int64] {
    try writer.db.all(
      generated: """
        SELECT t.id FROM main.cascade_trash AS t
        WHERE \(TrashLayout.isInSlice) AND \(Undo.isNotLeft) ORDER BY t.id
        """, kept.bound(slice)
    ) { $0.integer(0) }
  }

  mutating func leave(_ slice: Slice, of kept: NumberedLayout, because reason: String) throws {
    for id in try ids(of: kept, in: slice) { try leaveInTrash(id, kept, because: reason) }
  }

  private mutating func count(_ kept: NumberedLayout, _ restored: Int) {
    if restored == 0 { return }
    if kept.layout.kind == .side { return result.rows += restored }
    result.restored += restored
    result.byCollection[kept.collection, default: 0] += restored
  }

  // MARK: - Objects

  mutating func restoreObjects(_ kept: NumberedLayout) throws {
    guard let collection = kept.layout.collection else { return }
    try forEachPortion(of: kept) { undo, slice, _ in
      try undo.restoreObjects(slice, of: kept, collection)
    }
  }

  private mutating func restoreObjects(
    _ slice: Slice, of kept: NumberedLayout, _ collection: Int64
  ) throws {
    if writer.binding.collection(collection) != nil {
      return try leave(slice, of: kept, because: "\"\(kept.collection)\" is now a table")
    }
    let bound = kept.bound(slice) + [.integer(collection)]
    let taken = try writer.db.all(
      generated: """
        SELECT t.id FROM main.cascade_trash AS t CROSS JOIN main.cascade_node AS n
          ON n.collection = ?5 AND n.key = t.c0
        WHERE \(TrashLayout.isInSlice)
        """, bound
    ) { $0.integer(0) }
    for id in taken { try leaveInTrash(id, kept, because: "the key was taken meanwhile") }
    // A key that one change file put and deleted again may be in the trash several times. The first
    // is the one that existed before.
    try writer.db.run(
      generated: """
        INSERT OR IGNORE INTO main.cascade_node(id, collection, key, type, value)
        SELECT t.id, ?5, t.c0, t.c1, t.c2 FROM main.cascade_trash AS t
        WHERE \(TrashLayout.isInSlice) AND \(Undo.isNotLeft) ORDER BY t.id
        """, bound)
    count(kept, writer.db.changes)
  }
}

extension Undo.NumberedLayout {
  /// A conflict is an error, whatever the table declares: no existing row is replaced. A rowid that
  /// is not a column comes back if it is free. Rows that need another rowid are inserted last, so
  /// that they take none that a restored row needs.
  func insertion(into table: Table, _ fit: RowFit) -> String {
    var columns = fit.fillings.map { quoted($0.column.name) }
    var values = fit.fillings.map(\.value)
    var order = ""
    if !table.isRowidColumn, let rowid = table.rowid,
      let place = layout.columns.firstIndex(of: nil)
    {
      let value = TrashLayout.value(place)
      let isTaken =
        "EXISTS (SELECT 1 FROM main.\(quoted(table.name)) AS o WHERE o.\(rowid) = \(value))"
      columns.append(rowid)
      values.append("iif(\(isTaken), NULL, \(value))")
      order = "ORDER BY \(isTaken)"
    }
    return """
      INSERT OR ABORT INTO main.\(quoted(table.name))(\(columns.joined(separator: ", ")))
      SELECT \(values.joined(separator: ", ")) \(layout.fromEntries)
      WHERE \(TrashLayout.isInSlice) AND \(Undo.isNotLeft) \(order)
      """
  }
}

extension EdgeRelation {
  /// Conditions: an end of a trashed join row is left in the trash, too.
  fileprivate func leftEnds(in layout: TrashLayout) -> [String] {
    guard case .join(let table, let from, let to) = form, table.name == layout.subject else {
      return []
    }
    return [(from, source), (to, destination)].compactMap { columns, end in
      let places = columns.compactMap { column in
        layout.columns.firstIndex { $0?.folded == column.folded }
      }
      if places.count != columns.count { return nil }
      return end.isLeft(named: Reference(values: places.map(TrashLayout.value)))
    }
  }
}

extension NodeTable {
  fileprivate func isLeft(named reference: Reference) -> String {
    let isSame =
      reference.hasSeveralValues
      ? reference.values.enumerated().map { "e.c\($0) = \($1)" }.joined(separator: " AND ")
      : "e.c0 = \(asKey(reference))"
    return """
      (NOT \(hasRow(asKeyOf: reference)) AND EXISTS (
        SELECT 1 FROM temp.left_alone AS a CROSS JOIN main.cascade_trash AS e
          ON e.batch = ?1 AND e.id = a.id AND e.part = 0
        CROSS JOIN main.cascade_trash_layout AS l
          ON l.batch = ?1 AND l.layout = e.layout AND l.collection = \(id)
        WHERE \(isSame)))
      """
  }
}
