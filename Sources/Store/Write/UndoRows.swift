internal import Model
internal import SQLite

/// Rows and objects come back: all of a kind at once, and one by one where some of them cannot.
extension Undo {
  mutating func restoreRows(_ kept: Numbered) throws {
    if kept.remaining == 0 { return }
    switch try table(of: kept) {
    case .failure(let unusable): try leaveAll(kept, because: unusable.reason)
    case .success(let table):
      if try restoreAtOnce(kept, table) { return count(kept, kept.remaining) }
      try restoreOneByOne(kept, table)
    }
  }

  /// As it is now; what it lost since cannot come back as it was.
  private func table(of kept: Numbered) throws -> Result<Table, Catalog.Unusable> {
    let found = try Catalog(writer.db).table(kept.layout.subject, in: writer.db)
    guard case .success(let table) = found else { return found }
    for (place, name) in kept.layout.columns.enumerated() {
      guard let name else { continue }
      // A key may be computed; what is kept of the row gives the same one again.
      guard let column = table.column(name), !column.isGenerated || place < kept.layout.keys else {
        return .failure(
          Catalog.Unusable("table \"\(table.name)\" has no column \"\(name)\" any more"))
      }
    }
    return found
  }

  private struct NotAll: Error {}

  private func restoreAtOnce(_ kept: Numbered, _ table: Table) throws -> Bool {
    do {
      try writer.db.savepoint {
        try writer.db.run(generated: kept.insertion(into: table), [kept.bound.0, kept.bound.1])
        if writer.db.changes != kept.remaining { throw NotAll() }
      }
      return true
    } catch is NotAll {
      return false
    } catch let error as SQLiteError where error.isAboutTheValue || error.isAboutTheStatement {
      try requireTransaction(error)
      return false
    }
  }

  private mutating func restoreOneByOne(_ kept: Numbered, _ table: Table) throws {
    let one = kept.insertion(into: table, only: "?3")
    var restored = 0
    for id in try ids(of: kept) {
      do {
        try writer.db.run(generated: one, [kept.bound.0, kept.bound.1, .integer(id)])
        if writer.db.changes == 1 {
          restored += 1
        } else {
          try leave(id, kept, because: "a trigger of \"\(table.name)\" ignores it")
        }
      } catch let error as SQLiteError where error.isAboutTheValue || error.isAboutTheStatement {
        try requireTransaction(error)
        try leave(id, kept, because: error.message)
      }
    }
    count(kept, restored)
  }

  private func requireTransaction(_ error: SQLiteError) throws {
    if writer.db.isInTransaction { return }
    throw StoreError("a trigger rolled back the whole undo: \(error.message)")
  }

  func ids(of kept: Numbered) throws -> [Int64] {
    try writer.db.all(
      """
      SELECT id FROM cascade_trash WHERE batch = ? AND layout = ? AND part = 0 ORDER BY id
      """, kept.bound.0, kept.bound.1
    ) { $0.integer(0) }
  }

  private mutating func leaveAll(_ kept: Numbered, because reason: String) throws {
    for id in try ids(of: kept) { try leave(id, kept, because: reason) }
  }

  private mutating func count(_ kept: Numbered, _ restored: Int) {
    if restored == 0 { return }
    if kept.layout.kind == .side { return result.rows += restored }
    result.restored += restored
    result.byCollection[kept.collection, default: 0] += restored
  }

  // MARK: - Objects

  mutating func restoreObjects(_ kept: Numbered) throws {
    guard let collection = kept.layout.collection else { return }
    let taken = try writer.db.all(
      """
      SELECT t.id FROM cascade_trash AS t CROSS JOIN cascade_node AS n
        ON n.collection = ?3 AND n.key = t.c0
      WHERE t.batch = ?1 AND t.layout = ?2 AND t.part = 0
      """, kept.bound.0, kept.bound.1, .integer(collection)
    ) { $0.integer(0) }
    for id in taken { try leave(id, kept, because: "the key was taken meanwhile") }
    try writer.db.run(
      """
      INSERT INTO cascade_node(id, collection, key, type, value)
      SELECT t.id, ?3, t.c0, t.c1, t.c2 FROM cascade_trash AS t
      WHERE t.batch = ?1 AND t.layout = ?2 AND t.part = 0
      AND t.id NOT IN (SELECT id FROM temp.left_alone)
      """, kept.bound.0, kept.bound.1, .integer(collection))
    count(kept, writer.db.changes)
  }
}

extension Undo.Numbered {
  /// A conflict is an error, whatever the table says: nothing that is there gives way. A rowid that
  /// is no column comes back where it is free.
  fileprivate func insertion(into table: Table, only id: String? = nil) -> String {
    var columns: [String] = []
    var values: [String] = []
    for (place, column) in layout.columns.enumerated() {
      let value = TrashLayout.value(place)
      if let column {
        if table.column(column)?.isGenerated == true { continue }
        columns.append(quoted(column))
        values.append(value)
      } else if let rowid = table.rowid {
        columns.append(rowid)
        values.append(
          """
          iif(EXISTS (SELECT 1 FROM main.\(quoted(table.name)) AS o WHERE o.\(rowid) = \(value)),
            NULL, \(value))
          """)
      }
    }
    return """
      INSERT OR ABORT INTO main.\(quoted(table.name))(\(columns.joined(separator: ", ")))
      SELECT \(values.joined(separator: ", ")) \(layout.kept)
      WHERE \(TrashLayout.isKept)\(id.map { " AND t.id = \($0)" } ?? "")
      """
  }
}
