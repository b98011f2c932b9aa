internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules
internal import SQLiteDeletion

/// References of rows and objects that were not deleted come back if they are still as nulling left
/// them. The latest come first: a row may have lost several, one after the other.
extension Undo {
  mutating func restoreChanges(_ kept: NumberedLayout) throws {
    let found = try Catalog(writer.db).table(kept.layout.subject, in: writer.db)
    let nodes = kept.layout.collection.flatMap(writer.binding.collection)
    guard case .success(let table) = found, nodes?.table.map({ $0.name == table.name }) != false,
      kept.layout.columns.allSatisfy({ name in
        name.map { table.column($0) != nil } ?? (table.rowid != nil)
      })
    else {
      return try forEachPortion(of: kept) { undo, slice, _ in
        let reason = "table \"\(kept.layout.subject)\" was changed"
        try undo.leave(slice, of: kept, because: reason)
      }
    }
    try leaveDeletedLater(kept)
    let sql = try kept.update(of: table, targetExists: leadsSomewhere(kept, table))
    try forEachPortion(of: kept) { undo, slice, _ in
      try undo.restoreChanges(slice, of: kept, table, sql)
    }
  }

  private mutating func restoreChanges(
    _ slice: Slice, of kept: NumberedLayout, _ table: Table, _ sql: String
  ) throws {
    try leaveEnded(slice, of: kept)
    let mayBeWritten = writer.binding.mayBeWrittenByTrigger(table)
    var again: [Int64] = []
    var refused: [(id: Int64, reason: String)] = []
    for id in try ids(of: kept, in: slice) {
      let reason = try writer.refusal {
        try run(sql, id, kept)
        if try writer.db.changes == 0 && restorePart(of: id, kept, table) { return }
        if mayBeWritten && writer.db.changes == 1 { again.append(id) }
        try countOrLeave(id, kept)
      }
      if let reason { refused.append((id, reason)) }
    }
    if again.isEmpty && (refused.isEmpty || !mayBeWritten) {
      for (id, reason) in refused { try leaveInTrash(id, kept, because: reason) }
      return
    }
    // A trigger may have removed the reference again, or refused it.
    try writer.db.executing(triggers: false) { for id in again { try run(sql, id, kept) } }
    for (id, reason) in refused { try restoreWithoutTriggers(id, kept, table, sql, reason) }
  }

  /// A row that was deleted and made anew is another one.
  private mutating func leaveEnded(_ slice: Slice, of kept: NumberedLayout) throws {
    guard let collection = kept.layout.collection else { return }
    let key = TrashLayout.key(keys: "\(kept.layout.keys)")
    let ended = try writer.db.all(
      generated: """
        SELECT t.id FROM main.cascade_trash AS t WHERE \(TrashLayout.isInSlice) AND (
          EXISTS (SELECT 1 FROM main.cascade_ended AS e
            WHERE e.collection = ?5 AND e.key = \(key) AND e.batch > \(origin))
          OR \(key) IN (SELECT j.key FROM main.cascade_journal AS j
            CROSS JOIN main.cascade_watch AS w ON w.what = j.what
            WHERE \(GoneMark.isDeletion("j")) AND w.meaning ->> 'rows' = ?5))
        """, kept.bound(slice) + [.integer(collection)]
    ) { $0.integer(0) }
    for id in ended { try leaveInTrash(id, kept, because: "its row was deleted and made anew") }
  }

  /// The same for one that a later batch deleted. What an undo of that batch has brought back is the very
  /// row again, and not in the trash any more.
  private mutating func leaveDeletedLater(_ kept: NumberedLayout) throws {
    guard let collection = kept.layout.collection else { return }
    let deleted = try writer.db.all(
      generated: """
        SELECT t.id FROM main.cascade_trash AS t WHERE \(TrashLayout.isOfLayout)
        AND \(TrashLayout.key(keys: "\(kept.layout.keys)")) IN (
          SELECT \(TrashLayout.key(keys: "l.keys", of: "d")) FROM main.cascade_trash_layout AS l
          CROSS JOIN main.cascade_trash AS d
            ON d.batch = l.batch AND d.layout = l.layout AND d.part = 0
          WHERE l.collection = ?3 AND l.batch > \(origin) AND l.batch <> ?1 AND l.kind = 'row'
          AND l.remaining > 0)
        """, kept.bound + [.integer(collection)]
    ) { $0.integer(0) }
    for id in deleted { try leaveInTrash(id, kept, because: "its row was deleted since") }
  }

  private func run(_ sql: String, _ id: Int64, _ kept: NumberedLayout) throws {
    try writer.db.run(generated: sql, kept.bound + [.integer(id)])
  }

  private mutating func restoreWithoutTriggers(
    _ id: Int64, _ kept: NumberedLayout, _ table: Table, _ sql: String, _ reason: String
  ) throws {
    let isChecked = try target(table).isChecked
    let refusal = try writer.refusal {
      try writer.db.executing(triggers: false, checks: isChecked) { try run(sql, id, kept) }
    }
    if let refusal { return try leaveInTrash(id, kept, because: refusal) }
    if writer.db.changes == 1 {
      result.remark(
        "references of \"\(table.name)\" came back without the triggers of the application: \(reason)"
      )
    }
    try countOrLeave(id, kept)
  }

  private mutating func countOrLeave(_ id: Int64, _ kept: NumberedLayout) throws {
    if writer.db.changes == 1 { return result.references += 1 }
    try leaveInTrash(
      id, kept, because: "they were changed meanwhile, or their destinations do not exist")
  }

  mutating func restoreValues(_ kept: NumberedLayout) throws {
    try forEachPortion(of: kept) { undo, slice, _ in
      for id in try undo.ids(of: kept, in: slice) { try undo.restoreValue(id, kept) }
    }
  }

  private mutating func restoreValue(_ id: Int64, _ kept: NumberedLayout) throws {
    let values = try writer.db.first(
      """
      SELECT n.id, n.value, t.c1, t.c2 FROM cascade_trash AS t JOIN cascade_node AS n ON n.id = t.c0
      WHERE t.batch = ?1 AND t.layout = ?2 AND t.id = ?3 AND t.part = 0
      """, kept.bound[0], kept.bound[1], .integer(id)
    ) { (object: $0.integer(0), now: $0.text(1), was: $0.text(2), nulled: $0.text(3)) }
    let restored = values.flatMap { $0.now.undoing($0.nulled, $0.was) }
    try writer.db.run(
      "UPDATE cascade_node SET value = ?2 WHERE id = ?1 AND ?2 IS NOT NULL",
      .integer(values?.object), .text(restored))
    try countOrLeave(id, kept)
    if let values, restored != nil {
      try writer.db.run(
        "INSERT OR IGNORE INTO temp.rewritten VALUES(?)", .integer(values.object))
    }
  }

  /// A condition: the reference leads to an existing row, also where it is a foreign key.
  private func leadsSomewhere(_ kept: NumberedLayout, _ table: Table) throws -> String {
    if let isThere = kept.leadsSomewhere(writer.binding.edgeRelations) { return isThere }
    let key = table.foreignKeys.first { $0.columns == kept.changed }
    guard let key, let parent = try writer.db.tables([key.parent]).first else { return "1" }
    let names = key.parentColumns.isEmpty ? parent.primaryKey : key.parentColumns
    let isParent = names.enumerated().map { relation, name in
      let old = "t.c\(kept.layout.keys + relation)"
      // Compared as the foreign key compares: the trash has no column types.
      let isText = parent.column(name)?.affinity == .text
      return "p.\(quoted(name)) = \(isText ? "+CAST(\(old) AS TEXT)" : old)"
    }
    return """
      EXISTS (SELECT 1 FROM main.\(quoted(parent.name)) AS p
        WHERE \(isParent.joined(separator: " AND ")))
      """
  }

  /// Lists the references of restored rows to what the application deleted itself, which is not
  /// ours to bring back.
  mutating func findDangling() throws {
    for kept in layouts where kept.layout.kind == .row && kept.remaining > 0 {
      for relation in writer.binding.examinedRelations where relation.mayDangle(kept) {
        try findDangling(relation, kept)
      }
    }
  }

  private mutating func findDangling(_ relation: EdgeRelation, _ kept: NumberedLayout) throws {
    let rows = relation.missing(kept)
    let room = max(0, UndoResult.mostListed - result.dangling.count)
    result.dangling += try writer.db.all(
      generated: "SELECT \(relation.source.key("s")), \(relation.reference.value) \(rows) LIMIT ?2",
      [.integer(kept.number), .integer(Int64(room))]
    ) { row in
      Edge(
        name: relation.name,
        source: Node(kept.collection, row.key(0, in: kept.collection, writer.model)),
        destination: row.destination(1, in: relation.destination.collection, writer.model),
        rules: relation.rules, origin: .declared, kind: relation.kind)
    }
    result.danglingCount += Int(
      try writer.db.integer(
        generated: "SELECT count(*) \(rows)", [.integer(kept.number)]) ?? 0)
  }
}

extension Undo.NumberedLayout {
  var changed: [String] {
    layout.columns.dropFirst(layout.keys).compactMap { $0 }
  }

  /// The columns of the layout are those of the key and then those that were nulled. The values
  /// that nulling left follow them.
  fileprivate func update(of table: Table, targetExists: String) -> String {
    let sets = changed.enumerated().map { "\(quoted($1)) = t.c\(layout.keys + $0)" }
    let isNulled = changed.enumerated().map {
      "r.\(quoted($1)) IS t.c\(layout.columns.count + $0)"
    }
    return update(
      of: table, sets.joined(separator: ", "),
      where: (isNulled + [targetExists]).joined(separator: " AND "))
  }

  func update(of table: Table, _ sets: String, where condition: String) -> String {
    """
    UPDATE OR ABORT main.\(quoted(table.name)) AS r SET \(sets)
    FROM main.cascade_trash AS t
    WHERE \(TrashLayout.isOfLayout) AND t.id = ?3 AND \(isRow(of: table)) AND \(condition)
    """
  }

  func isRow(of table: Table) -> String {
    let keys = layout.columns.prefix(layout.keys).map { $0.map(quoted) ?? table.rowid ?? "" }
    return keys.enumerated().map { "r.\($1) IS t.c\($0)" }.joined(separator: " AND ")
  }

  /// A condition: the reference leads to an existing node. A list counts as a whole, with all that
  /// was taken out of it.
  fileprivate func leadsSomewhere(_ relations: [EdgeRelation]) -> String? {
    let old = "t.c\(layout.keys)"
    let lists = lists(relations).map { relation in
      "NOT EXISTS (SELECT 1 FROM \(relation.missing(from: old, but: "t.c\(layout.columns.count)")))"
    }
    if !lists.isEmpty { return "(\(lists.joined(separator: " AND ")))" }
    let ways = relations.compactMap { relation -> String? in
      if relation.source.table?.name != layout.subject { return nil }
      let columns = relation.referringColumns
      if columns.isEmpty { return nil }
      let parts = columns.indices.map { "t.c\(layout.keys + $0)" }
      let isThere = relation.destination.hasRow(asKeyOf: Reference(values: parts))
      guard case .column(_, let type) = relation.form, relation.columnsWithType == changed
      else { return nil }
      guard let type else { return isThere }
      return "(t.c\(layout.keys + columns.count) = \(literal(type.word)) AND \(isThere))"
    }
    return ways.isEmpty ? nil : "(\(ways.joined(separator: " OR ")))"
  }
}

extension String {
  /// The text of an object with the nulled members as they were; nil if one of them was written
  /// since.
  fileprivate func undoing(_ nulled: String, _ was: String) -> String? {
    if self == nulled { return was }
    guard var members = JSONText(valid: self).members(),
      let nulled = JSONText(valid: nulled).members(), let was = JSONText(valid: was).members()
    else { return nil }
    for (new, old) in zip(nulled, was) where new.value != old.value {
      guard let index = members.firstIndex(where: { $0.isNamed(new.name) }),
        let value = members[index].value.undoing(new.value, old.value)
      else { return nil }
      members[index] = Member(name: old.name, value: value)
    }
    return JSONText(object: members).text
  }
}

extension JSONText {
  /// A member as it was. A list that was changed since gets back what was taken out of it.
  fileprivate func undoing(_ nulled: JSONText, _ was: JSONText) -> JSONText? {
    if self == nulled { return was }
    guard let now = elements()?.map(\.text), let nulled = nulled.elements()?.map(\.text),
      let was = was.elements()?.map(\.text)
    else { return nil }
    let there = Set((nulled + now).map { Array($0.utf8) })
    let old = was.map {
      RestoredList.Element(text: $0, isBack: !there.contains(Array($0.utf8)))
    }
    if !old.contains(where: \.isBack) { return nil }
    return JSONText(valid: RestoredList(now: now).inserting(old))
  }
}

extension EdgeRelation {
  /// Whether rows of this layout hold references in this relation, and a sweep would act on those
  /// that lead to nothing.
  fileprivate func mayDangle(_ kept: Undo.NumberedLayout) -> Bool {
    if case .join = form { return false }
    return reactsToMissingDestination && mayStandForNothing && source.collection == kept.collection
      && source.table?.name == kept.layout.subject
  }

  /// A query: the references of restored rows that lead to nothing.
  fileprivate func missing(_ kept: Undo.NumberedLayout) -> String {
    """
    FROM temp.restored AS r CROSS JOIN \(source.rows) AS s ON \(source.hasKey("s", "r.key"))
    \(references)
    WHERE r.layout = ?1 AND \(isEdge) AND NOT \(destination.hasRow(withKey: reference))
    AND \(leadsNowhereElse) AND \(standsForNothing)
    """
  }
}
