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
      try undo.restoreChanges(slice, of: kept, table, sql)
    }
  }

  private mutating func restoreChanges(
    _ slice: Slice, of kept: Numbered, _ table: Table, _ sql: String
  ) throws {
    for id in try ids(of: kept, in: slice) {
      do {
        try writer.db.run(generated: sql, [kept.bound.0, kept.bound.1, .integer(id)])
        if try writer.db.changes == 0 && restorePart(id, of: kept, table) { continue }
        try judge(id, kept)
      } catch let error as SQLiteError where error.isAboutTheValue {
        if !writer.db.isInTransaction { throw error }
        try leave(id, kept, because: error.message)
      }
    }
  }

  /// Of a list comes back what leads to something; the rest may do so another time. What else stands in
  /// the column may be another by now.
  private mutating func restorePart(
    _ id: Int64, of kept: Numbered, _ table: Table
  ) throws -> Bool {
    let lists = kept.lists(writer.binding.places)
    guard !lists.isEmpty, let now = try kept.texts(of: id, in: table, writer.db) else {
      return false
    }
    var part = now
    for list in lists { part = try list.restoring(part, writer.db) }
    if part.now == now.now { return false }
    let row = [kept.bound.0, kept.bound.1, .integer(id)]
    try writer.db.run(
      generated: kept.update(of: table, setting: "?4", where: "\(kept.column("r")) IS ?5"),
      row + [.text(part.now), .text(now.now)])
    if writer.db.changes == 0 { return false }
    try writer.db.run(
      generated: """
        UPDATE main.cascade_trash AS t SET c\(kept.layout.columns.count) = ?4
        WHERE \(TrashLayout.isKept) AND t.id = ?3
        """, row + [.text(part.nulled)])
    result.references += 1
    if part.isPart { try leave(id, kept, because: "some of what they led to is not there") }
    return true
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
    let values = try writer.db.first(
      """
      SELECT n.id, n.value, t.c1, t.c2 FROM cascade_trash AS t JOIN cascade_node AS n ON n.id = t.c0
      WHERE t.batch = ?1 AND t.layout = ?2 AND t.id = ?3 AND t.part = 0
      """, kept.bound.0, kept.bound.1, .integer(id)
    ) { (object: $0.integer(0), now: $0.text(1), was: $0.text(2), nulled: $0.text(3)) }
    let restored = values.flatMap { $0.now.undoing($0.nulled, $0.was) }
    try writer.db.run(
      "UPDATE cascade_node SET value = ?2 WHERE id = ?1 AND ?2 IS NOT NULL",
      .integer(values?.object), .text(restored))
    try judge(id, kept)
    if let values, restored != nil {
      try writer.db.run(
        "INSERT OR IGNORE INTO temp.rewritten VALUES(?)", .integer(values.object))
    }
  }
}

extension Undo {
  /// A foreign key, too, leads to what is there.
  private func leadsSomewhere(_ kept: Numbered, _ table: Table) throws -> String {
    if let isThere = kept.leadsSomewhere(writer.binding.places) { return isThere }
    let key = table.foreignKeys.first { $0.columns == kept.changed }
    guard let key, let parent = try writer.db.tables([key.parent]).first else { return "true" }
    let names = key.parentColumns.isEmpty ? parent.primaryKey : key.parentColumns
    let isParent = names.enumerated().map { place, name in
      let old = "t.c\(kept.layout.keys + place)"
      // As the foreign key compares, which the trash has no type for.
      let isText = parent.column(name)?.affinity == .text
      return "p.\(quoted(name)) = \(isText ? "+CAST(\(old) AS TEXT)" : old)"
    }
    return """
      EXISTS (SELECT 1 FROM main.\(quoted(parent.name)) AS p
        WHERE \(isParent.joined(separator: " AND ")))
      """
  }
}

/// What stands in a column of JSON, stood there, and was left there by nulling.
private struct JSONColumn {
  let now: String
  let was: String
  let nulled: String
  /// Something that it was is not there.
  var isPart = false
}

extension Undo.Numbered {
  fileprivate var changed: [String] {
    layout.columns.dropFirst(layout.keys).compactMap { $0 }
  }

  /// The key's columns, then those that were nulled; behind these the values that nulling made.
  fileprivate func update(of table: Table, leadingSomewhere: String) -> String {
    let sets = changed.enumerated().map { "\(quoted($1)) = t.c\(layout.keys + $0)" }
    return update(of: table, sets.joined(separator: ", ")) + " AND \(leadingSomewhere)"
  }

  /// The only column that was changed gets another value.
  fileprivate func update(
    of table: Table, setting value: String, where condition: String
  ) -> String {
    """
    UPDATE OR ABORT main.\(quoted(table.name)) AS r SET \(quoted(changed[0])) = \(value)
    \(fromTrash(table)) AND \(condition)
    """
  }

  private func update(of table: Table, _ sets: String) -> String {
    let isNulled = changed.enumerated().map {
      "r.\(quoted($1)) IS t.c\(layout.columns.count + $0)"
    }
    return """
      UPDATE OR ABORT main.\(quoted(table.name)) AS r SET \(sets)
      \(fromTrash(table)) AND \(isNulled.joined(separator: " AND "))
      """
  }

  private func fromTrash(_ table: Table) -> String {
    "FROM main.cascade_trash AS t WHERE \(TrashLayout.isKept) AND t.id = ?3 AND \(isRow(of: table))"
  }

  private func isRow(of table: Table) -> String {
    let keys = layout.columns.prefix(layout.keys).map { $0.map(quoted) ?? table.rowid ?? "" }
    return keys.enumerated().map { "r.\($1) = t.c\($0)" }.joined(separator: " AND ")
  }

  fileprivate func column(_ row: String) -> String { "\(row).\(quoted(changed[0]))" }

  /// The lists in the column that was changed, or references of their kind.
  fileprivate func lists(_ places: [Place]) -> [Place] {
    places.filter { place in
      guard case .json(let column, _) = place.form, [column] == changed else { return false }
      return place.source.table?.name == layout.subject
    }
  }

  /// The column as it is, as it was, and as nulling left it.
  fileprivate func texts(
    of id: Int64, in table: Table, _ db: borrowing Connection
  ) throws -> JSONColumn? {
    try db.all(
      generated: """
        SELECT \(column("r")), t.c\(layout.keys), t.c\(layout.columns.count)
        FROM main.cascade_trash AS t CROSS JOIN main.\(quoted(table.name)) AS r
        WHERE \(TrashLayout.isKept) AND t.id = ?3 AND \(isRow(of: table))
        AND json_valid(\(column("r")))
        """, [bound.0, bound.1, .integer(id)]
    ) { JSONColumn(now: $0.text(0), was: $0.text(1), nulled: $0.text(2)) }.first
  }

  /// Only to what is there; a list as a whole, for all that was taken out of it.
  fileprivate func leadsSomewhere(_ places: [Place]) -> String? {
    let old = "t.c\(layout.keys)"
    let lists = lists(places).map { place in
      "NOT EXISTS (SELECT 1 FROM \(place.missing(from: old, but: "t.c\(layout.columns.count)")))"
    }
    if !lists.isEmpty { return "(\(lists.joined(separator: " AND ")))" }
    let ways = places.compactMap { place -> String? in
      if place.source.table?.name != layout.subject { return nil }
      let isThere = place.destination.hasRow(withKey: place.destination.asKey(old))
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

extension Place {
  /// What a list names, and what was left of it does not, and is not there.
  fileprivate func missing(from old: String, but new: String) -> String {
    guard case .json(_, let path) = form, destination.kind != .files else {
      return "(SELECT 1) WHERE false"
    }
    return "(SELECT 1) \(elements(of: old, at: path)) WHERE \(isMissing(but: new, path))"
  }

  /// Where it is still what nulling made of it, the list as it was, without that.
  fileprivate func restoring(
    _ column: JSONColumn, _ db: borrowing Connection
  ) throws -> JSONColumn {
    guard case .json(_, let path) = form, destination.kind != .files else { return column }
    func place(_ column: String) -> String { memberPath(path, in: column) }
    func list(_ column: String) -> String { "(\(column) -> \(place(column)))" }
    let part = nulledList("?2", path, without: isMissing(but: "?3", path))
    let isMissing = "EXISTS (SELECT 1 FROM \(missing(from: "?2", but: "?3")))"
    return try db.all(
      generated: """
        SELECT json_set(?1, \(place("?1")), json(p.part)),
          json_set(?3, \(place("?3")), json(p.part)), p.lacks
        FROM (SELECT iif(\(isMissing), \(part), ?2) -> \(place("?2")) AS part,
          \(isMissing) AS lacks) AS p
        WHERE \(list("?2")) IS NOT \(list("?3")) AND \(list("?1")) IS \(list("?3"))
        """, [.text(column.now), .text(column.was), .text(column.nulled)]
    ) { row in
      JSONColumn(
        now: row.text(0), was: column.was, nulled: row.text(1),
        isPart: column.isPart || row.integer(2) != 0)
    }.first ?? column
  }

  private func isMissing(but new: String, _ path: String) -> String {
    let left = "\(elements(of: new, at: path)) WHERE x.type IN ('text', 'integer')"
    return """
      x.type IN ('text', 'integer') AND NOT \(destination.hasRow(withKey: destination.asKey("x.value")))
      AND x.value NOT IN (SELECT x.value FROM (SELECT 1) \(left))
      """
  }
}

extension String {
  /// The text of an object, with what was nulled as it was; nil where that was written meanwhile.
  fileprivate func undoing(_ nulled: String, _ was: String) -> String? {
    if self == nulled { return was }
    guard var members = JSONText(valid: self).members(),
      let nulled = JSONText(valid: nulled).members(), let was = JSONText(valid: was).members()
    else { return nil }
    for (new, old) in zip(nulled, was) where new.value != old.value {
      guard let index = members.firstIndex(where: { $0.isNamed(new.name) }),
        members[index].value == new.value
      else { return nil }
      members[index] = old
    }
    return JSONText(object: members).text
  }
}
