internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion

/// Changes of the application's rows. A deleted row stays in its table until the flush
/// has judged its edges.
extension Writer {
  func put(
    _ node: Node, in table: NodeTable, type: String?, value: JSONText?, edges: [DeclaredEdge]?,
    merge: Bool
  ) throws -> Int64 {
    let row = try columns(value, of: node, in: table)
    if type != nil { throw row.makeRejection("a row of a table has no \"type\"") }
    let keys = try keyValues(node, table)
    var id: Int64
    if let place = try locate(keys, in: table) {
      let given = try merge ? row.given.filter { !row.isKey($0.column) } : replacement(row)
      id = try updateRow(
        row, setting: try different(given, of: row, in: table), at: place, in: table)
      try revive(id)
    } else {
      id = try insert(row, in: table)
    }
    if let edges { id = try declare(edges, of: node, id, in: table) }
    if try mayHoldBack, let place = try locate(keys, in: table) {
      try endWait(ofPut: place.key, in: table.id)
    }
    try touch(id)
    return id
  }

  func patch(
    _ node: Node, in table: NodeTable, set: [Member], unset: [String], as removal: Removal
  ) throws -> Int64 {
    let row = try columns(set: set, unset: unset, of: node, in: table)
    guard let place = try locate(keyValues(node, table), in: table),
      try !isDead(number(place, in: table.id))
    else { throw Rejection(.invalid, "\(node) cannot be patched: it does not exist", node: node) }
    let id = try updateRow(row, setting: row.given, at: place, in: table, as: removal)
    try touch(id)
    return id
  }

  private func insert(_ row: RowValues, in table: NodeTable) throws -> Int64 {
    let mark = try journalMark
    try run(row.insertion, row.given.map(\.value), for: row, table)
    let place = try rowAfterWrite(row, in: table)
    try renameAbsentSpellings(place, as: table.stored(row.node.key)!, in: table)
    return try noteInsertion(of: place, in: table, behind: mark)
  }

  func noteInsertion(
    of place: RowLocation, in table: NodeTable, behind mark: Int64
  ) throws -> Int64 {
    let id = try number(place, in: table.id)
    try db.run("INSERT OR IGNORE INTO temp.new_rows VALUES(?)", .integer(id))
    try revive(id)
    try forgetLost(ofBorn: id)
    try recordChange([], becoming: rowEdges(of: id, in: table))
    try unjournalOwnChange(of: id, in: table, behind: mark)
    return id
  }

  private func updateRow(
    _ row: RowValues, setting given: [RowValues.Given], at place: RowLocation, in table: NodeTable,
    as removal: Removal = .sourceDeleted
  ) throws -> Int64 {
    let id = try number(place, in: table.id)
    if given.isEmpty { return id }
    let edges = try rowEdges(of: id, in: table)
    let keys = try keyValues(row.node, table)
    let mark = try journalMark
    try run(row.update(setting: given, in: table), given.map(\.value) + keys, for: row, table)
    _ = try number(rowAfterWrite(row, in: table), in: table.id)
    try recordChange(edges, becoming: rowEdges(of: id, in: table), as: removal)
    try unjournalOwnChange(of: id, in: table, behind: mark)
    return id
  }

  /// Looks the row up again: its rowid may have changed.
  private func rowAfterWrite(_ row: RowValues, in table: NodeTable) throws -> RowLocation {
    if let place = try locate(keyValues(row.node, table), in: table) { return place }
    throw row.makeRejection("a trigger of \"\(row.table.name)\" deleted the row")
  }

  /// The columns that a put sets. A put describes the whole row, so a column that it does not give
  /// gets its default. The node's key stays, and so does the primary key, by which others know the
  /// row.
  private func replacement(_ row: RowValues) throws -> [RowValues.Given] {
    let primary = row.table.primaryKey.map(\.folded)
    var given: [RowValues.Given] = []
    for column in row.table.columns where !column.isGenerated && !row.isKey(column) {
      let isKept = primary.contains(column.name.folded)
      if let value = row.value(of: column) {
        given.append(value)
      } else if !isKept {
        given.append(RowValues.Given(column: column, value: try defaultValue(column)))
      }
    }
    return given
  }

  /// Renames records of the node that have another spelling of its key, from before the row
  /// existed.
  private func renameAbsentSpellings(_ place: RowLocation, as spelled: Value, in table: NodeTable)
    throws
  {
    guard case .mapped(_, _, let collations) = table.kind else { return }
    let collation = collations.count == 1 ? collations[0] : "BINARY"
    if place.key == spelled && collation == "BINARY" { return }
    let absent = """
      SELECT key FROM temp.known WHERE id > 0 AND collection = ?1 AND NOT present AND key <> ?2
      """
    let others = try db.all(
      generated: """
        \(absent) AND key = ?3 UNION \(absent) AND key COLLATE \(quoted(collation)) = ?2
        """, [.integer(table.id), place.key, spelled]
    ) { $0.value(0) }
    for key in others {
      let names: (Value, Value, Value) = (place.key, .integer(table.id), key)
      try db.run(
        "UPDATE OR IGNORE temp.known SET key = ? WHERE id > 0 AND collection = ? AND key = ?",
        names.0, names.1, names.2)
      try db.run(
        "UPDATE OR IGNORE cascade_node SET key = ? WHERE collection = ? AND key = ?", names.0,
        names.1, names.2)
    }
  }

  /// Declared edges are stored, so the node needs an id that outlives the transaction.
  private func declare(
    _ edges: [DeclaredEdge], of node: Node, _ id: Int64, in table: NodeTable
  ) throws -> Int64 {
    if try edges.isEmpty && find(node, in: table) == nil { return id }
    let id = try end(node, in: table)
    try declare(edges, of: node, id, insteadOf: declaredEdges(of: id))
    try deleteTrashedList(of: id)
    return id
  }

  // MARK: - Deletions

  func delete(_ node: Node, in table: NodeTable) throws {
    let keys = try keyValues(node, table)
    if try markDeadUnnamed(keys, in: table) { return }
    guard let place = try locate(keys, in: table) else { return current.counts.passedOver += 1 }
    let id = try number(place, in: table.id)
    if try isDead(id) { return current.counts.passedOver += 1 }
    let isParent = binding.parents.contains(table.id)
    if try isInsertedSinceFlush(id) && !isParent {
      return try deleteInsertedRow(node, id, in: table)
    }
    try markDead(id)
  }

  /// Deletes a row that was inserted since the last flush, in a table to which no foreign key
  /// refers. Its edges are in no table any more. They have lost their source all the same, as
  /// stored edges would.
  private func deleteInsertedRow(_ node: Node, _ id: Int64, in table: NodeTable) throws {
    let row = RowValues(node, in: table)
    let edges = try rowEdges(of: id, in: table)
    let mark = try journalMark
    try run(
      "DELETE FROM \(table.rows) AS s WHERE \(table.isKeyed("s"))", keyValues(node, table),
      for: row, table)
    try recordLostSource(of: edges, in: table)
    try unjournalOwnChange(of: id, in: table, behind: mark)
    try db.run("UPDATE temp.known SET row = NULL, present = 0 WHERE id = ?", .integer(id))
    try db.run("DELETE FROM temp.new_rows WHERE id = ?", .integer(id))
    try markDead(id)
  }

  func deleteAll(in table: NodeTable) throws {
    let born = try db.all(
      """
      SELECT k.id, k.key FROM temp.new_rows AS b CROSS JOIN temp.known AS k ON k.id = b.id
      WHERE k.collection = ?
      """, .integer(table.id)
    ) { ($0.integer(0), Node(table.collection, $0.key(1, in: table.collection, model))) }
    if !binding.parents.contains(table.id) {
      for (id, node) in born { try deleteInsertedRow(node, id, in: table) }
    }
    let numbers = try db.numbers(binding)
    if numbers.byRowid.contains(table.id) && !binding.hasTriggers {
      return try markAllDead(of: table, numbers)
    }
    try numberAll(of: table)
    try clearUnnamedDead(of: table)
    try db.run(
      """
      INSERT OR IGNORE INTO temp.dead
      SELECT id FROM temp.known WHERE id > 0 AND collection = ? AND present
      """, .integer(table.id))
    current.deadCount += db.changes
  }

  private func numberAll(of table: NodeTable) throws {
    try db.run(
      "UPDATE temp.known SET present = 0 WHERE id > 0 AND collection = ? AND present",
      .integer(table.id))
    try db.run(
      generated: """
        INSERT INTO temp.known(id, collection, key, row, present)
        SELECT (SELECT id FROM main.cascade_node
            WHERE collection = \(table.id) AND key = \(table.key("s"))),
          \(table.id), \(table.key("s")), \(table.row("s")), 1
        FROM \(table.rows) AS s WHERE \(table.isNode("s"))
        ON CONFLICT(collection, key) WHERE id > 0 DO UPDATE SET row = excluded.row, present = 1
        """)
  }

  // MARK: - Statements

  /// Rejects the transaction with SQLite's message if SQLite refuses the statement.
  private func run(
    _ sql: String, _ values: [Value], for row: RowValues, _ table: NodeTable
  ) throws {
    do {
      try db.run(generated: sql, values)
    } catch {
      guard error.isAboutTheValue || error.isAboutTheStatement else { throw error }
      throw try constraintRejection(of: row, error, table)
    }
    if db.changes == 0 {
      throw row.makeRejection("a trigger of \"\(row.table.name)\" prevents this")
    }
  }

  /// Checked at the end of the transaction: a row may refer to one that is inserted later.
  func rejectViolatedForeignKeys() throws {
    if !facts.hasTables || !db.hasDeferredViolations { return }
    throw Rejection(
      .invalid, "FOREIGN KEY constraint failed: a row refers to a row that does not exist")
  }

  private func constraintRejection(
    of row: RowValues, _ error: SQLiteError, _ table: NodeTable
  ) throws -> any Error {
    if !db.isInTransaction {
      return RejectionWithRollback(rejection: row.makeRejection(error.message))
    }
    if !error.isNotUnique { return row.makeRejection(error.message) }
    let isWaiting = try db.integer(
      generated: """
        SELECT 1 FROM temp.dead AS d LEFT JOIN temp.known AS k ON k.id = d.id
        WHERE k.collection = \(table.id) AND k.present OR \(table.hasRow("d.id")) LIMIT 1
        """)
    if isWaiting == nil { return row.makeRejection(error.message) }
    return row.makeRejection(
      "\(error.message); the rows that this transaction deletes stay until its next flush, "
        + "{\"flush\": true} between the changes removes them earlier")
  }
}

extension RowValues {
  /// A conflict is an error, whatever the table declares: it must not displace other rows.
  fileprivate var insertion: String {
    let columns = given.map { quoted($0.column.name) }.joined(separator: ", ")
    let values = given.enumerated().map { $1.parameter($0 + 1) }.joined(separator: ", ")
    return "INSERT OR ABORT INTO main.\(quoted(table.name))(\(columns)) VALUES(\(values))"
  }

  fileprivate func update(setting given: [Given], in table: NodeTable) -> String {
    let assignments = given.enumerated().map {
      "\(quoted($1.column.name)) = \($1.parameter($0 + 1))"
    }
    return """
      UPDATE OR ABORT \(table.rows) AS s SET \(assignments.joined(separator: ", "))
      WHERE \(table.isKeyed("s", from: given.count + 1))
      """
  }
}
