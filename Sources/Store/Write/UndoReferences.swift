internal import Model
internal import SQLite

/// References of what survived come back where they are still what nulling made of them, the latest
/// first: a row may have lost several, one after the other.
extension Undo {
  mutating func restoreReferences(_ kept: Numbered) throws {
    switch kept.layout.kind {
    case .change: try restoreChanges(kept)
    case .value: try restoreValues(kept)
    default: break
    }
  }

  private mutating func restoreChanges(_ kept: Numbered) throws {
    guard
      case .success(let table) = try Catalog(writer.db).table(kept.layout.subject, in: writer.db)
    else { return try leaveChanges(kept) }
    let isThere = kept.layout.columns.allSatisfy { name in
      name.map { table.column($0) != nil } ?? (table.rowid != nil)
    }
    if !isThere { return try leaveChanges(kept) }
    let sql = try kept.update(of: table, leadingSomewhere: leadsSomewhere(kept, table))
    try eachFew(of: kept) { undo, slice, _ in
      try undo.restoreChanges(slice, of: kept, sql)
    }
  }

  private mutating func restoreChanges(_ slice: Slice, of kept: Numbered, _ sql: String) throws {
    for id in try ids(of: kept, in: slice) {
      do {
        try writer.db.run(generated: sql, [kept.bound.0, kept.bound.1, .integer(id)])
        try judge(id, kept)
      } catch let error as SQLiteError where error.isAboutTheValue {
        if !writer.db.isInTransaction { throw error }
        try leave(id, kept, because: error.message)
      }
    }
  }

  private mutating func leaveChanges(_ kept: Numbered) throws {
    let reason = "table \"\(kept.layout.subject)\" is not what it was"
    try eachFew(of: kept) { undo, slice, _ in try undo.leave(slice, of: kept, because: reason) }
  }

  private mutating func judge(_ id: Int64, _ kept: Numbered) throws {
    if writer.db.changes == 1 { return result.references += 1 }
    try leave(
      id, kept, because: "they were written meanwhile, or what they led to is not there")
  }

  private mutating func restoreValues(_ kept: Numbered) throws {
    try eachFew(of: kept) { undo, slice, _ in
      for id in try undo.ids(of: kept, in: slice) { try undo.restoreValue(id, kept) }
    }
  }

  private mutating func restoreValue(_ id: Int64, _ kept: Numbered) throws {
    try writer.db.run(
      """
      UPDATE cascade_node SET value = t.c1 FROM cascade_trash AS t
      WHERE t.batch = ?1 AND t.layout = ?2 AND t.id = ?3 AND t.part = 0
      AND cascade_node.id = t.c0 AND cascade_node.value IS t.c2
      """, kept.bound.0, kept.bound.1, .integer(id))
    try judge(id, kept)
  }
}

extension Undo {
  /// A foreign key, too, leads to what is there.
  private func leadsSomewhere(_ kept: Numbered, _ table: Table) throws -> String {
    if let isThere = kept.leadsSomewhere(writer.binding.places) { return isThere }
    let key = table.foreignKeys.first { $0.columns == kept.changed }
    guard let key, let parent = try writer.db.tables([key.parent]).first else { return "true" }
    let names = key.parentColumns.isEmpty ? parent.primaryKey : key.parentColumns
    let isParent = names.enumerated().map { "p.\(quoted($1)) = t.c\(kept.layout.keys + $0)" }
    return """
      EXISTS (SELECT 1 FROM main.\(quoted(parent.name)) AS p
        WHERE \(isParent.joined(separator: " AND ")))
      """
  }
}

extension Undo.Numbered {
  fileprivate var changed: [String] {
    layout.columns.dropFirst(layout.keys).compactMap { $0 }
  }

  /// The key's columns, then those that were nulled; behind these the values that nulling made.
  fileprivate func update(of table: Table, leadingSomewhere: String) -> String {
    let keys = layout.columns.prefix(layout.keys).map { $0.map(quoted) ?? table.rowid ?? "" }
    let sets = changed.enumerated().map { "\(quoted($1)) = t.c\(layout.keys + $0)" }
    let isRow = keys.enumerated().map { "r.\($1) = t.c\($0)" }
    let isNulled = changed.enumerated().map {
      "r.\(quoted($1)) IS t.c\(layout.columns.count + $0)"
    }
    return """
      UPDATE OR ABORT main.\(quoted(table.name)) AS r SET \(sets.joined(separator: ", "))
      FROM main.cascade_trash AS t
      WHERE \(TrashLayout.isKept) AND t.id = ?3 AND \(isRow.joined(separator: " AND "))
      AND \(isNulled.joined(separator: " AND ")) AND \(leadingSomewhere)
      """
  }

  /// A list comes back whole; a single reference only to what is there.
  fileprivate func leadsSomewhere(_ places: [Place]) -> String? {
    let old = "t.c\(layout.keys)"
    let ways = places.compactMap { place -> String? in
      if place.source.table?.name != layout.subject { return nil }
      let isThere = place.destination.hasRow(withKey: old)
      switch place.form {
      case .column(let column): return [column] == changed ? isThere : nil
      case .typed(let column, let typeColumn, let type):
        if [column, typeColumn] != changed { return nil }
        return "(t.c\(layout.keys + 1) = \(literal(type)) AND \(isThere))"
      case .join, .json: return nil
      }
    }
    return ways.isEmpty ? nil : "(\(ways.joined(separator: " OR ")))"
  }
}
