internal import Model
internal import SQLite

/// Rows that the application's own rules keep: a trigger, a foreign key, a CHECK.
struct Refused: Error {
  let nodes: [Int64]
  let reasons: [Reason]
}

/// Takes what goes out of the application's tables, and the references to it with it.
extension Writer {
  /// References to what goes: nulled where a rule says so. A join row is its edge, and goes with
  /// either end; where the join table is a collection too, its rows are in D already.
  func letGo() throws {
    for place in binding.places {
      if case .join(let table, let source, let destination) = place.form {
        if binding.collection(in: table) != nil { continue }
        try db.deleteJoins(table, source, to: place.source)
        try db.deleteJoins(table, destination, to: place.destination)
      } else if place.rules.contains(.nullifySourceIfDestinationDeleted) {
        try nullify(place)
      }
    }
  }

  private func nullify(_ place: Place) throws {
    if model.trash > .zero { try keepReferences(of: place, .all) }
    do {
      try db.nullify(place)
    } catch {
      if !error.isAboutTheValue { throw error }
      throw Rejection(
        .missingMandatory,
        "\"\(place.name)\" of \"\(place.source.collection)\" cannot be set to null: \(error.message)"
      )
    }
  }

  /// Children before their parents, for the sake of foreign keys that restrict.
  func deleteRows() throws {
    for table in binding.childrenFirst {
      do {
        try db.deleteGoneRows(of: table)
      } catch {
        throw error.isAboutTheValue ? try refused(table, error) : error
      }
    }
    if db.hasDeferredViolations {
      throw Rejection(.invalid, "FOREIGN KEY constraint failed: something else still refers to it")
    }
  }

  /// One by one, to know which they are. Whoever catches this rolls back what was deleted.
  private func refused(_ table: NodeTable, _ error: SQLiteError) throws -> any Error {
    var nodes: [Int64] = []
    var reasons: [Reason] = []
    for (id, node) in try db.goneRows(of: table, model) {
      guard let error = try objection(to: id, table) else { continue }
      nodes.append(id)
      reasons.append(
        Reason(
          .denied,
          "\(node) must stay: the application's own rules refuse (\(error.message))", node: node))
    }
    if nodes.isEmpty { return error }
    return current.isSweep ? Refused(nodes: nodes, reasons: reasons) : Rejection(reasons)
  }

  private func objection(to id: Int64, _ table: NodeTable) throws -> SQLiteError? {
    do {
      try db.deleteGoneRows(of: table, only: id)
      return nil
    } catch {
      if error.isAboutTheValue { return error }
      throw error
    }
  }
}

extension Connection {
  fileprivate func deleteJoins(
    _ table: Table, _ column: String, to end: NodeTable
  ) throws(SQLiteError) {
    try run(
      generated: """
        DELETE FROM main.\(quoted(table.name)) AS r WHERE \(table.identity("r")) IN (
          SELECT \(table.identityColumns("j"))
          FROM temp.gone AS g CROSS JOIN \(end.nodes) AS m
            ON m.id = g.id AND m.collection = \(end.id)
          CROSS JOIN main.\(quoted(table.name)) AS j
            ON \(end.isReferred("m", by: "j.\(quoted(column))")))
        """)
  }

  fileprivate func nullify(_ place: Place) throws(SQLiteError) {
    guard let table = place.source.table else { return }
    try run(
      generated: """
        UPDATE main.\(quoted(table.name)) AS r SET \(place.nulled("r"))
        WHERE \(table.identity("r")) IN (
          SELECT \(table.identityColumns("s"))
          \(place.ofDestinations(in: .gone)) AND \(place.source.stays("s")))
        """)
  }

  fileprivate func deleteGoneRows(
    of end: NodeTable, only id: Int64? = nil
  ) throws(SQLiteError) {
    guard let table = end.table else { return }
    let columns = table.rowid == nil ? end.keyParts("k.key").joined(separator: ", ") : "k.row"
    let identity =
      table.rowid == nil ? "(\(end.keyColumns("r").joined(separator: ", ")))" : table.identity("r")
    try run(
      generated: """
        DELETE FROM main.\(quoted(table.name)) AS r WHERE \(identity) IN (
          SELECT \(columns) FROM temp.gone AS g CROSS JOIN temp.known AS k
            ON k.id = g.id AND k.collection = \(end.id)
          WHERE k.present AND (?1 IS NULL OR k.id = ?1))
        """, [.integer(id)])
  }

  fileprivate func goneRows(
    of end: NodeTable, _ model: StoreModel
  ) throws(SQLiteError) -> [(Int64, Node)] {
    try all(
      """
      SELECT k.id, k.key FROM temp.gone AS g CROSS JOIN temp.known AS k
        ON k.id = g.id AND k.collection = ?
      WHERE k.present
      """, .integer(end.id)
    ) { ($0.integer(0), Node(end.collection, $0.key(1, in: end.collection, model))) }
  }
}

extension Place {
  /// What the row `r` is set to when its destination goes.
  fileprivate func nulled(_ r: String) -> String {
    nulledColumns(r).map { "\(quoted($0.column)) = \($0.value)" }.joined(separator: ", ")
  }

  func nulledColumns(_ r: String) -> [(column: String, value: String)] {
    switch form {
    case .column(let column): [(column, "NULL")]
    case .typed(let column, let typeColumn, _): [(column, "NULL"), (typeColumn, "NULL")]
    case .json(let column, let path): [(column, nulledList(r, quoted(column), literal(path)))]
    case .join: []
    }
  }

  /// A list without what goes, and null in the place of a single value.
  private func nulledList(_ r: String, _ column: String, _ path: String) -> String {
    """
    iif(json_type(\(r).\(column), \(path)) = 'array',
      json_set(\(r).\(column), \(path), json((
        SELECT json_group_array(CASE x.type
          WHEN 'true' THEN json('true') WHEN 'false' THEN json('false')
          WHEN 'object' THEN json(x.value) WHEN 'array' THEN json(x.value) ELSE x.value END)
        FROM json_each(\(r).\(column), \(path)) AS x
        WHERE NOT (x.type IN ('text', 'integer') AND EXISTS (
          SELECT 1 FROM \(destination.nodes) AS m JOIN temp.gone AS g ON g.id = m.id
          WHERE m.collection = \(destination.id) AND m.key = \(reference)))))),
      json_set(\(r).\(column), \(path), NULL))
    """
  }
}
