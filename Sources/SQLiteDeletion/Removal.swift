internal import CascadeModel
package import CascadeSQLite
internal import CascadeStore
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules

/// Deletes the rows of D from the application's tables, and removes the references to them.
extension Writer {
  /// Removes the references to deleted nodes: sets them to null where a rule says so. A join row is
  /// its edge, and goes with either end. Where the join table is a collection too, its rows are in
  /// D already.
  func removeReferences(_ slice: Slice, _ ends: NodeCounts) throws {
    for relation in binding.edgeRelations
    where relation.mayLoseEdges(ends) && !current.keepsReferencesUntilGone(relation, binding) {
      if let (table, ends) = binding.joinRowsWithoutNodes(of: relation) {
        if current.sweep.followedRules != .all { try journalLostJoins(of: relation, slice) }
        if current.sweep.isStepped && !current.step.isUndisturbed {
          try journalUnplanned(relation, slice)
        }
        let leavesLater = slice.high != .max
        let numbers = current.numbers
        let rows = { (slice: Slice) in
          ends.flatMap {
            table.joinRows(
              of: relation, $0.end, other: $0.other, slice, numbers, leavesLater: leavesLater)
          }
        }
        try attemptOrRefuse(slice, "a row of \"\(table.name)\" cannot be deleted", rows: rows) {
          slice in
          for rows in rows(slice) {
            current.counts.edgesRemoved += try db.deleteJoins(of: table, in: rows)
            try refuseIfReferencesRemain(rows, of: table)
          }
        }
      } else if !relation.isInJoinTable
        && relation.rules.contains(.nullifySourceIfDestinationDeleted)
      {
        try nullify(relation, slice, ends.forms(of: relation.destination))
      }
    }
  }

  private func nullify(_ relation: EdgeRelation, _ slice: Slice, _ forms: [NumberForm]) throws {
    guard let table = relation.source.table else { return }
    let what = "\"\(relation.name)\" of \"\(relation.source.collection)\" cannot be set to null"
    let mayRefuse = binding.hasTriggers || !table.allowsNull(relation.nulledNames)
    let numbers = current.numbers
    let losing = { relation.losingRows(of: table, forms, in: $0, numbers) }
    try attemptOrRefuse(slice, what, .missingMandatory, rows: losing) { slice in
      // The savepoint takes back the trash entries of rows that stay after all.
      current.counts.edgesRemoved +=
        mayRefuse
        ? try db.savepoint { try nullify(relation, of: table, slice, losing(slice)) }
        : try nullify(relation, of: table, slice, losing(slice))
    }
  }

  private func nullify(
    _ relation: EdgeRelation, of table: Table, _ slice: Slice, _ losing: [Query]
  ) throws -> Int {
    if model.trash > .zero { try trashReferences(of: relation, losing, slice) }
    let mark = try journalMark
    let count = try losing.reduce(0) {
      try $0 + db.nullify(relation, of: table, in: $1, slice, current.numbers)
    }
    for rows in losing { try refuseIfReferencesRemain(rows, of: table) }
    try unjournalOwnNulls(of: relation, slice, behind: mark)
    return count
  }

  /// Deletes children before their parents, because of foreign keys that restrict.
  func deleteRows(_ slice: Slice, _ ends: NodeCounts) throws {
    let refusing = try violationsOfRefusingTables(slice)
    for table in binding.childrenFirst where !current.step.emptied.contains(table.id) {
      let forms = ends.forms(of: table)
      if forms.isEmpty { continue }
      try attemptOrRefuse(
        slice, "the application's own rules refuse",
        rows: { slice in
          forms.map { "SELECT 1 FROM \(table.rows) AS o WHERE \(table.isGone("o", $0, slice))" }
        }
      ) { slice in
        if !current.journalsDeletions || !binding.hasConsequences(table, current.numbers) {
          try db.deleteGoneRows(of: table, forms, slice)
        } else if attachment.areTriggersOff {
          try journalGoneRows(of: table, forms, slice)
          try db.deleteGoneRows(of: table, forms, slice)
        } else {
          try journaled { try db.deleteGoneRows(of: table, forms, slice) }
        }
      }
      if binding.hasTriggers { try refuseKeptRows(table, slice) }
    }
    if try db.hasDeferredViolations || haveNewViolations(refusing) { throw ForeignKeyRefusal() }
  }

  /// Turns triggers off where the tables have only our own. A large deletion is faster when SQLite
  /// need not evaluate them for each row.
  package func withoutTriggers(_ body: () throws -> Void) rethrows {
    if binding.hasTriggers { return try body() }
    db.setTriggers(false)
    attachment.areTriggersOff = true
    defer {
      attachment.areTriggersOff = false
      db.setTriggers(true)
    }
    try body()
  }

  /// Journals what our triggers would write.
  private func journalGoneRows(
    of table: NodeTable, _ forms: [NumberForm], _ slice: Slice
  ) throws {
    let triggers = WatchTriggers(watches: attachment.activeWatches, binding: binding, model: model)
    for watched in triggers.subjects(of: table) {
      for watch in watched.watches {
        for condition in forms.map({ table.isGone("o", $0, slice) }) {
          let rows = "FROM \(table.rows) AS o WHERE \(condition.text)"
          try db.run(generated: watched.insert(watch, from: rows), condition.values)
        }
      }
    }
  }

  /// Journals the edges that a step removes with one of their ends: the other end may still have to
  /// follow.
  func journal(_ edges: LosingEdges) throws {
    let rules = "e.rules & \(Rules.deleting(losing: edges.end).rawValue)"
    try db.run(
      """
      INSERT INTO main.cascade_journal(what, key, a, b, c, d)
      SELECT 0, \(edges.end.removal), e.source, e.name, e.destination, \(rules)
      FROM \(edges.edgesClause) WHERE \(edges.condition) AND \(rules)
      """)
  }
}

extension Connection {
  /// Returns how many rows were deleted.
  func deleteJoins(of table: Table, in rows: Query) throws(SQLiteError) -> Int {
    try run(
      """
      DELETE FROM main.\(quoted(table.name)) AS r WHERE \(table.identity("r")) IN (
        \(rows))
      """)
    return changes
  }

  func nullify(
    _ relation: EdgeRelation, of table: Table, in rows: Query, _ slice: Slice,
    _ numbers: NumberedTables
  ) throws(SQLiteError) -> Int {
    let assignments = relation.nulledColumns("r", slice, numbers)
      .map { "\(quoted($0.column)) = \($0.value)" as Query }
    try run(
      """
      UPDATE OR ABORT main.\(quoted(table.name)) AS r SET \(assignments.joined(separator: ", "))
      WHERE \(table.identity("r")) IN (
        \(rows))
      """)
    return changes
  }

  fileprivate func deleteGoneRows(
    of end: NodeTable, _ forms: [NumberForm], _ slice: Slice
  ) throws(SQLiteError) {
    for form in forms {
      try run("DELETE FROM \(end.rows) AS r WHERE \(end.isGone("r", form, slice))")
    }
  }
}

extension NodeTable {
  /// Whether the row `r` of the application goes in this slice.
  fileprivate func isGone(_ r: String, _ form: NumberForm, _ slice: Slice) -> Query {
    switch form {
    case .byRowid:
      return """
        \(row(r)) IN (
          SELECT \(rowid(of: "g.id")) FROM temp.gone AS g
          WHERE \(slice.contains()) AND \(hasRow("g.id")))
        """
    case .byKey:
      let hasRowid = table?.rowid != nil
      let columns = hasRowid ? "k.row" : keyParts("k.key").joined(separator: ", ")
      return """
        (\(hasRowid ? row(r) : keyColumns(r).joined(separator: ", "))) IN (
          SELECT \(columns) FROM temp.gone AS g CROSS JOIN temp.known AS k
            ON k.id = g.id AND k.collection = \(id)
          WHERE k.present AND g.id > 0 AND \(slice.contains()))
        """
    }
  }
}

extension EdgeRelation {
  /// Whether rows that stay may lose an edge of this relation with these nodes.
  fileprivate func mayLoseEdges(_ ends: NodeCounts) -> Bool {
    ends.has(destination) || isInJoinTable && ends.has(source)
  }

  func nulledColumns(
    _ r: String, _ slice: Slice, _ numbers: NumberedTables
  ) -> [(column: String, value: Query)] {
    switch form {
    case .column(let columns): columns.map { ($0, Query(emptyValue(of: $0))) }
    case .typed(let columns, let typeColumn, _):
      columns.map { ($0, Query(emptyValue(of: $0))) }
        + [(typeColumn, emptyType(r, columns, typeColumn))]
    case .json(let column, let path):
      [
        (
          column,
          listWithoutGone(
            "\(r).\(quoted(column))", path,
            without: destination.isGoingReference(reference, numbers, where: slice.contains()))
        )
      ]
    case .join, .foreignKey: []
    }
  }

  /// A type that may not be NULL stays: without a reference beside it, it has no meaning.
  private func emptyType(_ r: String, _ columns: [String], _ typeColumn: String) -> Query {
    let mustStay =
      columns.contains { emptyValue(of: $0) != "NULL" }
      && source.table?.column(typeColumn)?.isRequired == true
    return mustStay ? "\(r).\(quoted(typeColumn))" : "NULL"
  }

  /// The list without the elements that go, or null in place of a single value. An element that
  /// went before is kept: the node may exist again, or wait for the next plan.
  package func listWithoutGone(_ list: String, _ path: String, without condition: Query) -> Query {
    let path = memberPath(path, in: list)
    return """
      iif(json_type(\(list), \(path)) = 'array',
        json_set(\(list), \(path), json((
          SELECT json_group_array(\(element(of: list)))
          FROM json_each(\(list), \(path)) AS x
          WHERE NOT (\(isReference(element: "x"))
            AND \(condition))))),
        json_set(\(list), \(path), NULL))
      """
  }

  /// The element `x`, as it stands in the list.
  package func element(of list: String) -> String {
    """
    CASE WHEN x.type IN ('true', 'false') THEN json(x.type)
      WHEN x.type IN ('object', 'array') THEN json(x.value)
      WHEN typeof(x.value) = 'real' THEN json(\(list) -> x.fullkey) ELSE x.value END
    """
  }
}
