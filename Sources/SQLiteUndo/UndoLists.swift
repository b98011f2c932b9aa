internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteTables

/// References in a JSON column come back one by one: of a list, those that lead to an existing
/// node; of a column, those members that are still as nulling left them, or that are still a list.
extension Undo {
  /// Restores the references of a list that lead to an existing node. The others may come back at
  /// another time. Other members of the column may have changed since.
  mutating func restorePart(
    of id: Int64, _ kept: NumberedLayout, _ table: Table
  ) throws -> Bool {
    let lists = kept.lists(writer.binding.edgeRelations)
    guard !lists.isEmpty, let now = try kept.texts(of: id, in: table, writer.db) else {
      return false
    }
    var part = now
    for list in lists { part = try list.restoring(part, writer.db) }
    // By content, whatever the spelling.
    let isSame: StaticString = "SELECT json(?) = json(?)"
    if try writer.db.integer(isSame, .text(part.now), .text(now.now)) == 1 { return false }
    let row = kept.bound + [.integer(id)]
    try writer.db.run(
      generated: kept.update(
        of: table, "\(quoted(kept.changed[0])) = ?4", where: "\(kept.column("r")) IS ?5"),
      row + [.text(part.now), .text(now.now)])
    if writer.db.changes == 0 { return false }
    try writer.db.run(
      generated: """
        UPDATE main.cascade_trash AS t SET c\(kept.layout.columns.count) = ?4
        WHERE \(TrashLayout.isOfLayout) AND t.id = ?3
        """, row + [.text(part.nulled)])
    result.references += 1
    if part.isIncomplete {
      try leaveInTrash(id, kept, because: "some of their destinations do not exist")
    }
    return true
  }
}

/// The texts of a JSON column: as it is, as it was, and as nulling left it.
private struct JSONColumn {
  let now: String
  let was: String
  let nulled: String
  /// Whether something that it referred to does not exist.
  var isIncomplete = false

  var texts: [Value] { [.text(now), .text(was), .text(nulled)] }
}

extension Undo.NumberedLayout {
  fileprivate func column(_ row: String) -> String { "\(row).\(quoted(changed[0]))" }

  /// The relations whose references, single or in lists, are in the column that was changed.
  func lists(_ relations: [EdgeRelation]) -> [EdgeRelation] {
    relations.filter { relation in
      guard case .json(let column, _) = relation.form, [column] == changed else { return false }
      return relation.source.table?.name == layout.subject
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
        WHERE \(TrashLayout.isOfLayout) AND t.id = ?3 AND \(isRow(of: table))
        AND json_valid(\(column("r")))
        """, bound + [.integer(id)]
    ) { JSONColumn(now: $0.text(0), was: $0.text(1), nulled: $0.text(2)) }.first
  }
}

extension EdgeRelation {
  /// A query: the elements of the old list that are not in the new one and do not exist.
  func missing(from old: String, but new: String) -> String {
    guard case .json(_, let path) = form, !leadsToFiles else {
      return "(SELECT 1) WHERE 0"
    }
    return "(SELECT 1) \(elements(of: old, at: path)) WHERE \(isMissing(but: new, path))"
  }

  /// Restores the list at the place's path. A list that is still as nulling left it becomes the old
  /// one, without elements that do not exist. A list that was changed gets back each element that
  /// was taken out.
  fileprivate func restoring(
    _ column: JSONColumn, _ db: borrowing Connection
  ) throws -> JSONColumn {
    guard case .json(_, let path) = form, !leadsToFiles else { return column }
    func relation(_ column: String) -> String { memberPath(path, in: column) }
    func list(_ column: String) -> String { "(\(column) -> \(relation(column)))" }
    func isList(_ column: String) -> String {
      "json_type(\(column), \(relation(column))) = 'array'"
    }
    let part = listWithoutGone("?2", path, without: Query(isMissing(but: "?3", path))).text
    let isMissing = "EXISTS (SELECT 1 FROM \(missing(from: "?2", but: "?3")))"
    let isAsNulled = "\(list("?1")) IS \(list("?3"))"
    let found = try db.all(
      generated: """
        SELECT iif(\(isAsNulled), json_set(?1, \(relation("?1")), json(p.part)), NULL),
          json_set(?3, \(relation("?3")), json(p.part)), p.lacks
        FROM (SELECT iif(\(isMissing), \(part), ?2) -> \(relation("?2")) AS part,
          \(isMissing) AS lacks) AS p
        WHERE \(list("?2")) IS NOT \(list("?3"))
        AND (\(isAsNulled) OR \(isList("?1")) AND \(isList("?2")))
        """, column.texts
    ) { (now: $0.optionalText(0), nulled: $0.text(1), isPart: $0.integer(2) != 0) }.first
    guard let found else { return column }
    return JSONColumn(
      now: try found.now ?? merged(column, at: path, db), was: column.was, nulled: found.nulled,
      isIncomplete: column.isIncomplete || found.isPart)
  }

  private func merged(
    _ column: JSONColumn, at path: String, _ db: borrowing Connection
  ) throws -> String {
    func elements(of list: String, areBack: String) throws -> [RestoredList.Element] {
      try db.all(
        generated: """
          SELECT json_quote(\(element(of: list))), \(areBack)
          FROM (SELECT ?1, ?2, ?3) CROSS JOIN json_each(\(list), \(memberPath(path, in: list))) AS x
          """, column.texts
      ) { RestoredList.Element(text: $0.text(0), isBack: $0.integer(1) != 0) }
    }
    let isBack = """
      \(isMissingElement(but: "?3", path)) AND \(isMissingElement(but: "?1", path))
      AND \(destination.hasRow(withKey: destination.asKey("x.value")))
      """
    let list = RestoredList(now: try elements(of: "?1", areBack: "0").map(\.text))
      .inserting(try elements(of: "?2", areBack: isBack))
    return try db.all(
      generated: "SELECT json_set(?1, \(memberPath(path, in: "?1")), json(?2))",
      [.text(column.now), .text(list)]
    ) { $0.text(0) }.first ?? column.now
  }

  private func isMissing(but new: String, _ path: String) -> String {
    """
    \(isMissingElement(but: new, path))
    AND NOT \(destination.hasRow(withKey: destination.asKey("x.value")))
    """
  }

  /// A condition: the element of one list is not in the other.
  private func isMissingElement(but new: String, _ path: String) -> String {
    let isElement = isReference(element: "x")
    let left = "\(elements(of: new, at: path)) WHERE \(isElement)"
    return """
      \(isElement) AND x.value NOT IN (SELECT x.value FROM (SELECT 1) \(left))
      """
  }
}
