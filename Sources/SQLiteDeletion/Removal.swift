internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
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
      if let (table, _) = binding.joinRowsWithoutNodes(of: relation) {
        if current.sweep.followedRules != .all { try journalLostJoins(of: relation, slice) }
        if current.sweep.isStepped && !current.step.isUndisturbed {
          try journalUnplanned(relation, slice)
        }
        let (binding, numbers) = (binding, current.numbers)
        let rows = { (part: Slice) in
          binding.goingJoinRows(of: relation, part, numbers, leavesLater: slice.high != .max)?.rows
            ?? []
        }
        try attemptOrRefuse(slice, "a row of \"\(table.name)\" cannot be deleted", rows: rows) {
          part in
          for rows in rows(part) {
            current.counts.edgesRemoved += try deleteJoins(of: table, in: rows)
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

  /// Deletes children before their parents, because of foreign keys that restrict.
  func deleteRows(_ slice: Slice, _ ends: NodeCounts) throws {
    let refusing = try violationsOfRefusingTables(slice)
    for table in binding.childrenFirst where !current.step.emptied.contains(table.id) {
      let forms = ends.forms(of: table)
      if forms.isEmpty { continue }
      try journalEndOfLosses(
        of: table,
        in: forms.map { "FROM \(table.rows) AS o WHERE \(table.isGone("o", $0, slice))" })
      try attemptOrRefuse(
        slice, "the application's own rules refuse",
        rows: { slice in
          forms.map { "SELECT 1 FROM \(table.rows) AS o WHERE \(table.isGone("o", $0, slice))" }
        }
      ) { slice in
        let isJournaled =
          current.journalsDeletions && binding.hasConsequences(table, current.numbers)
        if isJournaled && attachment.areTriggersOff { try journalGoneRows(of: table, forms, slice) }
        func delete() throws {
          for form in forms {
            try db.run("DELETE FROM \(table.rows) AS r WHERE \(table.isGone("r", form, slice))")
          }
        }
        try isJournaled && !attachment.areTriggersOff ? journaled(delete) : delete()
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
    let triggers = WatchTriggers(watches: attachment.activeWatches, binding: binding)
    for watched in triggers.subjects(of: table) {
      for watch in watched.watches {
        for condition in forms.map({ table.isGone("o", $0, slice) }) {
          let rows = "FROM \(table.rows) AS o WHERE \(condition.text)"
          try db.run(generated: watched.insert(watch, from: rows), condition.values)
        }
      }
    }
  }

  /// Returns how many rows were deleted.
  func deleteJoins(of table: Table, in rows: Query) throws -> Int {
    try db.run(
      """
      DELETE FROM main.\(quoted(table.name)) AS r WHERE \(table.identity("r")) IN (
        \(rows))
      """)
    return db.changes
  }

  /// Journals the edges that a step removes with one of their ends: the other end may still have to
  /// follow.
  func journal(_ edges: LosingEdges) throws {
    let rules = "e.rules & \(Rules.deleting(losing: edges.end).rawValue)"
    try db.run(
      """
      INSERT INTO main.cascade_journal(what, key, a, b, c, d)
      SELECT 0, \(edges.end.removal), e.source, e.name, e.destination, \(rules)
      FROM \(edges.rows) AND \(rules)
      """)
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
}
