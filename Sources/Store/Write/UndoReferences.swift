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
    if !kept.layout.columns.allSatisfy({ $0.flatMap(table.column) != nil }) {
      return try leaveChanges(kept)
    }
    let sql = kept.update(of: table, places: writer.binding.places)
    for id in try ids(of: kept) {
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
    for id in try ids(of: kept) {
      try leave(id, kept, because: "table \"\(kept.layout.subject)\" is not what it was")
    }
  }

  private mutating func judge(_ id: Int64, _ kept: Numbered) throws {
    if writer.db.changes == 1 { return result.references += 1 }
    try leave(
      id, kept, because: "they were written meanwhile, or what they led to is not there")
  }

  private mutating func restoreValues(_ kept: Numbered) throws {
    for id in try ids(of: kept) {
      try writer.db.run(
        """
        UPDATE cascade_node SET value = t.c1 FROM cascade_trash AS t
        WHERE t.batch = ?1 AND t.layout = ?2 AND t.id = ?3 AND t.part = 0
        AND cascade_node.id = t.c0 AND cascade_node.value IS t.c2
        """, kept.bound.0, kept.bound.1, .integer(id))
      try judge(id, kept)
    }
  }
}

extension Undo.Numbered {
  /// The key's columns, then those that were nulled; behind these the values that nulling made.
  fileprivate func update(of table: Table, places: [Place]) -> String {
    let columns = layout.columns.compactMap { $0 }
    let keys = columns.prefix(layout.keys)
    let changed = columns.dropFirst(layout.keys)
    let sets = changed.enumerated().map { "\(quoted($1)) = t.c\(layout.keys + $0)" }
    let isRow = keys.enumerated().map { "r.\(quoted($1)) = t.c\($0)" }
    let isNulled = changed.enumerated().map { "r.\(quoted($1)) IS t.c\(columns.count + $0)" }
    return """
      UPDATE OR ABORT main.\(quoted(table.name)) AS r SET \(sets.joined(separator: ", "))
      FROM main.cascade_trash AS t
      WHERE \(TrashLayout.isKept) AND t.id = ?3 AND \(isRow.joined(separator: " AND "))
      AND \(isNulled.joined(separator: " AND ")) AND \(leadsSomewhere(places, Array(changed)))
      """
  }

  /// A list comes back whole; a single reference only to what is there.
  private func leadsSomewhere(_ places: [Place], _ changed: [String]) -> String {
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
    return ways.isEmpty ? "true" : "(\(ways.joined(separator: " OR ")))"
  }
}
