package import CascadeModel
package import CascadeSQLite
internal import CascadeStore
package import SQLiteBinding
package import SQLiteTables

/// Numbers for the nodes that a transaction's changes name and that are in no table of Cascade's:
/// rows of the application, and files (`temp.known`).
///
/// 1. A node that a stored edge names has the id of its row in `cascade_node`.
/// 2. A node is `present` as long as its row is in the table, whether this transaction deletes it
///    or not.
/// 3. A node that is named and does not exist is in `temp.dead` until it is put.
package struct RowLocation {
  /// As the table stores it.
  package let key: Value
  let row: Value
}

extension Writer {
  /// The table of a mapped collection; nil for a managed one.
  package func table(of collection: String) throws -> NodeTable? {
    guard facts.hasTables, case .mapped = model.collections[collection] else { return nil }
    if let table = binding.collections[collection] { return table }
    throw cannotBeWritten(collection, binding.problem(of: collection)?.message ?? "it has no table")
  }

  func cannotBeWritten(_ collection: String, _ why: String) -> Rejection {
    Rejection(.invalid, "\"\(collection)\" cannot be written: \(why)")
  }

  /// The values to bind for the columns of the key.
  package func keyValues(_ node: Node, _ table: NodeTable) throws -> [Value] {
    if let misfit = model.keyProblem(node) { throw Rejection(.invalid, misfit, node: node) }
    return table.columnValues(node.key)!
  }

  /// Nil if no row has the key.
  package func locate(_ keys: [Value], in table: NodeTable) throws -> RowLocation? {
    try locate(where: table.isKeyed("s"), keys, in: table)
  }

  /// Where a row `s` is for which a condition holds.
  package func locate(
    where condition: String, _ values: [Value] = [], in table: NodeTable
  ) throws -> RowLocation? {
    try db.all(
      generated: """
        SELECT \(table.key("s")), \(table.row("s")) FROM \(table.rows) AS s WHERE \(condition)
        """, values
    ) { RowLocation(key: $0.value(0), row: $0.value(1)) }.first
  }

  package func number(_ place: RowLocation, in collection: Int64, present: Bool = true) throws
    -> Int64
  {
    let id = try db.integer(
      """
      INSERT INTO temp.known(id, collection, key, row, present)
      SELECT (SELECT id FROM cascade_node WHERE collection = ?1 AND key = ?2), ?1, ?2, ?3, ?4
      WHERE true
      ON CONFLICT(collection, key) WHERE id > 0 DO UPDATE SET row = excluded.row, present = excluded.present
      RETURNING id
      """, .integer(collection), place.key, place.row, .integer(present ? 1 : 0))!
    try assignIdToDead(place, in: collection, as: id)
    return id
  }

  func numberAbsent(_ key: Value, in table: NodeTable) throws -> Int64 {
    let place = RowLocation(key: try firstSpelling(of: key, in: table), row: .null)
    let id = try number(place, in: table.id, present: false)
    let before = current.deadCount
    try markDead(id)
    if current.deadCount > before {
      try db.run("INSERT OR IGNORE INTO temp.named_missing_rows VALUES(?)", .integer(id))
    }
    return id
  }

  /// Removes absent nodes that no edge names any more. An absent node counts as deleted only while
  /// an edge of this transaction names it. References that dangled before are left to a sweep,
  /// which may have to ask.
  package func dropUnusedAbsentNodes() throws {
    for relation in binding.edgeRelations where !relation.alternatives.isEmpty {
      try dropEdgesToAbsentNodes(relation)
    }
    try db.run(
      """
      DELETE FROM temp.named_missing_rows WHERE id NOT IN (SELECT id FROM temp.dead)
      OR id IN (SELECT source FROM temp.new_edges UNION SELECT destination FROM temp.new_edges)
      OR id IN (SELECT source FROM temp.lost_edges UNION SELECT destination FROM temp.lost_edges)
      OR EXISTS (SELECT 1 FROM cascade_edge AS e WHERE e.source = named_missing_rows.id)
      OR EXISTS (SELECT 1 FROM cascade_edge AS e WHERE e.destination = named_missing_rows.id)
      """)
    try db.run("DELETE FROM temp.dead WHERE id IN (SELECT id FROM temp.named_missing_rows)")
    current.deadCount -= db.changes
    if db.changes == 0 { return }
    try db.run("DELETE FROM cascade_node WHERE id IN (SELECT id FROM temp.named_missing_rows)")
  }

  /// A reference to one of several tables is an edge to those that have its key. If none has, it is
  /// one of the relation that stands for nothing.
  private func dropEdgesToAbsentNodes(_ relation: EdgeRelation) throws {
    let (source, destination) = (relation.source, relation.destination)
    try db.run(
      generated: """
        DELETE FROM temp.new_edges AS e WHERE name = \(relation.nameId)
        AND EXISTS (SELECT 1 FROM temp.named_missing_rows AS n CROSS JOIN temp.known AS k ON k.id = n.id
          WHERE n.id = e.destination AND k.collection = \(destination.id))
        AND EXISTS (SELECT 1 FROM temp.known AS m
          CROSS JOIN \(source.rows) AS s ON \(source.isRow("s", of: "m"))
          WHERE m.id = e.source AND m.collection = \(source.id)
          AND NOT (\(relation.leadsNowhereElse) AND \(relation.standsForNothing)))
        """)
  }

  /// An absent node keeps the spelling of the key that it was first given, however it is spelled
  /// now.
  private func firstSpelling(of key: Value, in table: NodeTable) throws -> Value {
    guard case .mapped(_, _, let collations) = table.kind, collations.count == 1,
      collations[0] != "BINARY"
    else { return key }
    let spellings = try db.all(
      generated: """
        SELECT key FROM temp.known
        WHERE id > 0 AND collection = ?1 AND NOT present
        AND key COLLATE \(quoted(collations[0])) = ?2 LIMIT 1
        """, [.integer(table.id), key]
    ) { $0.value(0) }
    return spellings.first ?? key
  }

  package func isInsertedSinceFlush(_ id: Int64) throws -> Bool {
    try db.integer("SELECT 1 FROM temp.new_rows WHERE id = ?", .integer(id)) != nil
  }

  // MARK: - Ends of stored edges

  /// The id of the node's row in `cascade_node`, which its stored edges name. Inserted if need be.
  package func end(_ node: Node, in table: NodeTable) throws -> Int64 {
    let keys = try keyValues(node, table)
    let place = try locate(keys, in: table)
    let key = try place?.key ?? firstSpelling(of: table.stored(node.key)!, in: table)
    let stored = try identity(key, in: table.id) ?? insertIdentity(key, in: table.id)
    try renumber(key, in: table.id, as: stored)
    guard let place else { return try numberAbsent(key, in: table) }
    return try number(place, in: table.id)
  }

  /// Nil if no stored edge ever named it.
  package func find(_ node: Node, in table: NodeTable) throws -> Int64? {
    let place = try locate(keyValues(node, table), in: table)
    let key = try place?.key ?? firstSpelling(of: table.stored(node.key)!, in: table)
    return try identity(key, in: table.id)
  }

  private func identity(_ key: Value, in collection: Int64) throws -> Int64? {
    try db.integer(
      "SELECT id FROM cascade_node WHERE collection = ? AND key = ?", .integer(collection), key)
  }

  private func insertIdentity(_ key: Value, in collection: Int64) throws -> Int64 {
    let id = newId()
    if binding.unlinked.contains(collection) { attachment.needsTriggers = true }
    try db.run(
      "INSERT INTO cascade_node(id, collection, key) VALUES(?, ?, ?)", .integer(id),
      .integer(collection), key)
    return id
  }

  /// Replaces a number that was valid only during the transaction by one that stays.
  func renumber(_ key: Value, in collection: Int64, as new: Int64) throws {
    let old = try db.integer(
      "SELECT id FROM temp.known WHERE id > 0 AND collection = ? AND key = ?",
      .integer(collection), key)
    guard let old, old != new else { return }
    let change: (Value, Value) = (.integer(new), .integer(old))
    try db.run("UPDATE temp.known SET id = ? WHERE id = ?", change.0, change.1)
    // The old number is not given again: the trash may hold nodes that an earlier flush deleted by
    // it.
    try db.run(
      "INSERT INTO temp.known(id, collection, key, present) VALUES(?1, 0, ?1, 0)", change.1)
    try db.run("UPDATE temp.dead SET id = ? WHERE id = ?", change.0, change.1)
    try db.run("UPDATE temp.named_missing_rows SET id = ? WHERE id = ?", change.0, change.1)
    try db.run("UPDATE temp.new_rows SET id = ? WHERE id = ?", change.0, change.1)
    try db.run(
      "UPDATE temp.own_deletion_exceptions SET id = ? WHERE id = ?", change.0, change.1)
    try db.run("UPDATE OR REPLACE temp.touched SET id = ? WHERE id = ?", change.0, change.1)
    try db.run("UPDATE temp.new_edges SET source = ? WHERE source = ?", change.0, change.1)
    try db.run(
      "UPDATE temp.new_edges SET destination = ? WHERE destination = ?", change.0, change.1)
    try db.run("UPDATE temp.lost_edges SET source = ? WHERE source = ?", change.0, change.1)
    try db.run(
      "UPDATE temp.lost_edges SET destination = ? WHERE destination = ?", change.0, change.1)
  }

  /// Returns whether there is such a row. If a later change names the row, it gets a number of its
  /// own. Not used where the application has triggers: before the flush, a trigger may put another
  /// row in the place of a deleted one.
  package func markDeadUnnamed(_ keys: [Value], in table: NodeTable) throws -> Bool {
    guard !binding.hasTriggers, let mark = markOfUnnamedDead(in: table) else { return false }
    try db.run(generated: mark, keys)
    countUnnamedDead(in: table)
    return db.changes > 0
  }

  package func markAllDead(of table: NodeTable, _ numbers: NumberedTables) throws {
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.dead SELECT \(table.number("s", numbers))
        FROM \(table.rows) AS s WHERE \(table.isNode("s", numbers))
        """)
    countUnnamedDead(in: table)
  }

  /// Looks up again where the rows are that changes deleted: a trigger may have moved or deleted
  /// some.
  package func refreshDeletedRows() throws {
    if !binding.hasTriggers || current.sweep.isSweep { return }
    let dead = try db.all(
      """
      SELECT DISTINCT k.collection FROM temp.dead AS d CROSS JOIN temp.known AS k ON k.id = d.id
      WHERE d.id > 0
      """
    ) { $0.integer(0) }
    for table in binding.collections.values where dead.contains(table.id) {
      let rows = "FROM \(table.rows) AS s WHERE \(table.hasKey("s", "known.key"))"
      try db.run(
        generated: """
          UPDATE temp.known
          SET row = (SELECT \(table.row("s")) \(rows)), present = EXISTS (SELECT 1 \(rows))
          WHERE id IN (SELECT id FROM temp.dead WHERE id > 0) AND collection = \(table.id) AND present
          """)
    }
  }

  private func countUnnamedDead(in table: NodeTable) {
    if db.changes == 0 { return }
    current.unnamedDead[table.id] = markOfUnnamedDead(in: table).map { (table, $0) }
    current.deadCount += db.changes
  }

  /// A statement that marks the row whose key is bound as dead, if no record names it; nil if rows
  /// of the table have no such numbers.
  private func markOfUnnamedDead(in table: NodeTable) -> String? {
    if let dead = current.unnamedDead[table.id] { return dead.mark }
    guard let base = table.numberBase else { return nil }
    let isNamed = "collection = \(table.id) AND key = +\(table.key("s"))"
    return """
      INSERT OR IGNORE INTO temp.dead SELECT \(base) + \(table.row("s"))
      FROM \(table.rows) AS s WHERE \(table.isKeyed("s")) AND \(table.isInRange("s"))
      AND NOT EXISTS (SELECT 1 FROM temp.known WHERE id > 0 AND \(isNamed))
      AND NOT EXISTS (SELECT 1 FROM main.cascade_node WHERE \(isNamed))
      """
  }

  /// Gives a dead row that was not named the id by which something names it now.
  func assignIdToDead(_ place: RowLocation, in collection: Int64, as id: Int64) throws {
    guard let dead = current.unnamedDead[collection], case .integer(let row) = place.row,
      let number = dead.table.number(ofRow: row)
    else { return }
    try db.run("UPDATE temp.dead SET id = ? WHERE id = ?", .integer(id), .integer(number))
  }

  /// Forgets the unnamed dead rows of a table whose rows all have names now.
  package func clearUnnamedDead(of table: NodeTable) throws {
    if current.unnamedDead[table.id] == nil { return }
    try db.run(generated: "DELETE FROM temp.dead WHERE \(table.hasRow("id"))")
    current.deadCount -= db.changes
    current.unnamedDead[table.id] = nil
  }

  /// If a table has got a row that cannot have such a number, no row of it has one any more.
  package func nameDeadOutOfRange() throws {
    let byRow = current.numbers.byRowid
    let tables = current.unnamedDead.values.map(\.table).filter { !byRow.contains($0.id) }
    if tables.isEmpty { return }
    for table in tables { try nameDead(in: table) }
    current.numbers = try db.numbers(binding)
  }

  /// Names all dead rows: a row that may be put again is kept only once in the trash, as it was
  /// before.
  package func nameAllDead() throws {
    for dead in current.unnamedDead.values { try nameDead(in: dead.table) }
  }

  private func nameDead(in table: NodeTable) throws {
    let places = try db.all(
      generated: """
        SELECT \(table.key("s")), \(table.row("s"))
        FROM temp.dead AS d CROSS JOIN \(table.row("s", of: "d.id", .byRowid))
        """
    ) { RowLocation(key: $0.value(0), row: $0.value(1)) }
    for place in places { _ = try number(place, in: table.id) }
    current.unnamedDead[table.id] = nil
  }
}
